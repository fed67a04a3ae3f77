"""Counters and codes among the columns of numbers."""

import numpy as np
import pytest

from holdfast.io.guess_numbers import as_ranks, counts_rows, is_unnamed, predicts_better_as_category

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (np.arange(100), True),
        (5.0 + 0.25 * np.arange(100), True),
        (np.cumsum(RNG.integers(1, 9, 100)), True),
        (-np.arange(100), True),
        (RNG.permutation(100), True),
        (RNG.choice(125, 100, replace=False), True),  # a part of a shuffled index
        (RNG.integers(0, 50, 100), False),
        (RNG.normal(size=100), False),
        (np.sort(RNG.normal(size=100)), False),
        (np.arange(10), False),  # too few to say
        (np.full(100, 3.0), False),
    ],
)
def test_a_column_that_only_counts_rises_by_a_step_or_is_an_index(values, counts):
    assert counts_rows(np.asarray(values, float)) == counts


def test_a_code_predicts_better_as_a_category_and_a_quantity_does_not():
    code = RNG.choice([211.0, 300.0, 501.0, 804.0], 600)
    effect = {211.0: 10.0, 300.0: 0.0, 501.0: 3.0, 804.0: -5.0}
    y = np.array([effect[each] for each in code]) + RNG.normal(size=600)
    assert predicts_better_as_category(code, as_ranks(y))
    rooms = RNG.integers(1, 8, 600).astype(float)
    assert not predicts_better_as_category(rooms, as_ranks(2.0 * rooms + RNG.normal(size=600)))
    assert not predicts_better_as_category(rooms, as_ranks(RNG.normal(size=600)))


def test_a_wild_target_does_not_make_a_code():
    rooms = RNG.integers(1, 8, 600).astype(float)
    y = 2.0 * rooms + RNG.normal(size=600)
    y[::50] = 1e9
    assert not predicts_better_as_category(rooms, as_ranks(y))


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "unnamed: 0.1", "__index_level_0__"])
def test_names_that_pandas_gives_are_no_names(name):
    assert is_unnamed(name) and not is_unnamed(name + "x")
