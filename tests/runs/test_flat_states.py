"""Rows of different lengths in one array: each is read as it was written, however they grow and move."""

import numpy as np

from holdfast.runs.flat_states import FlatStates


def plainly(function, *args):
    return function(*args)


def test_rows_that_grow_in_turns_are_read_as_they_were_written():
    rng, tapes, known = np.random.default_rng(2), FlatStates(np.array([7.0, 8.0])), {}
    for _ in range(200):
        slots = np.unique(rng.integers(0, 12, 4))
        more = rng.integers(0, 20, len(slots))
        reading, writing = tapes.make_room(slots, more, plainly)
        for slot, start, place, grown in zip(slots.tolist(), reading, writing, more, strict=True):
            before = known.get(slot, np.array([7.0, 8.0]))
            assert np.array_equal(tapes.tape[start : start + len(before)], before)
            known[slot] = np.concatenate([before, rng.random(grown)])[-60:]
            tapes.tape[place : place + len(known[slot])] = known[slot]
            tapes.lengths[slot] = len(known[slot])
    assert len(tapes) == 12
    assert all(np.array_equal(tapes.row(slot), row) for slot, row in known.items())


def test_what_was_written_down_is_the_same_without_gaps():
    tapes = FlatStates(np.array([7.0, 8.0]))
    _, writing = tapes.make_room(np.array([0, 1]), np.array([5, 1]), plainly)
    for slot, place, row in zip((0, 1), writing, ([1.0, 2.0, 3.0], [4.0]), strict=True):
        tapes.tape[place : place + len(row)] = row
        tapes.lengths[slot] = len(row)
    state = tapes.state(plainly)
    assert state["tape"].tolist() == [1.0, 2.0, 3.0, 4.0] and state["lengths"].tolist() == [3, 1]
    again = FlatStates(np.array([7.0, 8.0]))
    again.load(state["tape"], state["lengths"], 2)
    assert [again.row(slot).tolist() for slot in range(2)] == [[1.0, 2.0, 3.0], [4.0]]
    reading, _ = again.make_room(np.array([2]), np.array([0]), plainly)
    assert again.tape[reading[0] : reading[0] + 2].tolist() == [7.0, 8.0]  # one that has not begun
