"""The cycles of times: only those that the first rows go through, and no faster than their steps."""

import numpy as np
import pytest

from holdfast.io.columns import Time
from holdfast.io.guess_numbers import cycle_words, with_cycles

HOUR, DAY = 3_600.0, 86_400.0


def waves(step, count, is_wanted=False, form="iso"):
    found = with_cycles(Time("t", form), step * np.arange(count), is_wanted)
    return None if found is None else (found.day, found.week, found.year)


@pytest.mark.parametrize(
    ("step", "count", "expected"),
    [
        (HOUR, 24, (3, 0, 0)),
        (HOUR, 23, None),
        (HOUR, 24 * 7, (3, 3, 0)),
        (HOUR, 9_000, (3, 3, 3)),
        (DAY, 7, (0, 3, 0)),
        (DAY, 400, (0, 3, 3)),
        (6 * HOUR, 400, (1, 3, 0)),
        (30.4375 * DAY, 24, (0, 0, 3)),
        (1.0, 10_000, None),
    ],
)
def test_a_cycle_is_used_if_the_rows_go_through_it_once(step, count, expected):
    assert waves(step, count) == expected


def test_a_column_that_the_user_calls_a_time_has_at_least_day_and_week():
    assert waves(1.0, 5, is_wanted=True) == (3, 3, 0)


def test_a_clock_has_the_day_only():
    assert waves(60.0, 5, form="clock") == (3, 0, 0)
    assert cycle_words(Time("t", day=1, week=0, year=2)) == "hour of the day and season"
