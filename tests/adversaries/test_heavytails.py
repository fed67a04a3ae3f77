"""The tails have the given exponent, and `risk` is the mean loss."""

import math

import numpy as np
import pytest

import holdfast as hf
from holdfast.adversaries import HeavyTails


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9])
def test_the_hill_estimator_finds_the_exponent(gamma):
    sizes = np.sort(np.abs(HeavyTails(gamma, rounds=50_000, dim=3, seed=1).stream.X).max(axis=1))
    m = 2000
    hill = 1.0 / np.log(sizes[-m:] / sizes[-m - 1]).mean()
    assert abs(hill - (1.0 + gamma)) <= 4.0 * (1.0 + gamma) / math.sqrt(m)


@pytest.mark.parametrize("w", [[0.5, -0.2], [-1.0, 1.0], [0.0, 0.3]])
def test_the_risk_is_the_mean_loss(w):
    tails = HeavyTails(gamma=2.0, rounds=400_000, dim=2, seed=2, truth=[0.5, -0.2])  # finite variance
    losses = np.logaddexp(0.0, -tails.stream.y * (tails.stream.X @ w))
    assert abs(losses.mean() - tails.risk(w)) <= 4.0 * losses.std() / math.sqrt(len(losses))


@pytest.mark.parametrize("truth", [0.0, 0.5, -1.0])
def test_the_truth_minimises_the_risk(truth):
    tails = HeavyTails(gamma=0.3, rounds=1, truth=truth)
    least = tails.risk(tails.truth)
    assert all(tails.risk([w]) > least for w in np.linspace(-1.0, 1.0, 21) if abs(w - truth) > 0.01)


def test_inliers_are_those_below_the_quantile():
    tails = HeavyTails(gamma=0.5, rounds=10_000)
    X_p = (1.0 - tails.p) ** (-1.0 / 1.5)
    assert tails.p == 0.99
    assert np.array_equal(tails.inliers, np.abs(tails.stream.X[:, 0]) <= X_p)
    assert abs((~tails.inliers).sum() - 100) <= 40


def test_the_risk_of_the_average_is_below_its_bound():
    gamma, rounds, excess, regrets = 0.5, 400, [], []
    for seed in range(20):
        tails = HeavyTails(gamma, rounds, seed=seed)
        learner = hf.OGD(tails.domain)
        player = hf.Filtered(learner, hf.Quantile(tails.p, horizon=rounds), on=hf.Features())
        record = hf.play(player, tails, keep=("losses", "average"), compiled=False)
        best = np.logaddexp(0.0, -tails.stream.y * (tails.stream.X @ tails.truth))
        regrets.append((record.losses - best)[tails.inliers].sum())
        excess.append(tails.risk(record.average) - tails.risk(tails.truth))
    X_p = (1.0 - tails.p) ** (-1.0 / (1.0 + gamma))
    bias = 2.0 * (1.0 + 1.0 / gamma) * (1.0 - tails.p) * X_p
    assert np.mean(excess) <= np.mean(regrets) / rounds + bias


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="gamma must be positive"):
        HeavyTails(0.0, 10)
    with pytest.raises(ValueError, match="truth must be in the domain"):
        HeavyTails(0.5, 10, truth=2.0)
