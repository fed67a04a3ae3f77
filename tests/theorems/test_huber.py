"""Lemma 4 and Corollary 5: the risk on clean data after learning from contaminated data.

P draws rows of a small table, so its risk is a mean over the table. Q is one of several bad adversaries.
"""

import functools
import itertools

import numpy as np
import pytest
from samples import thinned
from theorems.trials import at_most_delta, in_order, mean_and_error, played

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Chaser, Contaminated, Contrarian

T, D, G, BALL = 150, 2.0, 1.0, hf.Ball(1.0)
RUNS, EPS, DELTA = 100, 0.1, 0.1
TABLE = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0], [0.6, -0.8], [-1.0, 0.0]])  # all of size 1
LABELS = np.array([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
GRID = [
    u for u in np.stack(np.meshgrid(*[np.linspace(-1, 1, 21)] * 2), -1).reshape(-1, 2) if BALL.contains(u)
]


def risk(loss, w):
    """E f(w) over P."""
    return float(np.mean([loss.value(z, y) for z, y in zip(TABLE @ w, LABELS, strict=True)]))


@functools.cache
def best(loss):
    return min(GRID, key=lambda u: risk(loss, u))


def contaminated(loss, eps, outside, seed):
    rng = np.random.default_rng([seed, 1])
    rows = rng.integers(len(TABLE), size=T)
    inner = hf.Replay(TABLE[rows], LABELS[rows], loss)
    outer = {
        "huge": hf.Gradients(1e300 * rng.choice([-1.0, 1.0], (T, 2))),
        "liar": hf.Replay(1.9 * TABLE[rows], -LABELS[rows], hf.Linear()),
        "contrarian": Contrarian(T, 2, G=2.0),
        "chaser": Chaser(inner, k=T),
    }[outside]
    return Contaminated(inner, outer, eps, seed)


def games(loss, eps, k, outside):
    """For many games: the excess risk of the mean of the w_t, the robust regret, the number of outliers."""
    u = best(loss)
    for seed in range(RUNS):
        adversary = contaminated(loss, eps, outside, seed)
        record = played(hf.Filtered(hf.OGD(BALL), hf.TopK(k)), adversary)
        inliers = adversary.inliers
        mine = sum(loss.value(z, y) for z, y in zip(*at(adversary.inner, u, inliers), strict=True))
        excess = risk(loss, record.average) - risk(loss, u)
        yield excess, record.losses[inliers].sum() - mine, int((~inliers).sum())


def at(replay, u, inliers):
    return replay.X[inliers] @ u, replay.y[inliers]


@pytest.mark.parametrize(
    ("loss", "outside"),
    thinned(
        list(itertools.product([hf.Hinge(), hf.Logistic()], ["huge", "liar", "contrarian", "chaser"])), 3
    ),
    ids=repr,
)
def test_lemma_4_and_corollary_5_hold_as_often_as_they_say(loss, outside):
    k = bounds.huber_budget(EPS, T, DELTA)
    excess, regrets, outliers = np.array(list(games(loss, EPS, k, outside))).T
    bound = bounds.corollary_5(D, G, EPS, T, DELTA)
    assert in_order(bound, bounds.corollary_5_paper(D, G, EPS, T, DELTA))
    assert at_most_delta(excess > [bounds.lemma_4(R, D * G, EPS, T, DELTA) for R in regrets], DELTA)
    assert at_most_delta(outliers > k, DELTA / 2)
    assert at_most_delta(excess > bound, DELTA)
    within = outliers <= k  # in these games the bound on the regret holds with certainty
    assert (regrets[within] <= bounds.corollary_2(D, G, k, T)).all()
    mean, error = mean_and_error(excess - bounds.lemma_4_expectation(regrets, EPS, T))
    assert mean <= 4.0 * error


@pytest.mark.parametrize("eps", [0.0, 0.3, 0.6])
def test_on_linear_losses_lemma_4_is_an_equation_in_expectation(eps):
    """The risk of the mean of all w_t, kept or skipped, is then the mean of their risks."""
    loss = hf.Linear()
    found = np.array(list(games(loss, eps, 5, "liar")))
    mean, error = mean_and_error(found[:, 0] - bounds.lemma_4_expectation(found[:, 1], eps, T))
    assert abs(mean) <= 4.0 * error
