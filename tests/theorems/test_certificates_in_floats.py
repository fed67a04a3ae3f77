"""Lemma 8.1: a certificate is never smaller than the exact regret, computed in rational arithmetic."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import slow
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.losses import slope_at
from holdfast.vectors import dot

KEEP = ("losses", "sizes", "thresholds", "kept", "products", "gradients", "iterates")
DOMAINS = [
    hf.Ball(1.0),
    hf.Ball(0.3, around=[1e8, -2.0]),
    hf.Ball(1e-200),
    hf.Ball(1e200),
    hf.Box(-1.0, 2.0),
    hf.Box([-1.0, -1.0], [-1.0, 2.0]),  # the first weight is fixed
    hf.Box([0.0, -1e280], [0.0, 1e280]),
    hf.Box(1e10 - 1.0, 1e10 + 1.0),
    hf.Simplex(),
    hf.domains.Shifted(hf.Simplex(), 1e12),
    hf.domains.L1Ball(0.7),
    hf.domains.L1Ball(0.1, around=0.1),
    hf.domains.Ellipsoid([[4.0, 1.0], [1.0, 1.0]]),
    hf.domains.Ellipsoid([[1.0, 1e-5], [1e-5, 2e-10]], around=[3.0, 0.0]),
]
ordinary = st.floats(-3.0, 3.0)
wide = st.builds(lambda x, power: x * 10.0**power, ordinary, st.integers(-320, 300))
tiny = st.sampled_from([5e-324, -5e-324, 1e-310, 1e16, -1e16, 1.0, 0.1, -0.9])
entries = ordinary | wide | tiny
kinds = st.sampled_from(DOMAINS)


def exact(vector):
    return [Fraction(float(entry)) for entry in vector]


def inner(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def at_most(domain, products, total, bound):
    """Whether products - <u, total> is at most the bound for every u of the domain, all in rationals."""
    if isinstance(domain, hf.domains.Shifted):
        around = exact(np.zeros(len(total)) + domain.around)
        return at_most(domain.domain, products - inner(around, total), total, bound)
    rest = Fraction(bound) - products
    if isinstance(domain, hf.Box):
        low, high = (exact(np.zeros(len(total)) + end) for end in (domain.low, domain.high))
        ends = zip(low, high, total, strict=True)
        return sum((max(-a * g, -b * g) for a, b, g in ends), Fraction(0)) <= rest
    if isinstance(domain, hf.Simplex):
        return max(-g for g in total) <= rest
    if isinstance(domain, hf.domains.L1Ball):
        return Fraction(domain.radius) * max(abs(g) for g in total) <= rest
    if isinstance(domain, hf.Ball):
        square = Fraction(domain.radius) ** 2 * inner(total, total)
    else:
        square = inner(total, [inner(exact(row), total) for row in domain.shape])
    return rest >= 0 and square <= rest**2


def violations(proof, record, gradients, k):
    """The sets of inliers for which a certificate is too small, with the gradients as rationals."""
    T = len(gradients)
    products = [inner(exact(w), g) for w, g in zip(record.iterates, gradients, strict=True)]
    for count in range(k + 1):
        for outliers in itertools.combinations(range(T), count):
            S = [t for t in range(T) if t not in outliers]
            largest = max((record.size[t] for t in S), default=0.0)
            bound = proof.bounds[proof.sizes >= largest][-1]
            total = [sum((gradients[t][i] for t in S), Fraction(0)) for i in range(record.iterates.shape[1])]
            if bound < np.inf and not at_most(record.domain, sum(products[t] for t in S), total, bound):
                yield S


def holds(player, adversary, k, rows=None):
    record = hf.play(player, adversary, keep=KEEP, compiled=False)
    assert np.isfinite(record.size).all()
    certified = hf.play(hf.Certified(player, k), adversary, keep=(), compiled=False)
    for proof in (record.certificate(k), certified.certificate(k)):
        for gradients in [[exact(g) for g in record.gradients]] if rows is None else rows(record):
            assert not list(violations(proof, record, gradients, k))


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(entries, entries), min_size=1, max_size=5), kinds, st.integers(0, 2), st.booleans())
def test_it_is_never_below_the_exact_regret(stream, domain, k, picky):
    filter = hf.TopK(1) if picky else hf.Everything()
    holds(hf.Filtered(hf.OGD(domain), filter, norm=hf.norms.LInf()), hf.Gradients(np.array(stream)), k)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(ordinary, ordinary, ordinary), min_size=1, max_size=5),
    kinds,
    st.sampled_from([hf.Squared(), hf.Huber(), hf.Absolute()]),
    st.booleans(),
)
def test_it_holds_for_other_losses_and_rounded_gradients(stream, domain, loss, sparse):
    X, y = np.array(stream)[:, :2], np.array(stream)[:, 2]

    def rows(record):
        slopes = [slope_at(loss, dot(w, x), z) for w, x, z in zip(record.iterates, X, y, strict=True)]
        if not sparse:  # with lazy weights predictions and slopes round differently
            yield [[Fraction(slope) * v for v in exact(x)] for slope, x in zip(slopes, X, strict=True)]
        yield [exact(g) for g in record.gradients]

    adversary = hf.Replay(csr_array(X) if sparse else X, y, loss)
    holds(hf.Filtered(hf.OGD(domain), hf.TopK(1)), adversary, 1, rows)


def on_all_rounds(domain, bound, iterates, G):
    G, W = [exact(g) for g in G], [exact(w) for w in iterates]
    products = sum((inner(w, g) for w, g in zip(W, G, strict=True)), Fraction(0))
    return at_most(domain, products, [sum(column) for column in zip(*G, strict=True)], bound)


def one_fixed_weight():
    """One weight is fixed and has one large gradient; the other has 2000 small ones."""
    G = np.zeros((2001, 2))
    G[0], G[1:, 1] = [1e16, 0.0], 0.9
    return hf.OGD(hf.Box([-1.0, -1.0], [-1.0, 2.0]), hf.StronglyConvex(1e6)), G


def far_away(far):
    rng = np.random.default_rng(1)
    return hf.OGD(hf.Box(far - 1.0, far + 1.0)), rng.uniform(-1.0, 1.0, (2000, 1))


def scaled(scale):
    return hf.OGD(hf.Ball(1.0)), scale * np.random.default_rng(2).standard_normal((2000, 3))


@pytest.mark.parametrize(
    "case",
    [one_fixed_weight(), far_away(1e6), far_away(1e8), far_away(1e10), scaled(1e-300), scaled(1e300)],
    ids=["one fixed weight", "1e6 away", "1e8 away", "1e10 away", "1e-300", "1e300"],
)
def test_long_runs_far_from_1_are_certified(case):
    learner, G = case
    player = hf.Filtered(learner, hf.Everything())
    record = hf.play(player, hf.Gradients(G), keep=KEEP, compiled=False)
    certified = hf.play(hf.Certified(player, 0), hf.Gradients(G), keep=(), compiled=False)
    one_by_one = hf.Player(hf.Certified(player, 0), G.shape[1])
    for g in G:
        one_by_one.observe(g)
    for proof in (record.certificate(0), certified.certificate(0), one_by_one.certificate(0)):
        assert on_all_rounds(learner.domain, proof.bound, record.iterates, G)


@pytest.mark.parametrize("sparse", [slow(False), True])
def test_compiled_and_in_parts_the_certificate_is_the_same(sparse):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1500, 3)) * 10.0 ** rng.integers(-8, 8, (1500, 1))
    player = hf.Certified(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(3)), k=3)

    def rounds(first, last):
        rows = X[first:last]
        return hf.Replay(csr_array(rows) if sparse else rows, np.ones(last - first), hf.Linear())

    whole = hf.play(player, rounds(0, 1500), keep=KEEP, compiled=False)
    first = hf.play(player, rounds(0, 700), keep=(), compiled=True)
    second = hf.play(player, rounds(700, 1500), keep=(), compiled=True, after=first)
    bounds = whole.certificate(3).bounds
    assert bounds.tolist() == second.certificate(3).bounds.tolist()
    kept = whole.kept  # a set of inliers, if no more than three were skipped
    G = [exact(g) for g in whole.gradients[kept]]
    products = sum(inner(exact(w), g) for w, g in zip(whole.iterates[kept], G, strict=True))
    assert at_most(whole.domain, products, [sum(column) for column in zip(*G, strict=True)], bounds[0])


def test_on_ordinary_runs_the_allowance_is_small():
    """Against the regret in extended precision."""
    G = np.random.default_rng(4).standard_normal((20_000, 5))
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), hf.Gradients(G), keep=KEEP)
    regret = float(np.sum(record.losses.astype(np.longdouble))) + float(np.linalg.norm(G.sum(axis=0)))
    assert record.certificate(0).bound == pytest.approx(regret, rel=1e-11)


def test_a_bound_that_overflows_is_infinite():
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1e9)), hf.Everything()), hf.Gradients(np.full((9, 1), 1e300)))
    assert record.certificate(0).bound == np.inf
