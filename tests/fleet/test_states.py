"""Rows of different lengths, packed or not: each is read as it was written, also after others grew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.fleet.states import States, pack, unpack

FIRST = np.array([7.0, 0.0, 8.5])
ODD = (0.0, -0.0, 1.0, -127.0, 127.0, 128.0, 0.1, 1e300, 5e-324, np.inf, -np.inf, np.nan, 262_143.0, 2.0**53)
numbers = st.one_of(st.sampled_from(ODD), st.floats(), st.integers(-(2**54), 2**54).map(float))


def empty(packed=True):
    """No games yet; a new one begins with the first row, and may grow by a number in each round."""
    states = States(FIRST, packed=packed)
    states.growth = 1
    return states


def stored(states, slot, row):
    row = np.array(row)
    states.unpack(np.array([slot]), np.array([len(row)]))
    states.pack(np.array([slot]), row, np.zeros(1, np.int64), np.array([len(row)]))


def bits(row):
    return np.asarray(row, float).view(np.int64).tolist()


@given(st.lists(numbers, min_size=1, max_size=80) | st.lists(st.sampled_from(ODD), min_size=1))
def test_a_row_of_any_numbers_has_the_same_bits_after_packing(row):
    states = empty()
    stored(states, 0, row)
    assert bits(states.row(0)) == bits(row) == bits(unpack(pack(np.array(row))))


def test_a_row_with_zeros_and_buckets_is_packed_into_less_than_half():
    rng = np.random.default_rng(0)
    pairs = np.column_stack([np.sort(rng.integers(130_000, 131_000, 60)), np.ones(60)])  # as of a histogram
    some = (ODD, rng.normal(size=20), rng.integers(-300, 300, 50))
    row = np.concatenate([*some, np.zeros(300), pairs.ravel()])
    assert len(pack(row)) < 0.5 * row.nbytes


@pytest.mark.parametrize("packed", [True, False])
def test_rows_that_grow_are_read_as_they_were_written(packed):
    rng, states, known = np.random.default_rng(2), empty(packed), {}
    for _ in range(200):
        slots = np.unique(rng.integers(0, 12, 4))
        more = rng.integers(0, 200, len(slots))
        buffer, places, lengths = states.unpack(slots, more)
        for i, slot in enumerate(slots.tolist()):
            before = known.get(slot, FIRST)
            assert np.array_equal(buffer[places[i] : places[i] + lengths[i]], before)
            known[slot] = np.concatenate([before, rng.random(more[i])])[-600:]
            lengths[i] = min(lengths[i] + more[i], 600)
            buffer[places[i] : places[i] + lengths[i]] = known[slot]
        states.pack(slots, buffer, places, lengths)
    assert len(states) == 12
    assert all(np.array_equal(states.row(slot), row) for slot, row in known.items())


def test_packed_games_can_be_added_to_others_and_some_taken_away():
    states = empty()
    rows = [[1.0, 2.0, 3.0], [4.0], [0.5] * 90]
    for slot, row in enumerate(rows):
        stored(states, slot, row)
    again = empty()
    stored(again, 0, [9.0])
    again.add([states.rows[slot] for slot in (2, 0)])
    assert [again.row(slot).tolist() for slot in range(3)] == [[9.0], rows[2], rows[0]]
    again.take([0, 2])
    assert [again.row(slot).tolist() for slot in range(3)] == [[9.0], rows[0], FIRST.tolist()]


def test_bytes_that_no_row_packs_to_are_refused_or_give_numbers():
    rng = np.random.default_rng(5)
    packed = pack(rng.normal(size=20).round(1))
    for _ in range(2_000):
        changed = bytearray(packed)
        changed[rng.integers(0, len(changed))] ^= 1 << rng.integers(0, 8)
        try:
            assert unpack(bytes(changed)).dtype == np.float64
        except ValueError as problem:
            assert "cannot be unpacked" in str(problem)
    for wrong in (b"", b"\0" * 12, packed[:-1], packed[:3], b"\xff" * 40):
        with pytest.raises(ValueError, match="cannot be unpacked"):
            unpack(wrong)


@pytest.mark.parametrize("packed", [True, False])
def test_the_saved_state_has_the_same_rows_without_gaps(packed):
    states = empty(packed)
    buffer, places, _ = states.unpack(np.array([0, 1]), np.array([5, 1]))
    for place, row in zip(places, ([1.0, 2.0, 3.0], [4.0]), strict=True):
        buffer[place : place + len(row)] = row
    states.pack(np.array([0, 1]), buffer, places, np.array([3, 1]))
    state = states.state()
    assert state["tape"].tolist() == [1.0, 2.0, 3.0, 4.0] and state["lengths"].tolist() == [3, 1]
    again = empty(packed)
    again.load(state["tape"], state["lengths"], 2)
    assert [again.row(slot).tolist() for slot in range(2)] == [[1.0, 2.0, 3.0], [4.0]]
    buffer, places, _ = again.unpack(np.array([2]), np.array([0]))
    assert buffer[places[0] : places[0] + 3].tolist() == FIRST.tolist()  # the row of a new game
