"""Theorem W: filters with a window, for every 𝒮 that leaves out at most k_t of the rounds remembered.

B is the learner's true regret on the kept rounds, so that only the filter is tested.
"""

import functools
import math

import numpy as np
import pytest
from equivalents import inlier_sets, remembered, window_budgets, windowed_inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import budgets, in_order, played, slacks, streams

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Chaser

D, BALL = 2.0, hf.Ball(1.0)


def blocks(rounds, window):
    return [slice(start, min(start + window, rounds)) for start in range(0, rounds, window)]


def holds(record, inliers, window, k, slack, error=0.0):
    """W1, W2 and W3 for this 𝒮, with the budgets k of all rounds."""
    sizes, kept, G, K, before = record.size, record.kept, [], [], 0.0
    band = slack / (1.0 + error)
    factor = band / (band - 1.0)
    for block in blocks(len(sizes), window):
        largest = sizes[block][inliers[block]].max(initial=0.0)
        G, K = [*G, largest], [*K, int(k[block][-1])]
        if not (sizes[block][kept[block]] <= slack * max(before, largest)).all():  # W1
            return False
        lost = sizes[block][inliers[block] & ~kept[block]]
        if not in_order(lost.sum(), factor * K[-1] * largest, scale=largest):  # W2
            return False
        before = largest
    B, regret = (hf.regret.linearised_regret(record, which) for which in (record.kept, inliers))
    bound = bounds.theorem_w(B, D, G, K, slack, error)
    return in_order(regret, bound, scale=D * max(G, default=0.0) * len(sizes))


def bands_hold(record, window, k, band):
    """W2, for any a: at most K_b skipped rounds of a block have sizes in (a / c, a]."""
    for block in blocks(len(record.size), window):
        skipped = record.size[block][~record.kept[block]]
        for a in set(skipped) - {0.0}:
            if np.sum((a / band < skipped) & (skipped <= a)) > k[block][-1]:
                return False
    return True


@settings(max_examples=100, deadline=None)
@given(streams(rounds=9, dim=2), st.integers(0, 2), st.integers(1, 3), slacks)
def test_it_holds_for_topk_and_every_set_of_inliers(stream, k, longer, slack):
    window, rounds = k + longer, len(stream)
    record = played(hf.Filtered(hf.OGD(BALL), hf.TopK(k, slack, window)), hf.Gradients(stream))
    budget = np.full(rounds, k)
    assert bands_hold(record, window, budget, slack)
    for inliers in windowed_inlier_sets(rounds, window, budget):
        assert holds(record, inliers, window, budget, slack)


@settings(max_examples=100, deadline=None)
@given(
    streams(rounds=9, dim=2),
    st.sampled_from([(0.05, 0.1), (0.1, 0.9), (0.3, 0.9)]),
    st.integers(2, 5),
    st.sampled_from([0, 2]),
    slacks,
    st.booleans(),
)
def test_it_holds_for_topshare_and_every_set_of_inliers(stream, chances, window, patience, slack, exact):
    rounds, error = len(stream), 0.0 if exact else 2.0**-7
    topshare = hf.TopShare(*chances, slack, exact, window, patience)
    record = played(hf.Filtered(hf.OGD(BALL), topshare), hf.Gradients(stream))
    budget = window_budgets(rounds, window, *chances, patience)
    assert bands_hold(record, window, budget, slack / (1.0 + error))
    for inliers in windowed_inlier_sets(rounds, window, budget):
        assert holds(record, inliers, window, budget, slack, error)


def test_it_is_nearly_attained():
    """Sizes just above the threshold, k at each, halving: the skipped ones sum to almost 2 K G in a block."""
    k, window = 3, 60
    sizes = np.repeat(0.5 ** np.arange(20.0), k)[::-1] * 1.0000001 ** np.arange(60.0)
    record = played(hf.Filtered(hf.OGD(BALL), hf.TopK(k, window=window)), hf.Gradients(sizes[:, None]))
    assert holds(record, np.ones(60, bool), window, np.full(60, k), 2.0)
    assert sizes[~record.kept].sum() > 0.95 * 2.0 * k * sizes.max()


# -- sizes that drift


T, WINDOW, SHARE = 480, 60, 0.05
t = np.arange(T)
SCALES = {
    "a rise": np.where(t < 240, 1.0, 100.0),
    "a fall": np.where(t < 240, 1.0, 0.01),
    "a ramp": 1.01**t,
    "a slope": 0.99**t,
    "seasons": 10.0 ** np.sin(2 * math.pi * t / 200),
    "alternating blocks": np.where(t // WINDOW % 2, 30.0, 1.0),
    "blocks that alternate a little later": np.where((t + 7) // WINDOW % 2, 30.0, 1.0),
}


@functools.cache
def drifting_filters():
    """Filters with their budgets, and the error of their sketch."""
    share, patient = (hf.TopShare(SHARE, window=WINDOW, patience=patience) for patience in (0, 20))
    budget, larger = (window_budgets(T, WINDOW, SHARE, 1e-3, patience) for patience in (0, 20))
    return (
        (hf.TopK(8, window=WINDOW), np.full(T, 8), 0.0),
        (share, budget, 2.0**-7),
        (patient, larger, 2.0**-7),
    )


def outlying(sizes, how, rng):
    """What takes the place of the inliers' gradients in the rounds that are outliers."""
    return {
        "huge": rng.choice([-1e300, 1e300], len(sizes)),
        "just larger": -1.99 * sizes,
        "of the largest scale": -np.full(len(sizes), sizes.max()),
        "gathered": rng.choice([-1e6, 1e6], len(sizes)),
    }[how]


@pytest.mark.parametrize("how", ["huge", "just larger", "of the largest scale", "gathered"])
@pytest.mark.parametrize("name", SCALES)
def test_it_holds_when_sizes_drift(name, how):
    rng = np.random.default_rng(13)
    g = SCALES[name] * rng.uniform(0.3, 1.0, T) * rng.choice([-1.0, 1.0], T, p=[0.3, 0.7])
    for filter, budget, error in drifting_filters():
        outliers = chosen(budget, how == "gathered", rng)
        stream = np.where(outliers, outlying(np.abs(g), how, rng), g)[:, None]
        player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), filter)
        record = played(player, hf.Gradients(stream))
        assert bands_hold(record, WINDOW, budget, 2.0 / (1.0 + error))
        assert holds(record, ~outliers, WINDOW, budget, 2.0, error)


def chosen(budget, gathered, rng):
    """As many outliers as the theorem allows, at random or at the ends of blocks."""
    outliers, firsts = np.zeros(T, bool), np.array([remembered(s, WINDOW) for s in range(T)])
    order = range(T - 1, -1, -1) if gathered else rng.permutation(T)
    for place in order:
        outliers[place] = True
        count = np.concatenate([[0], np.cumsum(outliers)])
        if (count[1:] - count[firsts] > budget).any():
            outliers[place] = False
    return outliers


@pytest.mark.parametrize("name", ["a rise", "a fall", "seasons"])
def test_it_holds_against_an_adversary_that_computes_the_threshold(name):
    """`Chaser` has k outliers in all, so in any window at most as many."""
    k, g = 8, SCALES[name] * np.random.default_rng(14).uniform(0.3, 1.0, T)
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.TopK(k, window=WINDOW))
    record = played(player, Chaser(hf.Gradients(g[:, None]), k))
    assert holds(record, record.state[1].inliers, WINDOW, np.full(T, k), 2.0)


def test_with_one_block_it_is_theorem_g():
    for k, slack, error in ((3, 2.0, 0.0), (10, 4.5, 2.0**-7)):
        one = bounds.theorem_w(1.0, D, [7.0], [k], slack, error)
        assert one == pytest.approx(bounds.theorem_g(1.0, D, 7.0, k, slack, error))


# -- certificates


@settings(max_examples=40, deadline=None)
@given(streams(rounds=8, dim=2), budgets, st.sampled_from(["topk", "topshare", "quantile"]))
def test_certificates_are_valid_with_a_window(stream, k, kind):
    filter = {
        "topk": hf.TopK(1, window=2),
        "topshare": hf.TopShare(0.1, 0.9, window=3),
        "quantile": hf.Quantile(0.5, delta=0.4, window=2),
    }[kind]
    record = played(hf.Filtered(hf.OGD(BALL), filter), hf.Gradients(stream))
    proof = record.certificate(k)
    for inliers in inlier_sets(len(stream), np.full(len(stream), k)):
        G = record.size[inliers].max(initial=0.0)
        regret, bound = hf.regret.linearised_regret(record, inliers), proof.bounds[proof.sizes >= G][-1]
        assert in_order(regret, bound, scale=9 * G * len(stream))
