"""Corollary 3: Top-k with OGD and steps 1/(σn), on strongly convex losses.

Any adversary with gradients g_t defines strongly convex losses f_t(u) = ⟨g_t, u - w_t⟩ + σ/2 ‖u - w_t‖². They
have the gradient g_t at w_t and their minimum at w_t - g_t/σ. The tests use such quadratics.
"""

import numpy as np
import pytest
from equivalents import inlier_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.trials import POISONERS, budgets, has_a_square, in_order, levels, played, slacks, streams

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Chaser, Contrarian, StronglyConvexLowerBound
from holdfast.regret import gradients_at, largest_size

BALL = hf.Ball(1.0)
sigmas = st.sampled_from([0.5, 1.0, 4.0])


def quadratics(record, sigma, inliers, u):
    """The regret against u on 𝒮, and the sizes of the gradients at u."""
    off = record.iterates - u
    excess = record.products - record.gradients @ u - sigma / 2.0 * (off**2).sum(axis=1)
    return excess[inliers].sum(), np.array([hf.norms.L2().of(g) for g in record.gradients - sigma * off])


def best(record, sigma, inliers):
    """All quadratics have the same shape, so the best u is the projection of the mean of their minimisers."""
    lowest = (record.iterates - record.gradients / sigma)[inliers]
    return BALL.project(lowest.mean(axis=0)) if len(lowest) > 0 else np.zeros(record.iterates.shape[1])


def holds(record, sigma, inliers, k, slack=2.0):
    T, G = len(record.size), record.size[inliers].max(initial=0.0)
    for u in (best(record, sigma, inliers), np.zeros(record.iterates.shape[1])):
        regret, at_u = quadratics(record, sigma, inliers, u)
        b = at_u[record.size <= slack * G].max(initial=0.0)
        forms = [
            bounds.corollary_3_hindsight(sigma, record.size, record.kept, inliers, at_u),
            bounds.corollary_3(G, b, sigma, k, T, slack),
        ]
        printed = [bounds.corollary_3_paper(G, b, sigma, k, T)] if slack == 2.0 else []
        if not in_order(regret, *forms, *printed, scale=(G + sigma) * T):
            return False
    return True


def player(sigma, k, slack=2.0, domain=BALL):
    return hf.Filtered(hf.OGD(domain, hf.StronglyConvex(sigma)), hf.TopK(k, slack))


@settings(max_examples=120, deadline=None)
@given(streams(rounds=8, dim=2), budgets, sigmas, slacks)
def test_it_holds_for_every_set_of_inliers(stream, k, sigma, slack):
    record = played(player(sigma, k, slack), hf.Gradients(stream))
    for inliers in inlier_sets(len(stream), np.full(len(stream), k)):
        if has_a_square(record.size[inliers].max(initial=0.0)):
            assert holds(record, sigma, inliers, k, slack)


@settings(max_examples=80, deadline=None)
@given(streams(rounds=100, dim=1), st.integers(1, 6), sigmas)
def test_it_holds_in_longer_streams_with_the_largest_left_out(stream, k, sigma):
    record = played(player(sigma, k), hf.Gradients(stream))
    for G in levels(record, k):
        assert holds(record, sigma, record.size <= G, k)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_it_holds_against_adaptive_adversaries(sigma):
    k, contrarian = 10, Contrarian(300, dim=2, G=2.0)
    assert holds(played(player(sigma, k), contrarian), sigma, contrarian.inliers, k)
    record = played(player(sigma, k), Chaser(contrarian, k))
    for inliers in (record.state[1].inliers, contrarian.inliers):
        assert holds(record, sigma, inliers, k)


@pytest.mark.parametrize("poisoner", POISONERS)
def test_it_holds_on_poisoned_data(poisoner):
    """½(wx - y)² with |x| ≥ 1 is 1-strongly convex, poisoned or not."""
    rng, k = np.random.default_rng(5), 20
    X = rng.choice([-1.0, 1.0], (400, 1))
    poisoned = poisoner(hf.Replay(X, 0.5 * X[:, 0] + rng.normal(0.0, 0.1, 400), hf.Squared()), k)
    record = played(player(1.0, k), poisoned)
    G = largest_size(record, poisoned.inliers)
    for u in np.linspace(-1.0, 1.0, 9)[:, None]:
        b = gradients_at(record, u, poisoned.inliers) - 2.0 * G
        regret = hf.robust_regret(record, poisoned.inliers, u)
        ours, paper = bounds.corollary_3(G, b, 1.0, k, 400), bounds.corollary_3_paper(G, b, 1.0, k, 400)
        assert in_order(regret, ours, paper)


@pytest.mark.parametrize("seed", range(5))
def test_it_holds_against_the_adversary_of_the_lower_bound(seed):
    k, sigma = 20, 2.0
    adversary = StronglyConvexLowerBound(k, 200, sigma, W=1.0, seed=seed)
    record = played(player(sigma, k, domain=adversary.domain), adversary)
    assert holds(record, sigma, adversary.inliers, k)
