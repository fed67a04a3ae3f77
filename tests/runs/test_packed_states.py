"""Rows of different lengths, packed in one array: each is read as it was written, also after others grew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runs.packed_states import PackedStates
from holdfast.runs.packing import first_unreadable

FIRST = np.array([7.0, 0.0, 8.5])
ODD = (0.0, -0.0, 1.0, -127.0, 127.0, 128.0, 0.1, 1e300, 5e-324, np.inf, -np.inf, np.nan, 262_143.0, 2.0**53)
numbers = st.one_of(st.sampled_from(ODD), st.floats(), st.integers(-(2**54), 2**54).map(float))


def empty():
    """No games yet; a new one begins with the first row, and may grow by a number in each round."""
    states = PackedStates(FIRST)
    states.growth = 1
    return states


def stored(states, slot, row, compiled=False):
    row = np.array(row)
    states.unpack(np.array([slot]), np.array([len(row)]), compiled)
    states.pack(np.array([slot]), row, np.zeros(1, np.int64), np.array([len(row)]), compiled)


def bits(row):
    return np.asarray(row, float).view(np.int64).tolist()


@given(st.lists(numbers, min_size=1, max_size=80) | st.lists(st.sampled_from(ODD), min_size=1))
def test_a_row_of_any_numbers_has_the_same_bits_after_packing(row):
    states = empty()
    stored(states, 0, row)
    assert bits(states.row(0, False)) == bits(row)
    assert first_unreadable(states.words, states.starts, states.sizes) == -1


def test_compiled_packing_gives_the_same_words():
    rng = np.random.default_rng(0)
    pairs = np.column_stack([np.sort(rng.integers(130_000, 131_000, 60)), np.ones(60)])  # as of a histogram
    row = np.concatenate(
        [ODD, rng.normal(size=50), rng.integers(-300, 300, 50), np.zeros(100), pairs.ravel()]
    )
    rows = [row, *rng.choice(ODD, (100, 40))]
    python, native = empty(), empty()
    for slot, each in enumerate(rows):
        stored(python, slot, each, False)
        stored(native, slot, each, True)
        assert bits(native.row(slot, True)) == bits(native.row(slot, False)) == bits(each)
    assert np.array_equal(*(states.packed(np.arange(101), False)[0] for states in (python, native)))
    assert python.sizes[0] < 0.4 * len(row)


def test_rows_that_grow_are_read_as_they_were_written():
    rng, states, known = np.random.default_rng(2), empty(), {}
    for _ in range(200):
        slots = np.unique(rng.integers(0, 12, 4))
        more = rng.integers(0, 200, len(slots))
        buffer, places, lengths = states.unpack(slots, more, False)
        for i, slot in enumerate(slots.tolist()):
            before = known.get(slot, FIRST)
            assert np.array_equal(buffer[places[i] : places[i] + lengths[i]], before)
            known[slot] = np.concatenate([before, rng.random(more[i])])[-600:]
            lengths[i] = min(lengths[i] + more[i], 600)
            buffer[places[i] : places[i] + lengths[i]] = known[slot]
        states.pack(slots, buffer, places, lengths, False)
    assert len(states) == 12
    assert all(np.array_equal(states.row(slot, False), row) for slot, row in known.items())
    assert len(states.words) < 1.2 * int(states.spaces.sum())  # little is unused


def test_packed_games_can_be_added_to_others_and_some_taken_away():
    states = empty()
    rows = [[1.0, 2.0, 3.0], [4.0], [0.5] * 90]
    for slot, row in enumerate(rows):
        stored(states, slot, row)
    again = empty()
    stored(again, 0, [9.0])
    again.add_packed(*states.packed(np.array([2, 0]), False), False)
    assert [again.row(slot, False).tolist() for slot in range(3)] == [[9.0], rows[2], rows[0]]
    again.take(np.array([0, 2]))
    assert [again.row(slot, False).tolist() for slot in range(3)] == [[9.0], rows[0], FIRST.tolist()]


@pytest.mark.parametrize("compiled", [False, True])
def test_words_that_no_row_packs_to_are_refused(compiled):
    rng, states = np.random.default_rng(5), empty()
    stored(states, 0, rng.normal(size=20).round(1))
    words, sizes = states.packed(np.array([0]), False)
    for _ in range(300):
        changed = words.copy()
        changed[rng.integers(0, 2)] ^= np.int64(1) << rng.integers(0, 64)  # the header
        try:
            again = empty()
            again.add_packed(changed, sizes, compiled)
        except ValueError:
            continue
        again.row(0, compiled)
    for wrong in (np.zeros(3, np.int64), words[:-1], np.full(3, -1)):
        with pytest.raises(ValueError, match=r"words|unpacked"):
            empty().add_packed(wrong, np.array([len(words)]), compiled)
