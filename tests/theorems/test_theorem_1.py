"""Theorem 1: with Top-k, R(u, 𝒮) ≤ B + (c + c/(c-1)) D G(𝒮) k for every 𝒮 with at most k outliers.

Here B is the learner's actual regret on the kept rounds, so that only the filter is tested.
"""

import numpy as np
import pytest
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import DOMAINS, NORMS
from theorems.trials import (
    POISONERS,
    budgets,
    clean,
    in_order,
    levels,
    played,
    slacks,
    streams,
    worst_up_to,
)

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Chaser, Contrarian, Tight

LINE = hf.domains.Interval(-1.0, 1.0)


def holds(record, inliers, k, D, slack=2.0, regret=None):
    """The theorem for this 𝒮, from its tightest form to the printed one."""
    regret = hf.regret.linearised_regret(record, inliers) if regret is None else regret
    B, sizes = hf.regret.linearised_regret(record, record.kept), record.size[inliers]
    G = sizes.max(initial=0.0)
    forms = [
        bounds.theorem_1_hindsight(B, D, record.size, record.kept, inliers),
        bounds.theorem_1_sizes(B, D, sizes, k, slack),
        bounds.theorem_1(B, D, G, k, slack),
    ]
    printed = [bounds.theorem_1_paper(B, D, G, k)] if slack == 2.0 else []
    small = (record.size[record.kept] <= slack * G).all()  # Lemma A1
    return small and in_order(regret, *forms, *printed, scale=D * G * len(record.size))


@settings(max_examples=120, deadline=None)
@given(streams(rounds=8, dim=2), budgets, slacks)
def test_it_holds_for_every_set_of_inliers(stream, k, slack):
    record = played(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k, slack)), hf.Gradients(stream))
    for inliers in inlier_sets(len(stream), np.full(len(stream), k)):
        assert holds(record, inliers, k, 2.0, slack)


@settings(max_examples=50, deadline=None)
@given(streams(rounds=100, dim=1), st.integers(1, 8), slacks)
def test_it_holds_for_the_worst_inliers_of_each_size_in_longer_streams(stream, k, slack):
    record = played(hf.Filtered(hf.OGD(LINE), hf.TopK(k, slack)), hf.Gradients(stream))
    for G in levels(record, k):
        worst = worst_up_to(record, G, k)
        assert worst.exact
        assert holds(record, worst.inliers, k, 2.0, slack, worst.regret)


@settings(max_examples=120, deadline=None)
@given(streams(rounds=7, dim=2), st.integers(0, 2), st.sampled_from(NORMS), st.sampled_from(DOMAINS))
def test_it_holds_in_every_norm_with_the_diameter_in_that_norm(stream, k, norm, domain):
    record = played(hf.Filtered(hf.OGD(domain), hf.TopK(k), norm=norm), hf.Gradients(stream))
    for inliers in inlier_sets(len(stream), np.full(len(stream), k)):
        assert holds(record, inliers, k, domain.diameter(norm, 2))


@pytest.mark.parametrize("k", [2, 20, 60])
def test_its_4_is_attained(k):
    tight = Tight(k, G=3.0, D=5.0)
    record = played(hf.Filtered(hf.OGD(tight.domain), hf.TopK(k)), tight)
    regret = hf.regret.linearised_regret(record, tight.inliers, tight.comparator)
    assert holds(record, tight.inliers, k, 5.0, regret=regret)
    B = bounds.ogd_hindsight(5.0, record.size[record.kept])
    assert 4.0 * 5.0 * 3.0 * k <= regret <= bounds.theorem_1(B, 5.0, 3.0, k)


@pytest.mark.parametrize("slack", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_holds_against_outliers_just_below_the_threshold(seed, slack):
    k, rng = 15, np.random.default_rng(seed)
    stream = hf.Gradients(rng.standard_normal((400, 1)) + rng.uniform(0.0, 1.0))
    chaser = Chaser(stream, k, slack)
    record = played(hf.Filtered(hf.OGD(LINE), hf.TopK(k, slack)), chaser)
    inliers = record.state[1].inliers
    assert record.kept[~inliers].all() and (~inliers).sum() == k
    assert holds(record, inliers, k, 2.0, slack)
    for G in levels(record, k):
        worst = worst_up_to(record, G, k)
        assert holds(record, worst.inliers, k, 2.0, slack, worst.regret)


@pytest.mark.parametrize("dim", [1, 3])
def test_it_holds_against_adaptive_adversaries(dim):
    k, contrarian = 10, Contrarian(300, dim, G=2.0)
    player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k))
    for adversary in (contrarian, Chaser(contrarian, k)):
        record = played(player, adversary)
        for G in levels(record, k):
            worst = worst_up_to(record, G, k)
            assert holds(record, worst.inliers, k, 2.0, regret=worst.regret)


@pytest.mark.parametrize("loss", [hf.Logistic(), hf.Squared()], ids=repr)
@pytest.mark.parametrize("poisoner", POISONERS)
def test_it_holds_on_poisoned_data(poisoner, loss):
    k, u = 25, np.array([1.0, 0.0, 0.0])
    poisoned = poisoner(clean(loss, seed=1), k, seed=2)
    record = played(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(k)), poisoned)
    assert holds(record, poisoned.inliers, k, 2.0)
    linear = hf.regret.linearised_regret(record, poisoned.inliers, u)
    assert in_order(hf.robust_regret(record, poisoned.inliers, u), linear, scale=linear)


def test_without_the_filter_one_outlier_breaks_it():
    g = np.ones((1000, 1))
    g[0] = -1e6
    inliers = g[:, 0] > 0.0
    filtered, plain = (
        hf.regret.linearised_regret(played(hf.Filtered(hf.OGD(LINE), rule), hf.Gradients(g)), inliers)
        for rule in (hf.TopK(1), hf.Everything())
    )
    bound = bounds.theorem_1(bounds.ogd(2.0, 2.0, 1000), 2.0, 1.0, k=1)
    assert filtered <= bound < plain
