"""Decisions: glitches and changes from rows that were kept or not, each once."""

import numpy as np
import pytest

from holdfast.levels import Decisions, Events


def events_of(kept, patience=3, first=0, pieces=1):
    """The events of some decisions, given in so many pieces."""
    events, kept = Events(), np.asarray(kept, bool)
    decisions = Decisions(patience, events, first=first)
    for some in np.array_split(np.arange(len(kept)), pieces):
        decisions.add_many(some + 1, kept[some], lambda i: ("", 9.0, 2.0))
    return [(event.kind, event.begin, event.end) for event in events]


def slow_events(kept, patience):
    """The definition, row by row."""
    found, odd, first, last, told = [], 0, 0, 0, False
    for row, good in enumerate(kept, start=1):
        if not good:
            first = row if odd == 0 else first
            odd, last = min(odd + 1, patience), row
            if odd == patience and not told:
                told = True
                found.append(("change", first, row))
        elif odd > 0:
            odd -= 1
            if odd == 0:
                found += [] if told else [("glitch", first, last)]
                told = False
    return found


@pytest.mark.parametrize("seed", range(20))
def test_events_are_those_of_the_definition_however_rows_are_divided(seed):
    rng = np.random.default_rng(seed)
    kept = rng.random(400) > rng.choice([0.02, 0.2, 0.5])
    kept[100:130] &= rng.random() < 0.5
    expected = slow_events(kept, patience=4)
    assert len(expected) > 0
    assert [events_of(kept, 4, pieces=pieces) for pieces in (1, 7, 400)] == [expected] * 3


def test_a_change_is_told_once_until_as_many_rows_were_kept():
    kept = [True] * 5 + [False] * 50 + [True] * 2 + [False] * 5 + [True] * 3 + [False]
    assert events_of([*kept, True]) == [("change", 6, 8), ("glitch", 66, 66)]


def test_nothing_is_told_of_the_first_rows_and_before_one_is_kept():
    assert events_of([False] * 40 + [True, False, True], first=32) == [("glitch", 42, 42)]
    assert events_of([True, False, True] * 11, first=32) == []


def test_an_event_says_what_was_odd():
    events = Events()
    decisions = Decisions(3, events, key="pump", first=0)
    decisions.add_many(np.array([7, 8]), np.array([False, True]), lambda i: ("bar", 9.0, 2.0))
    (event,) = events
    assert (event.key, event.value, event.low, event.high) == ("pump, bar", 9.0, 0.0, 2.0)
    assert str(event) == "glitch of pump, bar in row 7: 9 where 0 to 2 was expected"


def test_patience_is_at_least_two():
    with pytest.raises(ValueError, match="at least 2: got 1"):
        Decisions(1)
