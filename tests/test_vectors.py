"""holdfast.vectors: interpreted and compiled, the same bits."""

import math
import warnings

import numpy as np
import pytest

from holdfast._compiled import call
from holdfast.vectors import Sparse, add, dot, largest, rescaled, spread, squared, sum_abs

MOST = 20_000
LENGTHS = np.array([*range(301), 511, 512, 513, 1000, 1023, 1025, 4096, 8192, 8193, 16_385, MOST])
WILD = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e308, -1e308, 1e30, 5e-324, -2.2e-308, 1e-300, 1e-40]


def measured(w, x, lengths):
    """All that vectors can do with the first entries of two rows: one compilation instead of four."""
    sizes = np.empty((len(lengths), 4))
    for i in range(len(lengths)):
        a, b = w[: lengths[i]], x[: lengths[i]]
        sizes[i, 0], sizes[i, 1], sizes[i, 2], sizes[i, 3] = dot(a, b), squared(b), sum_abs(b), largest(b)
    add(w, -1.7, x)
    return sizes


def row(seed, dtype, wild):
    rng = np.random.default_rng(seed)
    entries = rng.normal(size=2 * MOST) * 10.0 ** rng.integers(-9, 10, 2 * MOST)
    if wild:
        entries[rng.integers(0, 2 * MOST, 2 * MOST // 50)] = rng.choice(WILD, 2 * MOST // 50)
    with np.errstate(all="ignore"):
        return entries.astype(dtype)


def bits(array):
    """As they are, but NaN is NaN: its sign and payload mean nothing."""
    return np.where(np.isnan(array), np.nan, array).tobytes()


VIEWS = {
    "contiguous": slice(0, MOST),
    "strided": slice(None, None, 2),
    "backwards": slice(MOST - 1, None, -1),
}


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("view", list(VIEWS))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_worlds_give_the_same_bits(dtype, view, wild):
    w, x = row(1, np.float64, wild)[VIEWS[view]], row(2, dtype, wild)[VIEWS[view]]
    in_python, in_numba = w.copy(), w.copy()
    assert bits(measured(in_python, x, LENGTHS)) == bits(call(measured, in_numba, x, LENGTHS))
    assert bits(in_python) == bits(in_numba) != bits(w)


def test_a_view_gives_the_bits_of_its_copy():
    a, b = row(1, np.float64, False), row(2, np.float32, False)
    for view in VIEWS.values():
        assert dot(a[view], b[view]) == dot(a[view].copy(), b[view].copy())
        assert squared(a[view]) == dot(a[view], a[view])
        assert sum_abs(b[view]) == sum_abs(b[view].copy())


def test_dot_is_as_accurate_as_pairwise_sums_are():
    a, b = row(3, np.float64, False), row(4, np.float64, False)
    for n in (1, 7, 8, 9, 127, 129, 1000, MOST):
        products = [float(p) * float(q) for p, q in zip(a[:n], b[:n], strict=True)]
        depth = 22 + math.log2(n)  # roundings on the way of any one product: 16 in its block, then halves
        allowed = depth * 2.0**-53 * math.fsum(map(abs, products))
        assert abs(dot(a[:n], b[:n]) - math.fsum(products)) <= allowed
        assert abs(sum_abs(a[:n]) - math.fsum(map(abs, a[:n]))) <= depth * 2.0**-53 * math.fsum(
            map(abs, a[:n])
        )


def test_float32_entries_are_widened_before_they_are_multiplied():
    huge = np.full(3, 1e30, np.float32)
    assert dot(huge, huge) == 3 * float(huge[0]) ** 2
    assert sum_abs(np.full(3, 3e38, np.float32)) == 3 * float(np.float32(3e38))


def test_an_empty_row_measures_nothing():
    nothing = np.zeros(0)
    assert (dot(nothing, nothing), sum_abs(nothing), largest(nothing)) == (0.0, 0.0, 0.0)


def test_nan_is_never_lost():
    for n in (1, 8, 9, 200):
        x = np.zeros(n)
        x[n // 2] = math.nan
        assert all(map(math.isnan, (dot(x, x), squared(x), sum_abs(x), largest(x))))


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (np.float64, np.float32):
            x = row(5, dtype, True)
            measured(row(6, np.float64, True), x, np.arange(0, 40))
            dot(x[:0], x[:0])


@pytest.mark.parametrize("measure", [lambda a, b: dot(a, b), lambda a, b: add(a, 1.0, b)], ids=["dot", "add"])
@pytest.mark.parametrize(("n", "m"), [(3, 2), (2, 3), (3, 1), (1, 3), (0, 1)])
def test_rows_of_different_lengths_are_refused_in_both_worlds(measure, n, m):
    for world in (measure, lambda *args: call(measure, *args)):
        with pytest.raises(ValueError, match="the same number of entries"):
            world(np.ones(n), np.ones(m))


def spreads(rows, places, values, dim):
    """Of dense rows, and of sparse ones that have these entries and zeros, or no zeros."""
    found = np.zeros((len(rows), 3))
    for t in range(len(rows)):
        found[t, 0] = spread(rows[t])
        found[t, 1] = spread(Sparse(places[t], values[t], dim))
        found[t, 2] = spread(Sparse(places[t], values[t], len(values[t])))
    return found


def test_the_spread_of_a_row_counts_the_zeros_of_a_sparse_one():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 5)) + rng.choice([-9.0, 0.0, 9.0], (40, 1))
    rows[:3, 2] = math.nan, math.inf, -math.inf
    places = np.tile(np.arange(5), (40, 1))
    found = spreads(rows, places, rows, 8)
    assert bits(found) == bits(call(spreads, rows, places, rows, 8))
    with_zeros = np.concatenate([rows, np.zeros((40, 3))], axis=1)
    expected = np.stack([np.ptp(rows, axis=1), np.ptp(with_zeros, axis=1), np.ptp(rows, axis=1)], axis=1)
    assert bits(found) == bits(expected)


def test_a_weight_beyond_the_largest_float_is_cut():
    w, factors = np.array([1e200, -1e200, 2.0, -1e200]), np.array([1e200, 1e200, 3.0, 1e-200])
    assert rescaled(w, factors).tolist() == [pytest.approx(1.79e308), pytest.approx(-1.79e308), 6.0, -1.0]
