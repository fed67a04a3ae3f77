"""Rows of different lengths in one buffer: each is read as it was written, also after others grew."""

import numpy as np

from holdfast.runs.flat_states import FlatStates


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
        buffer, places, lengths = states.unpack(slots, more, False)
        for i, slot in enumerate(slots.tolist()):
            before = known.get(slot, np.array([7.0, 8.0]))
            assert np.array_equal(buffer[places[i] : places[i] + lengths[i]], before)
            known[slot] = np.concatenate([before, rng.random(more[i])])[-60:]
            lengths[i] = len(known[slot])
            buffer[places[i] : places[i] + lengths[i]] = known[slot]
        states.pack(slots, buffer, places, lengths, False)
    assert len(states) == 12
    assert all(np.array_equal(states.row(slot, False), row) for slot, row in known.items())


def test_the_saved_state_has_the_same_rows_without_gaps():
    states = empty()
    buffer, places, _ = states.unpack(np.array([0, 1]), np.array([5, 1]), False)
    for place, row in zip(places, ([1.0, 2.0, 3.0], [4.0]), strict=True):
        buffer[place : place + len(row)] = row
    states.pack(np.array([0, 1]), buffer, places, np.array([3, 1]), False)
    state = states.state(False)
    assert state["tape"].tolist() == [1.0, 2.0, 3.0, 4.0] and state["lengths"].tolist() == [3, 1]
    again = empty()
    again.load(state["tape"], state["lengths"], 2)
    assert [again.row(slot, False).tolist() for slot in range(2)] == [[1.0, 2.0, 3.0], [4.0]]
    buffer, places, _ = again.unpack(np.array([2]), np.array([0]), False)
    assert buffer[places[0] : places[0] + 2].tolist() == [7.0, 8.0]  # the row of a new game
