"""Exact probabilities of ranks: against simulation, scipy, the filter and all orders."""

import itertools
import math

import numpy as np
import pytest
from bounds.inputs import UNIT, horizon_ranks, in_order, shares
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

import holdfast as hf
from holdfast import bounds


@settings(max_examples=40, deadline=None)
@given(shares, st.integers(1, 200), st.data())
def test_newsvendor_ranks_minimise_their_cost(p, T, data):
    ranks, n = horizon_ranks("newsvendor", p, T), data.draw(st.integers(0, T - 1))
    other = ranks.copy()
    other[n] = data.draw(st.integers(0, n))
    totals = []
    for r in (ranks, other):
        odds = bounds.rank_odds(r, p)
        totals.append(odds.skipped[n] + p * (T - n - 1) * odds.kept[n])
    assert in_order(*totals)


@pytest.mark.parametrize(("p", "kind"), [(0.7, "newsvendor"), (0.4, "newsvendor"), (0.8, "binomial")])
@pytest.mark.parametrize("ties", [False, True])
def test_exact_probabilities_are_those_of_a_simulation(p, kind, ties):
    T, runs, rng = 24, 40_000, np.random.default_rng(7)
    ranks = horizon_ranks(kind, p, T) if kind == "newsvendor" else bounds.ranks(hf.Quantile(p, delta=0.1), T)
    sizes = rng.random((runs, T))
    outlier = sizes > p
    if ties:
        sizes[outlier] = 1.0
    kept = np.zeros((runs, T), bool)
    for n in range(T):
        if ranks[n] > 0:
            kept[:, n] = sizes[:, n] <= np.sort(sizes[:, :n], axis=1)[:, ranks[n] - 1]
    wrong = kept & outlier
    first = wrong & (np.cumsum(wrong, axis=1) == 1)
    odds = bounds.rank_odds(ranks, p, ties=ties)
    error = 5 / math.sqrt(runs)
    assert np.mean(~kept & ~outlier, axis=0) == pytest.approx(odds.skipped, abs=0.5 * error)
    assert np.mean(first, axis=0) == pytest.approx(odds.spoiled, abs=0.5 * error)
    if not ties:
        assert np.mean(wrong, axis=0) == pytest.approx(odds.kept, abs=0.5 * error)
    ahead = np.arange(T - 1, -1, -1)
    overhead = np.sum(~kept & ~outlier, axis=1) + p * np.sum(first * ahead, axis=1)
    exact = bounds.theorem_8_exact(**UNIT, ranks=ranks, p=p, ties=ties)
    assert overhead.mean() == pytest.approx(exact, abs=error * overhead.std())


@settings(max_examples=30, deadline=None)
@given(shares, st.integers(1, 80), st.data())
def test_exact_probabilities_are_scipys(p, T, data):
    ranks = np.array([data.draw(st.integers(0, n)) for n in range(T)])
    N, odds = np.arange(1, T + 1), bounds.rank_odds(ranks, p)
    short = ranks * binom.cdf(ranks - 1, N, p) - N * p * binom.cdf(ranks - 2, N - 1, p)  # E(r - K)+
    assert odds.kept == pytest.approx(short / N, abs=1e-12)
    assert odds.skipped == pytest.approx((short + N * p - ranks) / N, abs=1e-12)
    assert (odds.spoiled <= odds.kept + 1e-12).all()
    worst = bounds.rank_odds(ranks, p, ties=True).spoiled
    assert (np.cumsum(odds.spoiled) <= np.cumsum(worst) + 1e-12).all()


def test_a_new_epoch_begins_with_a_new_learner():
    p, T, cut = 0.6, 60, 30
    ranks = horizon_ranks("newsvendor", p, T)
    ends = np.where(np.arange(T) < cut, cut, T)
    whole, parts = bounds.rank_odds(ranks, p), bounds.rank_odds(ranks, p, ends)
    assert np.array_equal(whole.skipped, parts.skipped)
    assert np.array_equal(whole.spoiled[:cut], parts.spoiled[:cut])
    assert (parts.spoiled[cut:] > whole.spoiled[cut:]).any()
    assert parts.spoiled[cut] == pytest.approx(parts.kept[cut])


@pytest.mark.parametrize("ranks", ["binomial", "newsvendor"])
def test_the_filter_uses_the_ranks_and_ends_of_the_bounds(ranks):
    quantile, T = hf.Quantile(0.8, ranks=ranks, exact=True), 1500
    found, ends = bounds.ranks(quantile, T), bounds.ends(quantile, T)
    state, rng, past = quantile.init(1), np.random.default_rng(0), []
    for n, size in enumerate(rng.random(T)):
        assert quantile.restarts(state) == (n > 0 and ends[n] != ends[n - 1])
        state, threshold, _ = quantile.decide(state, size)
        if n % 50 == 1:
            assert threshold == (np.sort(past)[found[n] - 1] if found[n] else -math.inf)
        past.append(size)


def test_the_overhead_for_the_empirical_quantile_and_its_numbers():
    T, p = 200, 0.7
    R, n = math.ceil(p * T), np.arange(T)
    ranks = np.minimum(n, hypergeom.ppf(1 / (1 + p * (T - n - 1)), T, R, n + 1)).astype(int)
    odds = bounds.empirical_rank_odds(ranks, R)
    assert odds.skipped.sum() == pytest.approx(22.03, abs=0.01)
    independent = np.minimum(n, binom.ppf(1 / (1 + p * (T - n - 1)), n + 1, p)).astype(int)
    assert bounds.rank_odds(independent, p).skipped.sum() == pytest.approx(27.5, abs=0.1)
    overhead = bounds.empirical_overhead(ranks, R)
    assert odds.skipped.sum() < overhead < bounds.empirical_overhead(ranks, R, ties=True)


def test_the_empirical_odds_are_those_of_all_orders():
    ranks, R, T = [0, 1, 1, 3], 2, 4
    skipped, first, count = np.zeros(T), np.zeros(T), 0
    for sizes in itertools.permutations(range(T)):
        count, spoiled = count + 1, False
        for n in range(T):
            kept = ranks[n] > 0 and sizes[n] <= sorted(sizes[:n])[ranks[n] - 1]
            skipped[n] += sizes[n] < R and not kept
            first[n] += sizes[n] >= R and kept and not spoiled
            spoiled |= sizes[n] >= R and kept
    odds = bounds.empirical_rank_odds(ranks, R)
    assert odds.skipped == pytest.approx(skipped / count)
    assert odds.spoiled == pytest.approx(first / count)
