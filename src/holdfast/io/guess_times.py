"""Which cycles of a column of times become features."""

import numpy as np

from holdfast.io.columns import CYCLES, MOST_WAVES, Time
from holdfast.io.dates import CLOCK, DIGITS, EPOCHS, ISO, NAMES

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
    """What a column of times is read as."""
    return _WORDS[form]


def cycle_words(column: Time) -> str:
    """The cycles of a column.

    >>> cycle_words(Time("when"))
    'hour of the day and day of the week'
    """
    used = [words for cycle, words in _CYCLE_WORDS.items() if getattr(column, cycle)]
    return f"{', '.join(used[:-1])} and {used[-1]}" if len(used) > 1 else used[0]


def covered_words(seconds: np.ndarray) -> str:
    """How long the times last, in words."""
    times = seconds[np.isfinite(seconds)]
    hours = float(times.max() - times.min()) / _HOURS if len(times) else 0.0
    return f"{hours:,.0f} hours" if hours < 48.0 else f"{hours / 24.0:,.0f} days"
