"""Dates and times in the usual forms: ISO, 3/12/2016, 12 Mar 2016, 08:15, 20161203, seconds since 1970."""

import datetime
import math
import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells

ORDERS = ("dmy", "mdy", "ymd")
EPOCHS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}  # since 1970
ISO, NAMES, CLOCK, DIGITS = "iso", "names", "clock", "yyyymmdd"
FORMS = (ISO, *ORDERS, NAMES, CLOCK, DIGITS, *EPOCHS)
_READABLE = 0.9  # share of the cells that a form must read, as for every other kind of column
_FIRST, _LAST = 631_152_000.0, 4_102_444_800.0  # 1990 and 2100: a number outside is no time since 1970
_YEAR_1, _YEAR_10000 = -62_135_596_800.0, 253_402_300_800.0
_NAMED = re.compile(r"(^|[^a-z])(time|times|date|datetime|timestamp|epoch|ts|when|at)([^a-z]|$)|time$|date$")
_CLOCK = r"(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
_AFTER = rf"(?:(?:[ T,]+){_CLOCK})?"
_NUMBERS = re.compile(rf"(?P<a>\d{{1,4}})(?P<mark>[/.-])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{1,4}}){_AFTER}")
_WORDS = (
    re.compile(rf"(?P<d>\d{{1,2}})[ -](?P<m>[A-Za-z]{{3,9}})\.?,?[ -](?P<y>\d{{4}}|\d{{2}}){_AFTER}"),
    re.compile(rf"(?P<m>[A-Za-z]{{3,9}})\.? (?P<d>\d{{1,2}}),? (?P<y>\d{{4}}){_AFTER}"),
)
_CLOCK_ONLY, _EIGHT = re.compile(_CLOCK), re.compile(r"(\d{4})(\d{2})(\d{2})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EVEN = 0.5  # steps half as uneven as in the other order leave no doubt
_CENTURY = 69  # years below it are 20.., others 19.., as POSIX says


def seconds(array: cells.Array, form: str) -> cells.Parsed:
    """Cells as seconds since 1970, NaN where missing; and the positions of cells that are not times.

    Of a column that has times as its type, the form does not matter.
    """
    if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type) or form == ISO:
        return cells.times(array) if not _is_number(array) else cells.times(cells.labels(array))
    if form in EPOCHS:
        values, wrong = cells.numbers(array)
        return values / EPOCHS[form], wrong
    return cells.parse_each(array if cells.is_text(array) else cells.labels(array), reader(form))


def texts(times: np.ndarray) -> list[str | None]:
    """Seconds since 1970 as `2016-03-12 04:00:00`, None for NaN and beyond the years 1 to 9999."""
    known = (times >= _YEAR_1) & (times < _YEAR_10000)
    written = np.datetime_as_string(np.where(known, times, 0.0).astype("datetime64[s]")).tolist()
    return [text.replace("T", " ") if is_one else None for text, is_one in zip(written, known, strict=True)]


def reader(form: str) -> Callable[[str], float | None]:
    """What reads a text of this form as seconds, NaN if it means a missing value, None if it is no time."""
    if form in ORDERS:
        read: Callable[[str], float | None] = partial(_of_numbers, [form.index(letter) for letter in "ymd"])
    else:
        read = {NAMES: _in_words, CLOCK: _on_a_clock, DIGITS: _of_digits}[form]
    return lambda text: math.nan if text.strip() in cells.NO_NUMBER else read(text.strip())


def time_form(name: str, array: cells.Array, wanted: str = "auto") -> tuple[str, str] | None:
    """The form of a column of times, and a note if it could be read in another way; None if it has none.

    `wanted` is the order of day, month and year, if the user says it.
    """
    known = pc.drop_null(array)
    if _is_number(array):
        return _form_of_numbers(name, cells.numbers(known)[0])
    if not cells.is_text(array):
        return (ISO, "") if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type) else None
    texts = [text for text in known.to_pylist() if text.strip() not in cells.NO_NUMBER]
    values, wrong = cells.numbers(known)
    if len(wrong) <= (1.0 - _READABLE) * len(known):
        return _form_of_numbers(name, values)
    for form in (NAMES, CLOCK):
        if _share(texts, form) >= _READABLE:
            return form, ""
    if len(cells.times(known)[1]) <= (1.0 - _READABLE) * len(known):
        return ISO, ""
    shares = {order: _share(texts, order) for order in ORDERS}
    best = max(shares.values(), default=0.0)
    if best < _READABLE:
        return None
    if wanted in ORDERS:
        return wanted, ""
    likely = [order for order in ORDERS if shares[order] == best]
    return (likely[0], "") if len(likely) == 1 else _by_order(texts, likely)


def _form_of_numbers(name: str, values: np.ndarray) -> tuple[str, str] | None:
    """The form of numbers that are times: eight digits that are a date, or a time since 1970.

    Such a time must be between 1990 and 2100, and the numbers rise or fall, or the name says that it is one.
    """
    values = values[np.isfinite(values)]
    if len(values) < 2 or not values.min() < values.max():
        return None
    whole = bool((values == np.round(values)).all())
    if whole and values.min() >= 19_000_101 and values.max() <= 21_001_231:
        read = reader(DIGITS)
        if all(read(f"{value:.0f}") is not None for value in np.unique(values)):
            return DIGITS, ""
    steps = np.diff(values)
    if not ((steps >= 0.0).all() or (steps <= 0.0).all() or _NAMED.search(name.lower())):
        return None
    for form, unit in EPOCHS.items():
        if _FIRST * unit <= values.min() and values.max() <= _LAST * unit:
            return form, ""
    return None


def _by_order(texts: Sequence[str], likely: Sequence[str]) -> tuple[str, str]:
    """Of the orders that read all dates: the one in which they rise, in the most even steps.

    If they rise in none, 3.12.2016 has the day first, and 3/12/2016 the month.
    """
    uneven = {}  # standard deviation of the steps over their mean
    for order in likely:
        steps = np.diff([reader(order)(text) or 0.0 for text in texts])
        if (steps >= 0.0).all() and steps.any():
            uneven[order] = float(steps.std() / steps.mean())
    chosen = sorted(uneven, key=uneven.__getitem__)
    if len(chosen) == 1 or (len(chosen) > 1 and uneven[chosen[0]] < _EVEN * uneven[chosen[1]]):
        return chosen[0], ""
    by_mark = "dmy" if "." in texts[0].partition(" ")[0] and "dmy" in likely else likely[-1]
    order = chosen[0] if chosen else by_mark
    others = " or ".join(each for each in likely if each != order)
    return order, f"the order could also be {others}: say it with --dates"


def _share(texts: Sequence[str], form: str) -> float:
    read = reader(form)
    return sum(read(text) is not None for text in texts) / len(texts) if texts else 0.0


def _is_number(array: cells.Array) -> bool:
    t = pa.types
    return t.is_integer(array.type) or t.is_floating(array.type) or t.is_decimal(array.type)


def _of_numbers(places: Sequence[int], text: str) -> float | None:
    found = _NUMBERS.fullmatch(text)
    if found is None:
        return None
    parts = [found["a"], found["b"], found["c"]]
    year, month, day = (parts[place] for place in places)
    if len(year) not in (2, 4) or max(len(month), len(day)) > 2:
        return None
    return _moment(int(year), len(year), int(month), int(day), found)


def _in_words(text: str) -> float | None:
    found = next(filter(None, (pattern.fullmatch(text) for pattern in _WORDS)), None)
    if found is None or found["m"][:3].lower() not in _MONTHS:
        return None
    month = 1 + _MONTHS.index(found["m"][:3].lower())
    return _moment(int(found["y"]), len(found["y"]), month, int(found["d"]), found)


def _of_digits(text: str) -> float | None:
    found = _EIGHT.fullmatch(text)
    return None if found is None else _moment(int(found[1]), 4, int(found[2]), int(found[3]), None)


def _on_a_clock(text: str) -> float | None:
    found = _CLOCK_ONLY.fullmatch(text)
    return None if found is None else _of_day(found)


def _of_day(found: re.Match[str] | None) -> float | None:
    """The seconds since midnight; None if there is no such time."""
    if found is None or found["h"] is None:
        return 0.0
    hour, half = int(found["h"]), (found["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    minute, second = int(found["min"]), float(found["s"] or 0.0)
    return 3600.0 * hour + 60.0 * minute + second if hour < 24 and minute < 60 and second < 61.0 else None


def _moment(year: int, digits: int, month: int, day: int, found: re.Match[str] | None) -> float | None:
    year += (2000 if year < _CENTURY else 1900) if digits == 2 else 0
    try:
        date = datetime.datetime(year, month, day, tzinfo=datetime.UTC)
    except ValueError:
        return None
    since = _of_day(found)
    return None if since is None else date.timestamp() + since
