"""Sketches that forget, against sorting the sizes of the last block and the current one."""

import math
import pickle

import numpy as np
import pytest
from equivalents import remembered
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import same

from holdfast.flatten import check_flat, flat_length, flatten, restore
from holdfast.sketches import Largest, LogHistogram, Ranks, Windowed, WindowedHistogram

sizes = st.lists(
    st.sampled_from([0.0, 5e-324, 1.0, 1.0, 2.0, 1e308, math.nan, math.inf]) | st.floats(0, 1.7e308),
    max_size=60,
)
windows = st.integers(1, 9)


def largest(k, window):
    return Windowed(Largest(np.zeros(k)), Largest(np.zeros(k)), 0, window)


def ranks(window):
    return Windowed(Ranks.empty(), Ranks.empty(), 0, window)


def memory(values, window):
    """The sizes that are remembered after the last of these, sorted."""
    finite = [value for value in values if math.isfinite(value)]
    return sorted(finite[remembered(len(finite) - 1, window) :]) if finite else []


def pushed(sketch, values):
    for value in values:
        sketch = sketch.push(float(value))
    return sketch


@given(sizes, windows, st.integers(1, 5))
def test_the_largest_of_a_window_are_the_largest_of_its_sizes(values, window, k):
    sketch = pushed(largest(k, window), values)
    assert sorted(sketch.memory.heap) == ([0.0] * k + memory(values, window))[-k:]
    assert sketch.smallest() == min(sketch.memory.heap)
    assert sketch.valid()


@given(sizes, windows)
def test_exact_order_statistics_of_a_window_are_those_of_its_sizes(values, window):
    sketch, expected = ranks(window), []
    for i in range(len(values)):
        sketch, expected = sketch.push(values[i]), memory(values[: i + 1], window)
        assert sketch.seen() == len(expected)
        assert sketch.valid()
        if expected:
            rank = 1 + i % len(expected)
            sketch, value = sketch.at(rank)
            assert value == expected[rank - 1]


@given(sizes, windows)
def test_a_histogram_with_a_window_is_a_histogram_of_its_sizes(values, window):
    sketch = WindowedHistogram.empty(window)
    for i in range(len(values)):
        sketch, expected = sketch.push(values[i]), memory(values[: i + 1], window)
        plain = pushed(LogHistogram.empty(), expected)
        assert sketch.seen() == len(expected)
        assert sketch.valid()
        for rank in range(1 + i % 3, len(expected) + 1, 3):
            (sketch, value), (plain, exact) = sketch.at(rank), plain.at(rank)
            assert value == exact


@settings(max_examples=30)
@given(sizes, sizes, windows)
def test_merged_sketches_have_the_sizes_of_both(one, other, window):
    both = sorted(memory(one, window) + memory(other, window))
    exact = pushed(ranks(window), one).merge(pushed(ranks(window), other))
    counts = pushed(WindowedHistogram.empty(window), one).merge(
        pushed(WindowedHistogram.empty(window), other)
    )
    top = pushed(largest(3, window), one).merge(pushed(largest(3, window), other))
    assert sorted(top.memory.heap) == ([0.0] * 3 + both)[-3:]
    assert exact.seen() == counts.seen() == len(both)
    for rank in range(1, len(both) + 1):
        (exact, value), (counts, lower) = exact.at(rank), counts.at(rank)
        assert value == both[rank - 1]
        assert lower <= value and value - lower < max(lower / 128, 2.0**-1022)
    for sketch in (exact, counts, top):  # in the next blocks the window has its length again
        after = pushed(sketch, [1.0] * (3 * window))
        assert after.valid()


@settings(max_examples=30)
@given(sizes, windows)
def test_a_histogram_with_a_window_is_restored_as_it_was(values, window):
    sketch = pushed(WindowedHistogram.empty(window), values)
    sketch = sketch.at(1)[0] if sketch.seen() else sketch
    assert same(pickle.loads(pickle.dumps(sketch)), sketch)
    expected, row = sketch.counts.table.copy(), np.zeros(flat_length(sketch))
    assert flatten(sketch, row, 0) == len(row)
    assert check_flat(sketch, row, 0, len(row)) == len(row)
    back, end = restore(WindowedHistogram.empty(window), row, 0)
    assert end == len(row)
    assert same(back.counts.table, expected)
    assert back.valid()


def test_counts_of_a_block_that_do_not_add_up_are_refused():
    """Two counts of 2^26 - 1 in a block carry, so that their sum is that of one more in the memory."""
    sketch = pushed(WindowedHistogram.empty(10), [1.0, 2.0, 2.0])
    table = sketch.counts.table
    one, two = (np.flatnonzero(table == count)[-1] for count in (2**26 + 1, 2 * (2**26 + 1)))
    assert sketch.valid()
    table[one], table[two] = 2**26 - 1, table[one] + table[two] - (2**26 - 1)
    assert not sketch.valid()


@pytest.mark.parametrize("count", [-1, 4, 100])
def test_a_block_that_is_not_as_long_as_its_count_is_refused(count):
    sketch = pushed(ranks(10), [1.0, 2.0, 2.0])
    assert sketch.valid()
    assert not sketch._replace(in_block=count).valid()


class Counted(np.ndarray):
    """An array that counts how often it is read."""

    reads = 0

    def __getitem__(self, i):
        Counted.reads += 1
        return super().__getitem__(i)


def test_the_end_of_a_block_takes_time_for_the_octaves_in_use_only():
    sketch = pushed(WindowedHistogram.empty(500), 1.5 ** (np.arange(500) % 5.0))
    sketch = sketch.at(400)[0]
    table = sketch.counts.table.view(Counted)
    sketch = sketch._replace(counts=LogHistogram(table))
    Counted.reads = 0
    assert sketch.push(1.0).seen() == 501
    assert Counted.reads < 3 * 128 + 50
