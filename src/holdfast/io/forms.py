"""Numbers as people write them: $5,000 and 1.234,56 € and 12 % and 3 km."""

import functools
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.io import cells

_CODES = "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD"
# A letter after a number is a unit, one before it rather a code (A12): only money may come first.
_CELL = re.compile(
    rf"(?P<sign>[-+\u2212]?)\s*(?P<before>[$€£¥₹₩₽฿]|(?:US|CA|A|R)\$|(?:{_CODES})(?=[\s\d]))?\s*"
    r"(?P<minus>[-+\u2212]?)(?P<core>\d(?:[\d.,' \u00a0\u202f\u2019]*\d)?|[.,]\d+)"
    r"(?P<power>[eE][-+]?\d+)?\s*(?P<after>[^\W\d_][^\s\d]{0,11}|[%‰°€$£¥₹₩₽฿][^\s\d]{0,4})?"
)
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2019": "'"})
_READABLE = 0.9  # share of the cells that a form must read, as for every other kind of column


class Form(NamedTuple):
    """How the numbers of a column are written: the unit, and the marks in them.

    A cell may lack the unit. One with another unit is no number of this column: 500 m is not 500 km.

    >>> Form("€", ",", ".").read("1.234,56 €"), Form("%").read("12 %"), Form("km").read("500 m")
    (1234.56, 12.0, None)
    """

    unit: str = ""
    decimal: str = "."
    thousands: str = ""

    def read(self, text: str) -> float | None:
        """The number, NaN if the text means a missing value; None if it is not a number of this form."""
        text = _with_minus(text)
        value = cells.number(text, self.decimal)
        if value is not None:
            return value
        found = _CELL.fullmatch(text)
        if found is None or _unit(found) not in ("", self.unit):
            return None
        core = found["core"].translate(_SPACES)
        if not _core_of(self.decimal, self.thousands).fullmatch(core):
            return None
        if self.thousands:
            core = core.replace(self.thousands, "")
        number = float(core.replace(self.decimal, ".") + (found["power"] or ""))
        return -number if {found["sign"], found["minus"]} & {"-", "\u2212"} else number

    def words(self) -> str:
        marks = {"": "", ",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}[self.thousands]
        parts = [f"the unit {self.unit}"] if self.unit else []
        parts += [f"{marks} between thousands"] if marks else []
        parts += ["a decimal comma"] if self.decimal == "," else []
        return " and ".join(parts)


_PLAIN = (("", "."), (",", "."), ("", ","), (".", ","), (" ", "."), (" ", ","), ("'", "."))


def form_of(texts: Iterable[str], decimal: str = ".") -> Form | None:
    """The form that reads the most of these cells, if it reads nine tenths; of equals the simplest.

    >>> form_of(["$5,000", "$12,500.50", "$900"])
    Form(unit='$', decimal='.', thousands=',')
    """
    known, units = _known(texts)
    if units is None:
        return None
    unit = units.most_common(1)[0][0] if units else ""
    forms = [Form(unit, mark, thousands) for thousands, mark in _PLAIN]
    forms.sort(key=lambda form: form.decimal != decimal)  # that of the file comes first; the sort is stable
    counts = [sum(form.read(text) is not None for text in known) for form in forms]
    best = max(counts)
    return forms[counts.index(best)] if best >= _READABLE * len(known) else None


def units_in(texts: Iterable[str]) -> list[str]:
    """The units of cells of which nine tenths are numbers, the most frequent first.

    >>> units_in(["3.2 km", "800 m", "1.5 km"])
    ['km', 'm']
    """
    return [unit for unit, _ in (_known(texts)[1] or Counter()).most_common()]


def numbers(array: cells.Array, form: Form | None) -> cells.Parsed:
    """Cells as float64, NaN where missing; and the positions of cells that are not numbers of this form."""
    if form is None or not cells.is_text(array):
        return cells.numbers(array)
    return cells.parse_each(array, form.read)


def read_form(found: object) -> Form | None:
    """The form that JSON has; raises ValueError if it is none."""
    if found is None:
        return None
    if isinstance(found, list) and len(found) == 3 and all(isinstance(text, str) for text in found):
        form = Form(*found)
        if form.decimal in (".", ",") and (form.thousands, form.decimal) in _PLAIN:
            return form
    raise ValueError(f"the form of a number cannot be {str(found)[:40]!r}")


def _known(texts: Iterable[str]) -> tuple[list[str], Counter[str] | None]:
    """The cells that are not missing, and how often each unit is there; None if too few look like numbers."""
    known = [text.strip() for text in texts if text.strip() not in cells.NO_NUMBER]
    found = [each for each in map(_CELL.fullmatch, map(_with_minus, known)) if each is not None]
    if not known or len(found) < _READABLE * len(known):
        return known, None
    return known, Counter(filter(None, map(_unit, found)))


def _with_minus(text: str) -> str:
    """A number in parentheses, as accountants write negative ones, with a minus instead.

    >>> _with_minus("($1,234.50)"), _with_minus(" 7 ")
    ('-$1,234.50', '7')
    """
    text = text.strip()
    return f"-{text[1:-1].strip()}" if text[:1] == "(" and text[-1:] == ")" else text


@functools.cache
def _core_of(decimal: str, thousands: str) -> re.Pattern[str]:
    mark, group = re.escape(decimal), re.escape(thousands)
    whole = rf"\d{{1,3}}(?:{group}\d{{3}})+|\d+" if thousands else r"\d+"
    return re.compile(rf"(?:{whole})(?:{mark}\d+)?|{mark}\d+")


def _unit(found: re.Match[str]) -> str:
    return (found["before"] or "") + (found["after"] or "")
