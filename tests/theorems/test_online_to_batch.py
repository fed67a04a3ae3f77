"""The online-to-batch example: the risk of the mean of the w_t, for features of infinite variance."""

import functools

import numpy as np
import pytest
from samples import slow
from theorems.trials import mean_and_error, played

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import HeavyTails


@functools.cache
def learned(gamma, T, dim=1, seeds=12):
    """Excess risk on all data, outliers included, and regret on the inliers, against the true weights."""
    found = []
    for seed in range(seeds):
        tails = HeavyTails(gamma, T, dim, seed)
        player = hf.Filtered(hf.OGD(tails.domain), hf.Quantile(tails.p, horizon=T), on=hf.Features())
        record = played(player, tails)
        best = tails.stream.loss
        truth = [best.value(z, y) for z, y in zip(tails.stream.X @ tails.truth, tails.stream.y, strict=True)]
        regret = (record.losses - truth)[tails.inliers].sum()
        found.append([tails.risk(record.average) - tails.risk(tails.truth), regret])
    return np.array(found).T


@pytest.mark.parametrize("gamma", [0.3, 0.9])
@pytest.mark.parametrize("T", [100, 400, slow(1600)])
def test_the_excess_risk_is_below_its_bound(gamma, T):
    excess, regrets = learned(gamma, T)
    mean, error = mean_and_error(excess)
    assert excess.min() >= -1e-9 and mean <= bounds.heavy_tails_example(gamma, T) + 4.0 * error
    tail = bounds.pareto_tail(gamma, 1.0 - T**-0.5)
    mean, error = mean_and_error(excess - [bounds.heavy_tails(R, 2.0, tail, T) for R in regrets])
    assert mean <= 4.0 * error


@pytest.mark.parametrize("gamma", [0.3, 0.9])
def test_the_regret_is_below_that_of_proposition_9(gamma):
    T, D = 400, 2.0
    p = 1.0 - T**-0.5
    X = bounds.pareto_quantile(gamma, p)
    mean, error = mean_and_error(learned(gamma, T)[1])
    assert mean <= bounds.proposition_9(bounds.ogd(D, X, p * T), D, X, p, T) + 4.0 * error


def test_more_rounds_learn_more():
    assert learned(0.9, 1600)[0].mean() < learned(0.9, 100)[0].mean()


def test_it_holds_in_two_dimensions():
    gamma, T = 0.5, 400
    excess, regrets = learned(gamma, T, dim=2)
    D, tail = 2.0 * np.sqrt(2.0), bounds.pareto_tail(gamma, 1.0 - T**-0.5)
    mean, error = mean_and_error(excess - [bounds.heavy_tails(R, D, tail, T) for R in regrets])
    assert mean <= 4.0 * error
