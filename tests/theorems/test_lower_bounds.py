"""Theorems 6 and 7: whatever we ship, no filter and no step does better than the lower bounds, on average."""

import functools

import numpy as np
import pytest
from samples import FILTERS, STEPS
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


@pytest.mark.parametrize(("filter", "step"), PLAYERS, ids=repr)
def test_theorem_6_on_coins(filter, step):
    printed, ours, D, G = [], [], 1.0, 3.0
    for seed in range(SEEDS):
        adversary = coins(seed)
        g, u = adversary.stream.G[:, 0], adversary.comparator[0]
        terms = losses(filter, step, adversary).losses - g * u
        printed.append(terms[adversary.inliers].sum())
        wrong = np.flatnonzero(g * u > 0.0)[:K]  # k of 2k rounds may be left out, not only of the first k
        ours.append(np.delete(terms, wrong).sum())
    mean, error = mean_and_error(printed)
    assert abs(mean - bounds.theorem_6_paper(D, G, K)) <= 4.0 * error  # for coins, an equation
    mean, error = mean_and_error(ours)
    assert mean >= bounds.theorem_6(D, G, K) - 4.0 * error


@pytest.mark.parametrize(("filter", "step"), PLAYERS, ids=repr)
def test_theorem_7_on_bowls(filter, step):
    surplus = []
    for seed in range(SEEDS):
        adversary = bowls(seed)
        record = losses(filter, step, adversary)
        inliers = adversary.inliers
        G = record.sizes[inliers].max(initial=0.0)
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
