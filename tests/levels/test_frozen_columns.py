"""FrozenColumns: long runs of equal cells, found as `Repeats` finds them, whatever the pieces are."""

import numpy as np
import pytest

from holdfast.levels import Events, FrozenColumns
from holdfast.levels.frozen_columns import Repeats


def table(seed, rows=600):
    """Columns that repeat often, seldom and in long runs; some cells are missing."""
    rng = np.random.default_rng(seed)
    often = rng.choice([1.0, 2.0, 3.0], rows)
    X = np.column_stack([often, rng.normal(size=rows), np.repeat(rng.normal(size=rows // 3), 3)])
    for _ in range(6):
        begin, length = rng.integers(30, rows - 80), rng.integers(2, 70)
        X[begin : begin + length, rng.integers(3)] = rng.choice([0.0, 7.0])
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def events_of(X, pieces):
    events = Events()
    frozen = FrozenColumns(["a", "b", "c"], events)
    for some in np.array_split(np.arange(len(X)), pieces):
        frozen.add(some + 1, X[some])
    return [(event.key, event.begin, event.end, event.value) for event in events]


def slow_events(X):
    """The definition: `Repeats`, cell by cell."""
    found, repeats = [], Repeats()
    for j, name in enumerate("abc"):
        state, since, last, told = repeats.begin(), 0, 0, 0
        for row, value in enumerate(X[:, j].tolist(), start=1):
            if value != value:
                continue
            before = state
            state, frozen = repeats.follow(state, value)
            if state.same == 1.0:
                if told:
                    found.append((name, since, last, before.last))
                since, told = row, 0
            elif frozen and not told:
                told = row
                found.append((name, since, 0, value))
            last = row
    return sorted(found)


@pytest.mark.parametrize("seed", range(12))
def test_events_are_those_of_the_rule_however_rows_are_divided(seed):
    X = table(seed)
    expected = slow_events(X)
    for pieces in (1, 5, 60, 600):
        assert sorted(events_of(X, pieces)) == expected, pieces


def test_some_of_these_tables_have_frozen_columns():
    assert sum(len(slow_events(table(seed))) for seed in range(12)) > 12


def test_a_new_column_begins_when_it_has_a_name():
    events = Events()
    frozen = FrozenColumns([], events)
    frozen.name(["a"])
    frozen.add(np.arange(1, 101), np.random.default_rng(0).normal(size=(100, 1)))
    frozen.name(["a", "b"])
    assert frozen.names == ["a", "b"] and list(events) == []


def test_clean_columns_are_not_frozen():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=5_000), rng.integers(0, 2, 5_000), rng.poisson(0.1, 5_000)])
    assert events_of(X, 3) == []
