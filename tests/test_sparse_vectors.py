"""holdfast.vectors on sparse rows and lazy weights: the same bits in both worlds, dense ones to 1e-9."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import like, same
from samples import slow, thinned

from holdfast._compiled import call
from holdfast.norms import euclidean
from holdfast.vectors import (
    LazyWeights,
    Sparse,
    add,
    add_to_sum,
    assign,
    dot,
    largest,
    lazy,
    length,
    scale_by,
    squared,
    sum_abs,
    to_dense,
    values_of,
)

DIM = 1200
NONZEROS = [0, 1, 7, 8, 9, 127, 128, 129, 1000]
WILD = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e308, -1e308, 1e30, 5e-324, -2.2e-308, 1e-300, 1e-40]


def numbers(rng, count, wild):
    values = rng.normal(size=count) * 10.0 ** rng.integers(-9, 10, count)
    if wild:
        some = rng.random(count) < 0.05
        values[some] = rng.choice(WILD, some.sum())
    return values


def row(seed, nonzeros, places=np.int32, dtype=np.float64, wild=False):
    rng = np.random.default_rng([seed, nonzeros])
    chosen = rng.permutation(DIM)[:nonzeros].astype(places)  # in any order
    with np.errstate(all="ignore"):
        return Sparse(chosen, numbers(rng, nonzeros, wild).astype(dtype), DIM)


def rows(seed, **kind):
    """A row of each length, as one matrix, so that one compilation measures all."""
    made = [row(seed, nonzeros, **kind) for nonzeros in NONZEROS]
    starts = np.concatenate([[0], np.cumsum(NONZEROS)])
    return np.concatenate([x.places for x in made]), np.concatenate([x.values for x in made]), starts


def measured(w, places, values, starts, dim):
    """All that vectors can do with each row and dense weights; then the weights have moved."""
    sizes, images = np.empty((len(starts) - 1, 6)), np.zeros((len(starts) - 1, dim))
    for i in range(len(starts) - 1):
        x = Sparse(places[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]], dim)
        sizes[i, 0], sizes[i, 1], sizes[i, 2], sizes[i, 3] = dot(w, x), squared(x), sum_abs(x), largest(x)
        sizes[i, 4], sizes[i, 5] = float(len(values_of(x))), euclidean(x)
        images[i] = to_dense(x)
        add(w, -1.7, x)
    return sizes, images


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize(
    ("places", "dtype"), thinned(itertools.product([np.int32, np.int64], [np.float64, np.float32]), 3)
)
def test_both_worlds_give_the_same_bits_on_sparse_rows(places, dtype, wild):
    w = numbers(np.random.default_rng(1), DIM, wild)
    in_python, in_numba = w.copy(), w.copy()
    with np.errstate(all="ignore"):
        expected = measured(in_python, *rows(2, places=places, dtype=dtype, wild=wild), DIM)
    found = call(measured, in_numba, *rows(2, places=places, dtype=dtype, wild=wild), DIM)
    assert same(expected, found)
    assert same(in_python, in_numba)
    assert not same(in_python, w)


@pytest.mark.parametrize("nonzeros", NONZEROS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sparse_row_is_worth_its_dense_twin(nonzeros, dtype):
    x, w = row(3, nonzeros, dtype=dtype), numbers(np.random.default_rng(4), DIM, False)
    twin = np.zeros(DIM)
    twin[x.places] = x.values
    assert same(to_dense(x), twin)
    for sparse, plain in (
        (dot(w, x), dot(w, twin)),
        (squared(x), squared(twin)),
        (sum_abs(x), sum_abs(twin)),
        (largest(x), largest(twin)),
        (euclidean(x), euclidean(twin)),
    ):
        assert sparse == pytest.approx(plain, rel=1e-12, abs=1e-9)
    moved = w.copy()
    add(w, 0.3, x)
    add(moved, 0.3, twin)
    assert same(w, moved)


def test_weights_of_another_length_are_refused_in_both_worlds():
    x = Sparse(np.array([0, 2]), np.ones(2), 3)
    for measure in (lambda w, x: dot(w, x), lambda w, x: add(w, 1.0, x)):
        for world in (measure, lambda *args, measure=measure: call(measure, *args)):
            with pytest.raises(ValueError, match="the same number of entries"):
                world(np.ones(4), x)
            with pytest.raises(ValueError, match="the same number of entries"):
                world(lazy(np.ones(2), False), x)


# -- lazy weights


def seen(w):
    """What anybody may ask of weights."""
    return np.array([squared(w), sum_abs(w), largest(w), euclidean(w), float(length(w))])


def walked(w, places, values, starts, steps, dim):
    """Lazy weights after a step along each row, shrunk, counted, cleared; and what was seen on the way."""
    noted, summed = np.empty((len(starts), 6)), np.zeros(0)
    for i in range(len(starts) - 1):
        x = Sparse(places[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]], dim)
        add_to_sum(summed, w)
        noted[i, 5] = dot(w, x)
        add(w, steps[i], x)
        scale_by(w, 0.1 + steps[i] * steps[i])
        noted[i, :5] = seen(w)
        if i == 5:
            assign(w, np.zeros(dim))
    noted[-1, :5], noted[-1, 5] = seen(w), 0.0
    copy = np.zeros(dim)
    add(copy, 0.7, w)
    return noted, values_of(w), w.sum(), copy


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("summed", [False, True], ids=["", "summed"])
@pytest.mark.parametrize(("places", "dtype"), [slow((np.int32, np.float32)), (np.int64, np.float64)])
def test_both_worlds_give_the_same_bits_on_lazy_weights(places, dtype, summed, wild):
    steps = np.random.default_rng(5).normal(size=len(NONZEROS))
    worlds = []
    for world in (lambda function, *args: function(*args), call):
        w = lazy(numbers(np.random.default_rng(6), DIM, False), summed)
        drag = w if summed else w._replace(drag=np.zeros(DIM))  # of which `sum` needs one
        with np.errstate(all="ignore"):
            out = world(walked, drag, *rows(7, places=places, dtype=dtype, wild=wild), steps, DIM)
        worlds.append((out, tuple(drag)))
    assert like(worlds[0], worlds[1])


class Twin:
    """What lazy weights stand for, done at once."""

    def __init__(self, dim):
        self.w, self.sum, self.count = np.zeros(dim), np.zeros(dim), 0

    def predicted(self):
        self.sum += self.w
        self.count += 1


steps = st.tuples(st.just("plus"), st.floats(-2.0, 2.0), st.integers(0, 999))
moves = st.one_of(
    steps,
    steps,
    st.tuples(st.just("times"), st.sampled_from([0.0, 1e-3, 0.1, 0.5, 0.99, 1.0, -0.5]), st.none()),
    st.tuples(st.just("predicted"), st.integers(1, 3), st.none()),
    st.tuples(st.just("clear"), st.none(), st.none()),
)


@settings(max_examples=60)
@given(st.lists(moves, min_size=1, max_size=15), st.integers(1, 40), st.sampled_from([1, 7, 40]))
def test_lazy_weights_are_the_weights_they_stand_for(pattern, repeats, dim):
    """The sequence over and over: short ones are thought up, long ones forget and fold many times."""
    w, twin, longest = lazy(np.zeros(dim), True), Twin(dim), 0.0
    for name, number, seed in pattern * repeats:
        if name == "plus":
            rng = np.random.default_rng(seed)
            places = rng.permutation(dim)[: rng.integers(0, dim + 1)]
            x = Sparse(places, rng.normal(size=len(places)), dim)
            add(w, number, x)
            twin.w[places] += number * x.values
        elif name == "times":
            scale_by(w, number)
            twin.w *= number
        elif name == "clear":
            assign(w, np.zeros(dim))
            twin.w[:] = 0.0
        else:
            for _ in range(number):
                add_to_sum(np.zeros(0), w)
                twin.predicted()
        longest = max(longest, np.abs(twin.w).max())
        assert np.abs(values_of(w) - twin.w).max() <= 1e-9 * longest
        assert squared(w) == pytest.approx(twin.w @ twin.w, rel=1e-9, abs=1e-12 * longest**2 + 1e-300)
    assert np.abs(w.sum() - twin.sum).max() <= 1e-9 * longest * max(twin.count, 1)


def wandered(w, plain, places, values, steps, factor):
    """Lazy and plain weights walk side by side; how far their lengths, entries and sums ever differ."""
    worst, n, dim = np.zeros(3), places.shape[1], len(plain)
    summed, magnitude = np.zeros(dim), 0.0
    for t in range(len(steps)):
        row = t % len(places)
        x = Sparse(places[row], values[row], dim)
        add_to_sum(summed, w)
        add(summed, 1.0, plain)
        magnitude += 1.0
        add(w, steps[t], x)
        for i in range(n):
            plain[places[row, i]] += steps[t] * values[row, i]
        size = euclidean(w)
        if size > 1.0:
            scale_by(w, 1.0 / size)
            scale_by(plain, 1.0 / size)
        if t % 7919 == 0:  # steps themselves shrink and grow the weights, too
            scale_by(w, factor)
            scale_by(plain, factor)
        if t % 997 == 0 or t == len(steps) - 1:
            worst[0] = max(worst[0], abs(euclidean(w) - euclidean(plain)))
            for i in range(dim):
                worst[1] = max(worst[1], abs(values_of(w)[i] - plain[i]))
    for i in range(dim):
        worst[2] = max(worst[2], abs(w.sum()[i] - summed[i]) / magnitude)
    return worst


@pytest.mark.parametrize("factor", [1e-3, 0.5, 1.0])
def test_in_a_million_steps_on_a_unit_ball_nothing_is_ever_off_by_more_than_1e_9(factor):
    rng = np.random.default_rng(8)
    dim, count = 400, 1_000_000
    places = np.argsort(rng.random((50, dim)), axis=1)[:, :3].copy()
    values = rng.normal(size=places.shape)
    walk = rng.normal(size=count) / np.sqrt(1.0 + np.arange(count))
    worst = call(wandered, lazy(np.zeros(dim), True), np.zeros(dim), places, values, walk, factor)
    assert (worst <= 1e-9).all(), worst


def test_a_sum_that_began_long_ago_is_still_exact_when_the_weights_have_shrunk():
    """100,000 predictions, then the scale falls: the sum of scales is then far larger than the scale."""
    dim, rng = 300, np.random.default_rng(9)
    w, plain, summed = lazy(np.zeros(dim), True), np.zeros(dim), np.zeros(dim)
    first = Sparse(np.arange(3), np.ones(3), dim)
    add(w, 1.0, first)
    plain[:3] += 1.0
    for _ in range(100_000):
        add_to_sum(np.zeros(0), w)
    summed += 100_000 * plain
    for _ in range(3_000):
        scale_by(w, 0.99)
        plain *= 0.99
        x = Sparse(rng.permutation(dim)[:3], rng.normal(size=3), dim)
        add(w, 1.0, x)
        plain[x.places] += x.values
        add_to_sum(np.zeros(0), w)
        summed += plain
    assert np.abs(w.sum() - summed).max() <= 1e-9 * 103_000


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-162, 1e-150, 1e-30, 1e30, 1e150, 1e153, 1e200, 1e300])
@pytest.mark.parametrize("step", [1.0, 1e-12])
def test_steps_along_rows_of_any_size_are_measured(size, step):
    """The step c x has a moderate length where x alone, or its square, does not."""
    rng = np.random.default_rng(10)
    w, plain = lazy(np.zeros(40), False), np.zeros(40)
    for _ in range(100):
        x = Sparse(rng.permutation(40)[:4], size * rng.normal(size=4), 40)
        add(w, step / size, x)
        add(plain, step / size, x)
        assert euclidean(w) == pytest.approx(np.linalg.norm(plain), rel=1e-9, abs=0.0)


def test_cleared_weights_are_zeros_and_not_negative_ones():
    for world in (lambda function, *args: function(*args), call):
        w = lazy(np.array([1.0, -2.0, 0.0]), True)
        world(lambda w: assign(w, np.zeros(3)), w)
        assert values_of(w).tobytes() == np.zeros(3).tobytes()
        assert euclidean(w) == 0.0


class Watched(np.ndarray):
    """An array that counts the entries read from it or written to it, one by one or in passes."""

    touched = 0

    def __getitem__(self, where):
        found = super().__getitem__(where)
        Watched.touched += np.size(found)
        return found.view(np.ndarray) if isinstance(found, np.ndarray) else found

    def __setitem__(self, where, value):
        Watched.touched += np.size(np.ndarray.__getitem__(self, where))
        super().__setitem__(where, value)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [each.view(np.ndarray) if isinstance(each, Watched) else each for each in inputs]
        Watched.touched += self.size
        kwargs["out"] = tuple(each.view(np.ndarray) for each in kwargs["out"]) if "out" in kwargs else None
        done = getattr(ufunc, method)(*plain, **kwargs)
        return self if kwargs["out"] else done


@pytest.mark.parametrize("dim", [1_000, 100_000])
def test_a_step_touches_only_the_nonzeros(dim):
    w = lazy(np.zeros(dim), True)
    w = LazyWeights(w.v.view(Watched), w.drag.view(Watched), w.numbers)
    Watched.touched = 0
    for t in range(100):
        x = Sparse(np.arange(t, t + 5), np.ones(5), dim)
        add_to_sum(np.zeros(0), w)
        add(w, 0.5, x)
        scale_by(w, 0.99 if euclidean(w) > 1.0 else 1.0)
    assert 100 * 5 <= Watched.touched <= 100 * 5 * 6
    scale_by(w, 1e-12)  # and this is a pass over all weights, as the watch shows
    assert Watched.touched > 3 * dim
