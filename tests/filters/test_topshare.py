"""Top-share against sorting everything with scipy's binomial, and Theorem G against all sets of inliers."""

import bisect
import math

import numpy as np
import pytest
from equivalents import finite, inlier_sets, topshare_thresholds
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import filtered

import holdfast as hf
from holdfast.filters.budget_schedule import BudgetSchedule

ugly = st.sampled_from([0.0, 1.0, 1.0, 3.0, 1e-300, 1e308, math.nan, math.inf]) | st.floats(1e-300, 1e308)
coarse = st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 8.0, 1e9]), max_size=9)


@settings(max_examples=50)
@given(st.lists(ugly, max_size=60), st.sampled_from([0.02, 0.2, 0.6]), st.sampled_from([1e-3, 0.5]))
def test_the_exact_filter_is_sorting_with_the_exact_budget(sizes, share, delta):
    topshare = hf.TopShare(share, delta, exact=True)
    thresholds, kept, _ = filtered(topshare, topshare.init(1), sizes)
    measured = np.isfinite(sizes)
    expected = topshare_thresholds(finite(sizes), share, delta, slack=2.0)
    assert np.array_equal(thresholds[measured], expected)
    assert np.array_equal(kept, measured & (np.nan_to_num(sizes, posinf=0) <= thresholds))


@settings(max_examples=50)
@given(st.lists(ugly, max_size=60), st.sampled_from([0.02, 0.2, 0.6]))
def test_the_histogram_is_lower_by_less_than_a_128th(sizes, share):
    exact, fast = hf.TopShare(share, exact=True), hf.TopShare(share)
    a, _, _ = filtered(exact, exact.init(1), finite(sizes))
    b, _, _ = filtered(fast, fast.init(1), finite(sizes))
    assert (b <= a).all()
    assert ((a < b * (1 + 1 / 128)) | (a == 0) | np.isinf(a)).all()


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.3]), st.booleans())
def test_what_is_kept_is_what_the_latest_threshold_keeps(seed, share, exact):
    """The threshold is not looked up while sizes stay below the last one: growing, falling, outliers."""
    rng, slack = np.random.default_rng(seed), (1.5, 2.0, 4.5)[seed % 3]
    trend = np.exp(np.cumsum(0.02 * rng.standard_normal(3000)) + rng.uniform(-1e-3, 1e-3) * np.arange(3000))
    sizes = (
        trend
        * rng.gamma(2.0, size=3000)
        * np.where(rng.random(3000) < share / 2, 10.0 ** rng.uniform(0, 9), 1.0)
    )
    topshare = hf.TopShare(share, slack=slack, exact=exact)
    thresholds, kept, _ = filtered(topshare, topshare.init(1), sizes)
    schedule, seen = BudgetSchedule.at_start(), []
    for n, size in enumerate(sizes, start=1):
        bisect.insort(seen, size)
        rank = n - schedule.at(n, share, 6.0 * topshare.delta / math.pi**2)
        latest = (
            slack * (seen[rank - 1] if exact or rank < 1 else bucket(seen[rank - 1])) if rank > 0 else 0.0
        )
        assert kept[n - 1] == (size <= latest)
        assert thresholds[n - 1] <= latest if kept[n - 1] else thresholds[n - 1] == latest


def bucket(size):
    """The lower edge of its bucket in a histogram."""
    _, value = hf.sketches.LogHistogram.empty().push(size).at(1)
    return value


def test_the_budget_never_shrinks_and_outgrows_the_share_slowly():
    schedule = BudgetSchedule.at_start()
    budgets = [schedule.at(t, 0.01, 6e-3 / math.pi**2) for t in range(1, 100_001)]
    assert (np.diff(budgets) >= 0).all()
    assert 1000 < budgets[-1] < 1300


@settings(max_examples=150)
@given(
    coarse, st.sampled_from([(0.1, 0.9), (0.3, 0.9), (0.05, 0.2)]), st.sampled_from([1.5, 2.0]), st.booleans()
)
def test_theorem_g_holds_for_every_set_of_inliers_within_the_budget(sizes, share_delta, c, exact):
    sizes = np.array(sizes)
    topshare = hf.TopShare(*share_delta, slack=c, exact=exact)
    thresholds, kept, _ = filtered(topshare, topshare.init(1), sizes)
    schedule, level = BudgetSchedule.at_start(), 6 * topshare.delta / math.pi**2
    budgets = [schedule.at(t, topshare.share, level) for t in range(1, len(sizes) + 1)]
    k = budgets[-1] if budgets else 0
    band = c if exact else c / (1 + 1 / 128)
    for a in set(sizes) - {0.0}:
        assert np.sum(~kept & (a / band < sizes) & (sizes <= a)) <= k
    for inliers in inlier_sets(len(sizes), np.array(budgets)):
        G = sizes[inliers].max(initial=0.0)
        assert (thresholds <= c * G).all()
        assert (sizes[kept] <= c * G).all()
        top = np.sort(sizes[inliers])[::-1][:k].sum()
        assert sizes[inliers & ~kept].sum() <= band / (band - 1) * top * (1 + 1e-12)
        assert sizes[kept & ~inliers].sum() <= c * G * k


def test_it_forgets_only_a_handful_of_first_rounds():
    topshare = hf.TopShare(0.01)
    _, kept, _ = filtered(topshare, topshare.init(1), np.random.default_rng(0).uniform(0.6, 1.0, 20_000))
    assert np.sum(~kept) < 10


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 50, math.nan])
def test_a_share_outside_0_and_1_is_refused(share):
    with pytest.raises(ValueError, match="expected 0 < share < 1"):
        hf.TopShare(share)


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_a_delta_that_is_no_probability_is_refused(delta):
    with pytest.raises(ValueError, match="expected 0 < delta < 1"):
        hf.TopShare(0.1, delta)
