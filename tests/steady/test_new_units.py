"""A column gets another unit: no forecast grows because of it, and rows that are refused cost little."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.steady import Diagonal, Full, Logits, Ridges, Steady
from holdfast.steady.choice import ridges_for, steady_for

DIM = 5


def learned(learner, rounds, seed=0):
    """The state of a learner after some rounds."""
    rng = np.random.default_rng(seed)
    state, count = learner.init(DIM), len(learner.init(DIM).each)
    for _ in range(rounds):
        row = np.append(rng.standard_normal(DIM - 1), 1.0)
        row[1] *= 2.0**-9  # what rows say of this weight is soon forgotten
        y = float(np.sign(row[0] + 0.3 * rng.standard_normal()))
        learner.forecast(state, row)
        learner.learn(state, np.full(count, 1.0 / count), row, y, True, True, 1.0)
    return state


@pytest.mark.parametrize("rounds", [3, 300])
@pytest.mark.parametrize("covariance", [Full(), Diagonal()], ids=repr)
@pytest.mark.parametrize("learner", [Ridges, Logits])
def test_a_smaller_unit_makes_no_forecast_larger(learner, covariance, rounds):
    player = learner(covariance=covariance)
    state = learned(player, rounds)
    for unit in (0.5, 2.0**-9, 2.0**-30):
        before = state.each[:, 1].copy()
        player.express_column(state, 1, 0.0, unit)
        assert (abs(state.each[:, 1]) <= unit * abs(before)).all()


def mostly_one(share_of_zeros, bad, seed=0):
    """A column that is nearly always 1 beside two usual ones; some rows are x 1000. Also which."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, 3))
    X[:, 2] = rng.random(1500) >= share_of_zeros
    y = X @ [1.0, -1.0, 2.0] + 0.3 * rng.standard_normal(1500)
    wrong = rng.random(1500) < bad
    X[wrong] *= 1000.0
    return X, y, wrong


def mean_error(player, X, y, wrong):
    record = hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=("predictions",))
    return abs(record.predictions - y)[300:][~wrong[300:]].mean()


@pytest.mark.parametrize(("zeros", "bad"), [(0.05, 0.05), (0.1, 0.05), (0.15, 0.1)])
def test_a_column_that_is_nearly_always_1_survives_wrong_rows(zeros, bad):
    """Of the cells that are not 1, up to a half are wrong."""
    player: Steady = steady_for(ridges_for(hf.Absolute()))
    clean = mean_error(player, *mostly_one(zeros, 0.0))
    assert mean_error(player, *mostly_one(zeros, bad)) <= 1.1 * clean
