"""holdfast.kernels: one expression, and the same bits with NumPy, as a loop and as vector instructions."""

import math

import numpy as np
import pytest

from holdfast._compiled import call, numba_path
from holdfast.kernels import (
    Sparse,
    each_entry,
    most_of_entries,
    place_of_most,
    sum_of_entries,
    where,
)

WILD = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324]


@each_entry("w", "v", reports=True)
def step(w, v, scale: float, shift: float, x):
    far = abs(x * scale) > 1.5
    moved = where(far & (v > 0.0), w - x / (v + 2.0), -w)
    return moved, np.sqrt(v * v + 1.0) + shift, (x == x) | far


@sum_of_entries
def distances(a, x):
    return abs(a - x)


@most_of_entries(2)
def ends(x):
    return x, -x


@most_of_entries(1)
def size(x):
    return abs(x)


@place_of_most
def place(x):
    return where(x != x, -math.inf, x)


def everything(w, v, x, row):
    """All that kernels do with these rows; `row` is x, dense."""
    fine = step(w, v, 0.7, 0.1, x)
    high, low = ends(row, -math.inf)
    return fine, distances(w, x), high, low, size(row, 0.0), place(row)


def same(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)])
    )


def rows(n, dtype, wild, seed=0):
    rng = np.random.default_rng(seed)
    w, v, x = rng.normal(size=(3, n))
    if wild and n:
        x[rng.integers(0, n, n // 4 + 1)] = rng.choice(WILD, n // 4 + 1)
    with np.errstate(all="ignore"):
        return w, v, x.astype(dtype)


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 8, 9, 20, 200])
def test_all_forms_of_dense_rows_give_the_same_bits(n, dtype, wild):
    w, v, x = rows(n, dtype, wild)
    with np.errstate(all="ignore"):
        python = [w.copy(), v.copy(), *everything(w.copy(), v.copy(), x, x)]
        changed = w.copy(), v.copy()
        python[:2] = changed
        python[2:] = everything(*changed, x, x)
    compiled = w.copy(), v.copy()
    found = call(everything, *compiled, x, x)
    assert all(same(a, b) for a, b in zip(python, [*compiled, *found], strict=True))


@pytest.mark.parametrize("places", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_a_sparse_row_only_its_places_are_touched(dtype, places):
    w, v, x = rows(20, dtype, False)
    at = np.array([1, 2, 5, 11, 13, 14, 15, 17, 18], places)
    sparse = Sparse(at, x[: len(at)], 20)
    python, compiled = (w.copy(), v.copy()), (w.copy(), v.copy())
    here = everything(*python, sparse, sparse.values)
    there = call(everything, *compiled, sparse, sparse.values)
    assert same(here, there) and all(map(same, python, compiled))
    others = np.setdiff1d(np.arange(20), at)
    assert same(python[0][others], w[others]) and not same(python[0], w)


@each_entry("row", packed=("row",))
def scaled(factors, row, x):
    return x * factors


def test_a_packed_row_has_one_entry_for_each_value_of_a_sparse_row():
    sparse = Sparse(np.array([4, 1]), np.array([2.0, 3.0]), 5)
    python, compiled, factors = np.zeros(2), np.zeros(2), np.arange(5.0)
    scaled(factors, python, sparse)
    call(lambda *args: scaled(*args), factors, compiled, sparse)
    assert same(python, [8.0, 3.0]) and same(python, compiled)


def test_a_strided_row_gives_the_bits_of_its_copy():
    w, v, x = rows(40, np.float64, False)
    for view in (slice(None, None, 2), slice(19, None, -1)):
        a, b = (w[:20].copy(), v[:20].copy()), (w[:20].copy(), v[:20].copy())
        assert same(call(everything, *a, x[view], x[view]), everything(*b, x[view].copy(), x[view].copy()))
        assert all(map(same, a, b))


@pytest.mark.parametrize("function", [lambda a, b: distances(a, b), lambda a, b: step(a, a, 1.0, 1.0, b)])
def test_rows_of_different_lengths_are_refused(function):
    for world in (function, lambda *args: call(function, *args)):
        with pytest.raises(ValueError, match="the same number of entries"):
            world(np.ones(3), np.ones(2))
        with pytest.raises(ValueError, match="the same number of entries"):
            world(np.ones(3), Sparse(np.zeros(1, int), np.ones(1), 2))


@each_entry("w")
def divide(w, x):
    return where(w == 0.0, 0.0, x / w) + np.sqrt(x - w)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_division_by_zero_is_no_error(sparse):
    w, x = np.array([0.0, 2.0, -0.0, 4.0]), np.array([1.0, 3.0, 0.0, -1.0])
    row = Sparse(np.arange(4), x, 4) if sparse else x
    python, compiled = w.copy(), w.copy()
    with np.errstate(all="ignore"):
        divide(python, row)
    call(lambda w, x: divide(w, x), compiled, row)
    assert same(python, compiled) and same(python, [1.0, 2.5, 0.0, math.nan])


def test_lists_are_read_as_rows():
    assert distances([1.0, 2.0], [3, 5]) == 5.0 and ends([1, -2], -math.inf) == (1.0, 2.0)


def test_where_is_for_numbers_too():
    assert where(True, 1.0, 2.0) == 1.0 and isinstance(where(np.float64(3.0) > 4.0, 1.0, 2.0), float)
    assert where(np.array([True, False]), 1.0, 2.0).tolist() == [1.0, 2.0]


def test_an_operation_that_is_not_in_the_language_is_refused():
    @each_entry("w")
    def sine(w, x):
        return np.sin(x)

    if numba_path.private is not None:  # numba itself would compile it
        with pytest.raises(TypeError, match="sin"):
            call(lambda w, x: sine(w, x), np.ones(1), np.zeros(1))
