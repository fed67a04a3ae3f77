"""Algorithm 1 against sorting everything, and its lemmas against all sets of inliers."""

import math

import numpy as np
import pytest
from equivalents import finite, inlier_sets, topk_thresholds
from hypothesis import given
from hypothesis import strategies as st
from laws import filtered
from samples import STREAMS

import holdfast as hf

ugly = st.sampled_from([0.0, 5e-324, 1e-310, 1.0, 2.0, 2.0, 1e308, math.nan, math.inf]) | st.floats(0, 1e308)
coarse = st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 8.0, 1e9]), max_size=10)


@given(st.lists(ugly, max_size=60), st.integers(0, 8), st.sampled_from([1.25, 2.0, 3.0]))
def test_the_threshold_is_slack_times_the_k_plus_first_largest(sizes, k, slack):
    thresholds, kept, _ = filtered(hf.TopK(k, slack), hf.TopK(k, slack).init(1), sizes)
    measured = np.isfinite(sizes)
    expected = topk_thresholds(finite(sizes), k, slack)
    assert np.array_equal(thresholds[measured], expected)
    assert np.array_equal(kept[measured], np.array(finite(sizes)) <= expected)
    assert not kept[~measured].any()


@pytest.mark.parametrize("stream", list(STREAMS))
def test_k_0_keeps_every_finite_round(stream):
    _, kept, _ = filtered(hf.TopK(0), hf.TopK(0).init(1), STREAMS[stream])
    assert np.array_equal(kept, np.isfinite(STREAMS[stream]))


def test_after_a_change_of_scale_it_skips_k_rounds_and_resumes():
    sizes = np.repeat([1.0, 100.0], 500)
    _, kept, _ = filtered(hf.TopK(7), hf.TopK(7).init(1), sizes)
    assert np.flatnonzero(~kept).tolist() == [*range(7), *range(500, 507)]


def test_a_first_spike_does_not_mask_a_second():
    sizes = np.ones(200)
    sizes[100], sizes[120] = 1e6, 4e5
    _, kept, _ = filtered(hf.TopK(2), hf.TopK(2).init(1), sizes)
    assert np.flatnonzero(~kept).tolist() == [0, 1, 100, 120]


@given(coarse, st.integers(0, 3), st.sampled_from([1.5, 2.0, 3.0]))
def test_lemmas_a1_a2_a3_hold_for_every_set_of_inliers(sizes, k, c):
    sizes = np.array(sizes)
    thresholds, kept, _ = filtered(hf.TopK(k, c), hf.TopK(k, c).init(1), sizes)
    for a in set(sizes) - {0.0}:  # A2: at most k skipped rounds between any a / c and a
        assert np.sum(~kept & (a / c < sizes) & (sizes <= a)) <= k
    for inliers in inlier_sets(len(sizes), np.full(len(sizes), k)):
        G = sizes[inliers].max(initial=0.0)
        assert (thresholds <= c * G).all()  # A1
        assert (sizes[kept] <= c * G).all()
        x = np.sort(sizes[inliers])[::-1]
        o = sizes[kept & ~inliers & (sizes > 0)]  # A3, in the order of time
        assert len(x) >= len(o)
        assert (x[: len(o)][::-1] >= o / c * (1 - 1e-15)).all()
        top = x[:k].sum()  # and what follows from A2 and A3, the two terms of Theorem 1
        assert sizes[inliers & ~kept].sum() <= c / (c - 1) * top * (1 + 1e-12)
        assert o.sum() <= c * x[: len(o)].sum() * (1 + 1e-12)


@pytest.mark.parametrize("k", [-1, -100])
def test_a_negative_k_is_refused(k):
    with pytest.raises(ValueError, match=f"cannot be negative: got {k}"):
        hf.TopK(k)


@pytest.mark.parametrize("slack", [1.0, 0.0, -2.0, math.nan, math.inf])
def test_a_slack_without_guarantee_is_refused(slack):
    with pytest.raises(ValueError, match="must exceed 1"):
        hf.TopK(3, slack)
