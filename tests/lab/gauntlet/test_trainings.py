"""Small trainings: gradients are right, the oracle learns, and bad steps do harm."""

import numpy as np
import pytest

from holdfast_lab.gauntlet.stepping import STEPPERS
from holdfast_lab.gauntlet.trainings import (
    Batch,
    TrainingScenario,
    _start,
    count_bad,
    digits,
    loss_on,
    slopes,
    train,
)

pytest.importorskip("sklearn")


def test_gradients_are_those_of_the_loss():
    X, y, _, _ = digits()
    weights = _start(np.random.default_rng(0))
    gradients = slopes(weights, Batch(X[:20], y[:20]))
    for w, g in zip(weights, gradients, strict=True):
        place = np.unravel_index(np.abs(g).argmax(), g.shape)
        w[place] += 1e-6
        above = loss_on(weights, X[:20], y[:20])
        w[place] -= 2e-6
        below = loss_on(weights, X[:20], y[:20])
        w[place] += 1e-6
        assert g[place] == pytest.approx((above - below) / 2e-6, rel=1e-3)


def test_the_oracle_learns_and_without_bad_steps_all_are_taken():
    loss, score = train(TrainingScenario("clean"), None)
    assert loss < 0.5
    assert score.good_lost == 0.0
    assert train(TrainingScenario("clean"), STEPPERS["none"])[0] == loss


def test_two_spikes_harm_who_takes_them():
    scenario = TrainingScenario("masking")
    oracle, _ = train(scenario, None)
    taken, score = train(scenario, STEPPERS["none"])
    guarded, ours = train(scenario, STEPPERS["holdfast"])
    assert count_bad(scenario) == 2
    assert (score.bad_learned, ours.bad_learned) == (1.0, 0.0)
    assert taken > 2.0 * oracle
    assert guarded < 1.1 * oracle


def test_nan_destroys_who_takes_it():
    assert train(TrainingScenario("one NaN", steps=250), STEPPERS["none"])[1].broken
    assert not train(TrainingScenario("one NaN", steps=250), STEPPERS["holdfast"])[1].broken
