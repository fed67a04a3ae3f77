"""What columns of numbers and times are used as: counters of rows, codes, and cycles of times."""

import re

import numpy as np

from holdfast.io.columns import CYCLES, MOST_WAVES, Time
from holdfast.io.dates import CLOCK, DIGITS, EPOCHS, ISO, NAMES

_UNNAMED = re.compile(r"|unnamed: ?\d+(\.\d+)?|__index_level_\d+__", re.IGNORECASE)
_LEAST = 20  # rows: in fewer, numbers that rise may be rising by chance
_VALUES = (3, 64)  # so many different values a code has
_EACH = 5  # rows for each value, on average: with fewer, nothing is known of a value
_BETTER = 0.9  # a category must leave at most this share of the squared error that a number leaves
_HOURS = 3_600.0
_WORDS = {
    ISO: "a date or time",
    NAMES: "a date in words",
    CLOCK: "a time of the day",
    DIGITS: "a date in eight digits",
    "dmy": "a date, day/month/year",
    "mdy": "a date, month/day/year",
    "ymd": "a date, year/month/day",
} | {form: f"a time in {form} since 1970" for form in EPOCHS}
_CYCLE_WORDS = {"day": "hour of the day", "week": "day of the week", "year": "season"}


def is_unnamed(name: str) -> bool:
    """Whether a column has no name, or the one that pandas gives to such a column and to its index.

    >>> [is_unnamed(name) for name in ("", "Unnamed: 0", "__index_level_0__", "id")]
    [True, True, True, False]
    """
    return _UNNAMED.fullmatch(name) is not None


def counts_rows(values: np.ndarray) -> bool:
    """Whether a column only counts: it rises by the same step, or its whole numbers are all different, and
    rise in every row, fall in every row, or fill at least half of their range, as an index that was shuffled.

    >>> counts_rows(np.arange(30)), counts_rows(np.arange(30) ** 2.5), counts_rows(np.arange(30) % 7)
    (True, False, False)
    """
    if len(values) < _LEAST or not np.isfinite(values).all():
        return False
    steps = np.diff(values)
    first = float(steps[0])
    if first != 0.0 and np.allclose(steps, first, rtol=1e-6, atol=0.0):
        return True
    if not (values == np.round(values)).all():
        return False
    if (steps > 0.0).all() or (steps < 0.0).all():
        return True
    return len(np.unique(values)) == len(values) >= 0.5 * (values.max() - values.min() + 1.0)


def is_code(values: np.ndarray) -> bool:
    """Whether a column could be a code: it has few values, all whole numbers."""
    known = values[np.isfinite(values)]
    few, most = _VALUES
    if len(known) < few * _EACH or not (known == np.round(known)).all():
        return False
    return few <= len(np.unique(known)) <= min(most, len(known) / _EACH)


def predicts_better_as_category(values: np.ndarray, targets: np.ndarray) -> bool:
    """Whether a mean of the target for each value predicts it better than a straight line.

    Both are fitted on every second row, and judged on the others. `targets` has a column for each label, or
    the ranks of numbers, so that outliers count little.
    """
    known = np.isfinite(values) & np.isfinite(targets).all(axis=1)
    x, y = values[known], targets[known]
    if not is_code(x):
        return False
    _, codes = np.unique(x, return_inverse=True)
    lines, means, count = 0.0, 0.0, codes.max() + 1
    for begin in (0, 1):
        fitted, judged = slice(begin, None, 2), slice(1 - begin, None, 2)
        a = np.column_stack([np.ones(len(x)), x - x.mean()])
        weights = np.linalg.lstsq(a[fitted], y[fitted], rcond=None)[0]
        lines += float(((a[judged] @ weights - y[judged]) ** 2).sum())
        # A value that is rare is pulled towards the mean of all, as by one more row.
        total = np.array([np.bincount(codes[fitted], each, count) for each in y[fitted].T]).T
        rows = np.bincount(codes[fitted], minlength=count)[:, None]
        mean = (total + y[fitted].mean(axis=0)) / (rows + 1.0)
        means += float(((mean[codes[judged]] - y[judged]) ** 2).sum())
    return means < _BETTER * lines


def as_ranks(y: np.ndarray) -> np.ndarray:
    """Numbers as their ranks from 0 to 1, in one column; NaN stays."""
    ranks = np.full(len(y), np.nan)
    known = np.flatnonzero(np.isfinite(y))
    _, codes = np.unique(y[known], return_inverse=True)
    ranks[known] = codes / max(codes.max(initial=0), 1)
    return ranks[:, None]


# -- times


def with_cycles(column: Time, seconds: np.ndarray, is_wanted: bool) -> Time | None:
    """The column with the cycles that its first rows can teach; None if there is none.

    A cycle is used if the rows go through all of it at least once. It has as many waves as the smallest step
    between two times can show, at most three. If the user says that the column is a time, it has at least
    the day and the week.
    """
    if column.form == CLOCK:
        return column._replace(day=MOST_WAVES, week=0, year=0)
    times = np.unique(seconds[np.isfinite(seconds)])
    waves = dict.fromkeys(CYCLES, 0)
    if len(times) > 1:
        step = float(np.diff(times).min())
        covered = float(times[-1] - times[0]) + step
        waves = {
            cycle: min(MOST_WAVES, int((period / step - 1.0) // 2.0)) if covered >= period else 0
            for cycle, period in CYCLES.items()
        }
    if not any(waves.values()):
        return column._replace(day=MOST_WAVES, week=MOST_WAVES, year=0) if is_wanted else None
    day, week, year = (max(waves[cycle], 0) for cycle in CYCLES)
    return column._replace(day=day, week=week, year=year)


def time_words(form: str) -> str:
    return _WORDS[form]


def cycle_words(column: Time) -> str:
    """The cycles of a column.

    >>> cycle_words(Time("when"))
    'hour of the day and day of the week'
    """
    used = [words for cycle, words in _CYCLE_WORDS.items() if getattr(column, cycle)]
    return f"{', '.join(used[:-1])} and {used[-1]}" if len(used) > 1 else used[0]


def covered_words(seconds: np.ndarray) -> str:
    times = seconds[np.isfinite(seconds)]
    hours = float(times.max() - times.min()) / _HOURS if len(times) else 0.0
    return f"{hours:,.0f} hours" if hours < 48.0 else f"{hours / 24.0:,.0f} days"
