"""Rows of different lengths in one buffer: each is read as it was written, also after others grew."""

import numpy as np

from holdfast.runs.flat_states import FlatStates


def in_python(function, *args):
    return function(*args)


def empty():
    """No games yet; a new one begins with the row 7, 8, and may grow by a number in each round."""
    states = FlatStates(np.array([7.0, 8.0]))
    states.growth = 1
    return states


def test_rows_that_grow_are_read_as_they_were_written():
    rng, states, known = np.random.default_rng(2), empty(), {}
    for _ in range(200):
        slots = np.unique(rng.integers(0, 12, 4))
        more = rng.integers(0, 20, len(slots))
        reading, writing = states.reserve(slots, more, in_python)
        for slot, start, place, grown in zip(slots.tolist(), reading, writing, more, strict=True):
            before = known.get(slot, np.array([7.0, 8.0]))
            assert np.array_equal(states.buffer[start : start + len(before)], before)
            known[slot] = np.concatenate([before, rng.random(grown)])[-60:]
            states.buffer[place : place + len(known[slot])] = known[slot]
            states.lengths[slot] = len(known[slot])
    assert len(states) == 12
    assert all(np.array_equal(states.row(slot), row) for slot, row in known.items())


def test_the_saved_state_has_the_same_rows_without_gaps():
    states = empty()
    _, writing = states.reserve(np.array([0, 1]), np.array([5, 1]), in_python)
    for slot, place, row in zip((0, 1), writing, ([1.0, 2.0, 3.0], [4.0]), strict=True):
        states.buffer[place : place + len(row)] = row
        states.lengths[slot] = len(row)
    state = states.state(in_python)
    assert state["tape"].tolist() == [1.0, 2.0, 3.0, 4.0] and state["lengths"].tolist() == [3, 1]
    again = empty()
    again.load(state["tape"], state["lengths"], 2)
    assert [again.row(slot).tolist() for slot in range(2)] == [[1.0, 2.0, 3.0], [4.0]]
    reading, _ = again.reserve(np.array([2]), np.array([0]), in_python)
    assert again.buffer[reading[0] : reading[0] + 2].tolist() == [7.0, 8.0]  # the row of a new game
