"""RowEvents: skipped rows of all keys, and frozen columns."""

import numpy as np

from holdfast.levels import Events, RowEvents


def test_each_key_has_events_of_its_own():
    events = Events()
    found = RowEvents([], events, patience=3)
    keys = ["a", "b"] * 20
    kept = np.ones(40, bool)
    kept[[4, 6, 8, 9]] = False  # three rows of a, one of b
    for some in np.array_split(np.arange(40), 4):
        about = lambda i: ("x", 9.0, 2.0)  # noqa: E731
        found.add(kept[some], None, about, some + 1, [keys[i] for i in some])
    told = [(event.kind, event.begin, event.end, event.key) for event in events]
    assert told == [("change", 5, 9, "a, x"), ("glitch", 10, 10, "b, x")]
    assert found._keys == {}  # nothing is open, so nothing is stored


def test_rows_are_counted_from_one():
    events = Events()
    found = RowEvents(["x"], events)
    X = np.random.default_rng(0).normal(size=(200, 1))
    X[150:170] = 1.0
    kept = np.arange(200) != 99
    for some in np.array_split(np.arange(200), 9):
        found.add(kept[some], X[some])
    assert [(event.kind, event.begin, event.end) for event in events] == [
        ("glitch", 100, 100),
        ("frozen", 151, 0),
        ("frozen", 151, 170),
    ]
