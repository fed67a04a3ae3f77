"""Theorems 6 and 7: with every filter and step, the mean regret is at least the lower bound."""

import functools
import itertools
import math

import numpy as np
import pytest
from samples import FILTERS, STEPS, thinned
from theorems.trials import mean_and_error

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import IidLowerBound, StronglyConvexLowerBound

K, SEEDS = 8, 80
PLAYERS = [(filter, step) for filter in FILTERS for step in STEPS]


@functools.cache
def coins(seed):
    return IidLowerBound(K, 2 * K, G=3.0, W=0.5, seed=seed)


@functools.cache
def bowls(seed, sigma=2.0, W=1.5):
    return StronglyConvexLowerBound(K, 2 * K, sigma, W, seed=seed)


def losses(filter, step, adversary):
    player = hf.Filtered(hf.OGD(adversary.domain, step), filter)
    return hf.play(player, adversary, keep=("losses", "sizes"), compiled=False)


@pytest.mark.parametrize(("filter", "step"), thinned(PLAYERS, 4), ids=repr)
def test_theorem_6_on_coins(filter, step):
    printed, ours, D, G = [], [], 1.0, 3.0
    for seed in range(SEEDS):
        adversary = coins(seed)
        g, u = adversary.stream.G[:, 0], adversary.comparator[0]
        terms = losses(filter, step, adversary).losses - g * u
        printed.append(terms[adversary.inliers].sum())
        wrong = np.flatnonzero(g * u > 0.0)[
            :K
        ]  # the outliers may be in all 2k rounds, not only in the first k
        ours.append(np.delete(terms, wrong).sum())
    mean, error = mean_and_error(printed)
    assert abs(mean - bounds.theorem_6_paper(D, G, K)) <= 4.0 * error  # for coins, an equation
    mean, error = mean_and_error(ours)
    assert mean >= bounds.theorem_6(D, G, K) - 4.0 * error


@pytest.mark.parametrize(("filter", "step"), thinned(PLAYERS, 4), ids=repr)
def test_theorem_7_on_bowls(filter, step):
    surplus = []
    for seed in range(SEEDS):
        adversary = bowls(seed)
        record = losses(filter, step, adversary)
        inliers = adversary.inliers
        G = record.size[inliers].max(initial=0.0)
        surplus.append(record.losses[inliers].sum() - bounds.theorem_7(G, 2.0, K))  # u loses nothing
    mean, error = mean_and_error(surplus)
    assert mean >= -4.0 * error


@pytest.mark.parametrize("k", [1, 5, 40])
def test_top_k_pays_between_the_lower_and_the_upper_bound(k):
    regrets = []
    for seed in range(SEEDS):
        adversary = IidLowerBound(k, 2 * k, seed=seed)
        record = hf.play(hf.Filtered(hf.OGD(adversary.domain), hf.TopK(k)), adversary, compiled=False)
        g, u = adversary.stream.G[:, 0], adversary.comparator[0]
        regrets.append(np.delete(record.losses - g * u, np.flatnonzero(g * u > 0.0)[:k]).sum())
    mean, error = mean_and_error(regrets)
    assert mean >= bounds.theorem_6(2.0, 1.0, k) - 4.0 * error
    assert max(regrets) <= bounds.corollary_2(2.0, 1.0, k, 2 * k)


# -- without outliers, over all sequences of signs, so without sampling error

FEW, W = 4, 1.5
SEQUENCES = np.array(list(itertools.product([-1.0, 1.0], repeat=FEW)))


def played(filter, step, y, loss):
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-W, W), step), filter)
    adversary = hf.Replay(np.ones((FEW, 1)), y, loss)
    return hf.play(player, adversary, keep=("losses",), compiled=False).losses


@pytest.mark.parametrize(("filter", "step"), PLAYERS, ids=repr)
def test_on_all_rounds_coins_cost_any_learner_the_root_of_t(filter, step):
    G = 2.0
    lost = [played(filter, step, G * coins, hf.Linear()).sum() for coins in SEQUENCES]
    regret = np.mean(lost + G * W * np.abs(SEQUENCES.sum(axis=1)))
    assert regret == pytest.approx(bounds.theorem_6_combined(2.0 * W, G, 0, FEW), rel=1e-12)
    assert regret >= W * G * math.sqrt(FEW / 2.0)


def expected_regret(losses_on):
    """The mean regret against the mean target, over signs with a bias drawn uniformly from [0, 1]."""
    total = 0.0
    for coins in SEQUENCES:
        ones = int((coins > 0.0).sum())
        chance = 1.0 / ((FEW + 1) * math.comb(FEW, ones))
        total += chance * (np.sum(losses_on(W * coins)) - 0.5 * FEW * np.var(W * coins))
    return total


@pytest.mark.parametrize(("filter", "step"), PLAYERS, ids=repr)
def test_on_all_rounds_bowls_cost_any_learner_a_logarithm(filter, step):
    regret = expected_regret(lambda y: played(filter, step, y, hf.Squared()))
    assert regret >= bounds.theorem_7_combined(2.0 * W, 1.0, 0, FEW) * (1.0 - 1e-12)


def test_laplaces_rule_attains_the_logarithm():
    def losses(y):
        n = np.arange(FEW)
        ones = np.concatenate([[0.0], np.cumsum(y > 0.0)[:-1]])
        return 0.5 * (W * (2.0 * (ones + 1.0) / (n + 2.0) - 1.0) - y) ** 2

    assert expected_regret(losses) == pytest.approx(
        bounds.theorem_7_combined(2.0 * W, 1.0, 0, FEW), rel=1e-12
    )
