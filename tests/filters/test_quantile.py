"""Algorithm 2 against sorting the past with scipy's binomial; its probabilities against simulation."""

import math

import numpy as np
import pytest
from equivalents import (
    bernstein_rank,
    binomial_rank,
    finite,
    newsvendor_rank,
    quantile_thresholds,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import filtered
from scipy.stats import binom

import holdfast as hf
from holdfast.rounds import Round

ugly = st.sampled_from([0.0, 1.0, 1.0, 3.0, 1e-300, 1e308, math.nan, math.inf]) | st.floats(1e-300, 1e308)
T = 60


def twin(kind, p, delta):
    """The rank after n sizes, in the slow way."""
    return {
        "bernstein": lambda n: bernstein_rank(n, p, delta),
        "binomial": lambda n: binomial_rank(n, p, delta),
        "newsvendor": lambda n: newsvendor_rank(n, p, T - n - 1),
    }[kind]


@settings(max_examples=50)
@given(
    st.lists(ugly, max_size=T),
    st.sampled_from([0.3, 0.5, 0.9]),
    st.sampled_from(["bernstein", "binomial", "newsvendor"]),
)
def test_the_exact_filter_is_sorting_the_past(sizes, p, kind):
    quantile = hf.Quantile(p, horizon=T, ranks=kind, exact=True)
    thresholds, kept, _ = filtered(quantile, quantile.init(1), sizes)
    measured = np.isfinite(sizes)
    expected = quantile_thresholds(finite(sizes), twin(kind, p, T**-2.0))
    assert np.array_equal(thresholds[measured], expected)
    assert np.array_equal(kept[measured], np.array(finite(sizes)) <= expected)
    assert not kept[~measured].any()


@settings(max_examples=50)
@given(
    st.lists(ugly, max_size=T),
    st.sampled_from([0.3, 0.9]),
    st.sampled_from(["bernstein", "binomial", "newsvendor"]),
)
def test_the_histogram_is_lower_by_less_than_a_128th(sizes, p, kind):
    exact, fast = (hf.Quantile(p, horizon=T, ranks=kind, exact=exact) for exact in (True, False))
    a, _, _ = filtered(exact, exact.init(1), finite(sizes))
    b, _, _ = filtered(fast, fast.init(1), finite(sizes))
    assert (b <= a).all()
    assert ((a < b * (1 + 1 / 128)) | (a == b)).all()


@pytest.mark.parametrize("p", [1e-18, 1e-12, 0.01, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("delta", [1e-12, 1e-4, 0.2])
def test_binomial_ranks_are_the_largest_that_are_valid(p, delta):
    ranks = hf.Quantile(p, delta=delta).init(1).order
    for n in range(20_001):
        ranks = ranks.next_round(n, delta, 0)
        if n < 100 or n % 499 == 0:
            expected = binomial_rank(n, p, delta)
            assert ranks.rank <= expected
            if ranks.rank < expected:  # only where the tail ties with delta
                assert binom.cdf(expected - 1, n, p) == pytest.approx(delta, rel=1e-8)


@pytest.mark.parametrize("kind", ["bernstein", "binomial"])
def test_the_rank_of_the_paper_is_valid_from_the_first_size_on(kind):
    """With 1 / (n + 1), as printed, n = 1 would fail with probability 1.38 delta."""
    delta, p = 6**-2.0, 0.9616
    ranks = hf.Quantile(p, delta=delta, ranks=kind).init(1).order
    for n in range(6):
        ranks = ranks.next_round(n, delta, 0)
        assert binom.cdf(ranks.rank - 1, n, p) <= delta


def test_bernstein_is_never_above_the_exact_rank():
    for p in (0.1, 0.5, 0.99):
        b, e = (hf.Quantile(p, delta=1e-4, ranks=kind).init(1).order for kind in ("bernstein", "binomial"))
        for n in range(3000):
            b, e = b.next_round(n, 1e-4, 0), e.next_round(n, 1e-4, 0)
            assert b.rank <= e.rank


def test_an_outlier_is_kept_no_more_often_than_delta_allows():
    """P(round n + 1 is a kept outlier) <= q delta, with ties or without (Lemma Q1)."""
    rng, p, delta, runs, n = np.random.default_rng(3), 0.8, 0.2, 4000, 60
    quantile = hf.Quantile(p, delta=delta, exact=True)
    ranks = quantile.init(1).order
    for i in range(n + 1):
        ranks = ranks.next_round(i, delta, 0)
    samples = rng.uniform(size=(runs, n + 1))
    thresholds = np.sort(samples[:, :n], axis=1)[:, ranks.rank - 1]
    kept_outliers = np.mean((samples[:, n] <= thresholds) & (samples[:, n] > p))
    assert kept_outliers <= (1 - p) * delta + 4 * math.sqrt(0.04 / runs)


def test_epochs_restart_the_learner_and_keep_the_sizes():
    quantile = hf.Quantile(0.9, growth=2.0)
    player, state, restarts = hf.Filtered(hf.OGD(hf.Ball(1.0)), quantile), None, []
    state = player.init(1)
    for t in range(5000):
        state, _ = player.observe(state, Round(1.0, np.full(1, 0.5 + t % 7)))
        if quantile.restarts(state.memory):
            restarts.append(t + 1)
            assert state.learner.w[0] != 0.0  # what was learned is there until the next round begins
            assert player.predict(state)[0] == 0.0
    assert restarts == [1024, 2048, 4096]
    assert state.memory.memory.seen() == 5000


@pytest.mark.parametrize("parameters", [{"horizon": 100}, {"delta": 0.01}])
def test_a_horizon_or_a_delta_means_no_restarts(parameters):
    quantile = hf.Quantile(0.9, **parameters)
    state = quantile.init(1)
    for size in np.random.default_rng(0).uniform(size=500):
        state, _, _ = quantile.decide(state, size)
        assert not quantile.restarts(state)


def test_past_its_horizon_the_filter_goes_on():
    quantile = hf.Quantile(0.9, horizon=200, ranks="newsvendor")
    _, kept, _ = filtered(quantile, quantile.init(1), np.random.default_rng(0).uniform(size=2000))
    assert 0.8 < kept[1000:].mean() < 0.95


@pytest.mark.parametrize("kind", ["bernstein", "binomial", "newsvendor"])
def test_most_inliers_and_hardly_an_outlier_are_kept(kind):
    sizes = np.random.default_rng(5).pareto(1.0, 20_000)
    quantile = hf.Quantile(0.9, horizon=20_000, ranks=kind)
    _, kept, _ = filtered(quantile, quantile.init(1), sizes)
    inliers = sizes <= 9.0  # P(X <= 9) = 0.9
    assert kept[inliers].mean() > 0.96
    assert kept[~inliers].mean() < 0.002


@pytest.mark.parametrize(
    "parameters, complaint",
    [
        ({"p": 1.0}, "expected 0 < p < 1, got 1.0"),
        ({"p": 0.0}, "expected 0 < p < 1"),
        ({"p": 0.5, "horizon": 10, "delta": 0.1}, "not both"),
        ({"p": 0.5, "horizon": 0}, "at least 1: got 0"),
        ({"p": 0.5, "delta": 1.5}, "expected 0 < delta < 1, got 1.5"),
        ({"p": 0.5, "ranks": "gauss"}, "got 'gauss'"),
        ({"p": 0.5, "ranks": "newsvendor", "delta": 0.1}, "give a horizon instead"),
        ({"p": 0.5, "growth": 1.0}, "must exceed 1"),
    ],
)
def test_bad_configuration_is_refused_with_value_and_remedy(parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        hf.Quantile(**parameters)
