"""Corollary 2: Top-k with OGD and adaptive steps, on convex losses, in all forms of its bound."""

import numpy as np
import pytest
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import (
    POISONERS,
    budgets,
    clean,
    has_a_square,
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

BALL = hf.Ball(1.0)


def holds(record, inliers, k, D=2.0, regret=None):
    """The corollary for this 𝒮: the regret and all forms of the bound, in order."""
    regret = hf.regret.linearised_regret(record, inliers) if regret is None else regret
    sizes, T = record.size[inliers], len(record.size)
    G, squares = float(sizes.max(initial=0.0)), float((sizes**2).sum())
    hindsight = bounds.corollary_2_hindsight(D, record.size, record.kept, inliers)
    from_sizes = bounds.corollary_2_sizes(D, sizes, k)
    from_squares = bounds.corollary_2_squares(D, G, k, squares)
    printed = bounds.corollary_2_squares_paper(D, G, k, squares)
    paper = bounds.corollary_2_paper(D, G, k, T)
    return in_order(
        regret, hindsight, from_sizes, from_squares, printed, paper, scale=D * G * T
    ) and in_order(hindsight, bounds.corollary_2(D, G, k, T), paper, scale=D * G * T)


@settings(max_examples=120, deadline=None)
@given(streams(rounds=8, dim=2), budgets)
def test_it_holds_in_all_its_forms_for_every_set_of_inliers(stream, k):
    record = played(hf.Filtered(hf.OGD(BALL), hf.TopK(k)), hf.Gradients(stream))
    for inliers in inlier_sets(len(stream), np.full(len(stream), k)):
        if has_a_square(record.size[inliers].max(initial=0.0)):
            assert holds(record, inliers, k)


@settings(max_examples=40, deadline=None)
@given(streams(rounds=100, dim=1), st.integers(1, 8))
def test_it_holds_for_the_worst_inliers_of_longer_streams(stream, k):
    record = played(hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.TopK(k)), hf.Gradients(stream))
    for G in levels(record, k):
        worst = worst_up_to(record, G, k)
        assert holds(record, worst.inliers, k, regret=worst.regret)


@settings(max_examples=40, deadline=None)
@given(streams(rounds=60, dim=1), st.integers(1, 4), slacks)
def test_from_sizes_it_holds_at_any_slack(stream, k, slack):
    record = played(
        hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), hf.TopK(k, slack)), hf.Gradients(stream)
    )
    for G in levels(record, k):
        worst = worst_up_to(record, G, k)
        bound = bounds.corollary_2_sizes(2.0, record.size[worst.inliers], k, slack)
        assert in_order(worst.regret, bound, scale=2.0 * G * len(stream))


@pytest.mark.parametrize("G", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("k", [0, 10])
def test_it_holds_against_adaptive_adversaries(k, G):
    contrarian = Contrarian(300, dim=2, G=G)
    for adversary in (contrarian, Chaser(contrarian, max(k, 1))):
        record = played(hf.Filtered(hf.OGD(BALL), hf.TopK(max(k, 1))), adversary)
        for level in levels(record, k):
            worst = worst_up_to(record, level, k)
            assert holds(record, worst.inliers, max(k, 1), regret=worst.regret)


@pytest.mark.parametrize("loss", [hf.Logistic(), hf.Hinge(), hf.Absolute()], ids=repr)
@pytest.mark.parametrize("poisoner", POISONERS)
def test_it_holds_on_poisoned_data(poisoner, loss):
    k = 20
    poisoned = poisoner(clean(loss, seed=3), k, seed=4)
    record = played(hf.Filtered(hf.OGD(BALL), hf.TopK(k)), poisoned)
    assert holds(record, poisoned.inliers, k)
    for u in ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]):
        assert holds(record, poisoned.inliers, k, regret=hf.robust_regret(record, poisoned.inliers, u))


def test_the_tight_sequence_nearly_attains_it():
    tight = Tight(k=300)
    record = played(hf.Filtered(hf.OGD(tight.domain), hf.TopK(300)), tight)
    regret = hf.regret.linearised_regret(record, tight.inliers, tight.comparator)
    assert holds(record, tight.inliers, 300, D=1.0, regret=regret)
    assert regret >= 0.9 * bounds.corollary_2_hindsight(1.0, record.size, record.kept, tight.inliers)
