"""Each sketch against a sorted list, merging against one pass, and the histogram's stated error and work."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import same

import holdfast as hf
from holdfast._compiled import call

sizes = st.lists(
    st.sampled_from([0.0, 5e-324, 2.2e-308, 1.0, 1.0, 2.0, 1e308, math.nan, math.inf])
    | st.floats(0, 1.7e308),
    max_size=50,
)


def pushed(sketch, values):
    for value in values:
        sketch = sketch.push(float(value))
    return sketch


def measurable(values):
    return sorted(value for value in values if math.isfinite(value))


@given(sizes, st.integers(1, 6))
def test_largest_holds_the_largest(values, k):
    sketch = pushed(hf.sketches.Largest(np.zeros(k)), values)
    assert sorted(sketch.heap) == ([0.0] * k + measurable(values))[-k:]
    assert sketch.smallest() == min(sketch.heap)


@given(sizes, st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_ranks_is_sorting(values, shares):
    sketch, expected = pushed(hf.sketches.Ranks.empty(), values), measurable(values)
    assert sketch.seen() == len(expected)
    for share in shares if expected else ():
        rank = 1 + int(share * (len(expected) - 1))
        sketch, value = sketch.at(rank)
        assert value == expected[rank - 1]


@given(sizes, st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_histogram_is_below_the_exact_order_statistic_by_its_stated_error(values, shares):
    sketch, expected = pushed(hf.sketches.LogHistogram.empty(), values), measurable(values)
    assert sketch.seen() == len(expected)
    for share in shares if expected else ():
        rank = 1 + int(share * (len(expected) - 1))
        sketch, value = sketch.at(rank)
        exact = expected[rank - 1]
        assert value <= exact
        assert exact - value < max(value / 128.0, 2.0**-1022)


@settings(max_examples=30)
@given(sizes, sizes)
def test_merging_two_histograms_is_one_pass_over_both(one, other):
    merged = pushed(hf.sketches.LogHistogram.empty(), one).merge(
        pushed(hf.sketches.LogHistogram.empty(), other)
    )
    whole = pushed(hf.sketches.LogHistogram.empty(), one + other)
    assert same(merged.table[3:], whole.table[3:])  # all but the cursor
    assert merged.seen() == whole.seen()
    for rank in range(1, whole.seen() + 1):
        (merged, a), (whole, b) = merged.at(rank), whole.at(rank)
        assert a == b


@given(sizes, sizes, st.integers(1, 6))
def test_merging_two_lists_of_the_largest_is_one_pass_over_both(one, other, k):
    merged = pushed(hf.sketches.Largest(np.zeros(k)), one).merge(
        pushed(hf.sketches.Largest(np.zeros(k)), other)
    )
    assert sorted(merged.heap) == sorted(pushed(hf.sketches.Largest(np.zeros(k)), one + other).heap)


@given(sizes, sizes)
def test_merging_two_exact_sketches_is_one_pass_over_both(one, other):
    merged, expected = (
        pushed(hf.sketches.Ranks.empty(), one).merge(pushed(hf.sketches.Ranks.empty(), other)),
        measurable(one + other),
    )
    for rank in range(1, len(expected) + 1):
        merged, value = merged.at(rank)
        assert value == expected[rank - 1]


class Counted(np.ndarray):
    """An array that counts how often it is read."""

    reads = 0

    def __getitem__(self, i):
        Counted.reads += 1
        return super().__getitem__(i)


def test_a_round_costs_a_bounded_number_of_steps_against_a_jumping_cursor():
    """Half the sizes are as small as can be and half as large, and the wanted rank flips between them."""
    sketch = hf.sketches.LogHistogram.empty()
    sketch = sketch._replace(table=sketch.table.view(Counted))
    worst = 0
    for t in range(200):
        sketch = sketch.push(1.0 if t % 2 else 1e308)
        sketch = sketch.push(5e-324 if t % 2 else 1.7e308)
        Counted.reads = 0
        sketch, _ = sketch.at(1 if t % 2 else sketch.seen())
        worst = max(worst, Counted.reads)
    assert 2000 < worst <= 2 * (2047 + 128) + 32  # each step reads its count twice: to compare, and to add


def random_walk(sketch, sizes, ranks):
    """Push and ask, in either world."""
    values = np.zeros(len(sizes))
    for i in range(len(sizes)):
        sketch = sketch.push(sizes[i])
        sketch, values[i] = sketch.at(max(1, int(ranks[i] * sketch.seen())))
    return values


@pytest.mark.parametrize("empty", [hf.sketches.Ranks.empty, hf.sketches.LogHistogram.empty])
def test_compiled_sketches_follow_any_rank(empty):
    rng = np.random.default_rng(0)
    values, ranks = 10.0 ** rng.uniform(-200, 200, 3000), rng.uniform(size=3000)
    found = call(random_walk, empty(), values, ranks)
    exact = [np.sort(values[: i + 1])[max(1, int(ranks[i] * (i + 1))) - 1] for i in range(3000)]
    assert (found <= exact).all()
    assert (exact < found * (1 + 1 / 128) + 1e-300).all()


def test_a_negative_zero_is_a_zero():
    _, value = pushed(hf.sketches.LogHistogram.empty(), [-0.0, 1.0]).at(1)
    assert value == 0.0
