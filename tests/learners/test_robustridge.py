"""RobustRidge against its recursion written with the whole covariance, and against outliers of all kinds."""

import math

import numpy as np
import pytest
from guards import guarded
from laws import like, same
from learners.test_ridge import Dying

import holdfast as hf
from holdfast.learners import HuberWeights, InverseMultiquadric, Redescending, RobustRidge
from holdfast.rounds import Round

WEIGHTS = {
    Redescending(): lambda r: 1.0 if r <= 1.0 else r**-2,
    HuberWeights(): lambda r: 1.0 if r <= 1.0 else 1.0 / r,
    InverseMultiquadric(): lambda r: 1.0 / (1.0 + r * r),
}
SQUARED = hf.Squared()


def stream(rounds=400, dim=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim))
    return X, X @ np.arange(1.0, dim + 1.0) + 0.3 * rng.standard_normal(rounds)


def learned(learner, X, y):
    state = learner.init(X.shape[1])
    for x, target in zip(X, y, strict=True):
        state = learner.update(state, Round(0.0, x, target))
    return state


def covariance(state):
    return state.covariance.growth * state.covariance.root @ state.covariance.root.T


def recursion(learner, weigh, X, y):
    """The same with P itself, by the formula of Sherman and Morrison, and with no variance set back."""
    w, P = np.zeros(X.shape[1]), np.eye(X.shape[1]) / learner.strength
    mean, cell, kept = 1.0, 1.0, 1.0 - 1.0 / learner.memory
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        e, far = target - w @ x, np.abs(x).max()
        weight = weigh(abs(e) / (learner.weights.limit * mean) * max(far / (1.5 * cell), 1.0) ** 2)
        rate = max(1.0 / t, 0.01)
        mean, cell = (m + rate * (min(new, 4.0 * m) - m) for m, new in ((mean, abs(e)), (cell, far)))
        gain = P @ x / (1.0 / weight + x @ P @ x)
        w, P = w + gain * e, (P - np.outer(gain, P @ x)) / kept
    return w, P


@pytest.mark.parametrize("weights", WEIGHTS, ids=repr)
@pytest.mark.parametrize("memory", [None, 200.0])
def test_it_is_the_recursion_with_the_whole_covariance(weights, memory):
    X, y = stream()
    X[::29] *= 30.0
    y[::17] += 1e4
    learner = RobustRidge(memory=memory, weights=weights)
    w, P = recursion(learner, WEIGHTS[weights], X, y)
    state = learned(learner, X, y)
    assert state.w == pytest.approx(w, rel=1e-9)
    assert covariance(state) == pytest.approx(P, rel=1e-9, abs=1e-12)


def test_with_weights_of_1_it_is_ridge_regression():
    X, y = stream()
    state = learned(RobustRidge(0.5, weights=HuberWeights(1e9)), X, y)
    assert state.w == pytest.approx(np.linalg.solve(X.T @ X + 0.5 * np.eye(4), X.T @ y), abs=1e-9)


def kinds(X, y, bad):
    """Outliers of three kinds in these rounds, by name."""
    yield "targets", X, np.where(bad, -1e9, y)
    yield "cells", np.where(bad[:, None] & (np.arange(4) == 1), 1e6, X), y
    yield "rows", np.where(bad[:, None], 1e6 * X, X), -np.where(bad, 1e6 * y, -y)


@pytest.mark.parametrize("memory", [None, 300.0])
@pytest.mark.parametrize("weights", [Redescending(), InverseMultiquadric()], ids=repr)
def test_five_percent_of_outliers_move_the_weights_no_further_than_noise(weights, memory):
    X, y = stream(2_000)
    bad = np.random.default_rng(1).random(2_000) < 0.05
    bad[:100] = False
    learner = RobustRidge(memory=memory, weights=weights)
    for kind, rows, targets in kinds(X, y, bad):
        assert learned(learner, rows, targets).w == pytest.approx(np.arange(1.0, 5.0), abs=0.1), kind


def test_the_target_is_read_from_the_game_and_not_from_the_slope():
    X, y = stream(300)
    player = hf.Filtered(RobustRidge(), hf.Everything())
    finals = [
        hf.play(player, hf.Replay(X, y, loss), compiled=False).final for loss in (hf.Absolute(), SQUARED)
    ]
    assert same(*finals)
    assert finals[0] == pytest.approx(np.arange(1.0, 5.0), abs=0.1)


def test_without_a_target_the_slope_of_a_squared_loss_is_enough():
    X, y = stream(300)
    learner = RobustRidge(memory=50)
    state = learner.init(4)
    for x, target in zip(X, y, strict=True):
        state = learner.update(state, Round(float(state.w @ x) - target, x))
    assert state.w == pytest.approx(learned(learner, X, y).w, abs=1e-9)


def test_a_change_of_the_weights_is_learned_within_the_memory():
    X, y = stream(6_000)
    y[3_000:] -= 2.0 * (X[3_000:] @ np.arange(1.0, 5.0))
    state = learned(RobustRidge(memory=100), X, y)
    assert state.w == pytest.approx(-np.arange(1.0, 5.0), abs=0.2)


def is_positive_definite(rounds):
    learner = RobustRidge(memory=50.0)
    dying = Dying(np.array([3.0, -2.0, 1.0, 5.0]), 500, rounds)
    state = hf.play(hf.Filtered(learner, hf.Everything()), dying, keep=(), compiled=True).state[0].learner
    values = np.linalg.eigvalsh(covariance(state))
    assert values[0] > 0.0 and values[-1] <= 4.0 * 4.0 / learner.strength * 50.0 / 49.0
    assert state.w == pytest.approx([3.0, -2.0, 1.0, 5.0], abs=1e-6)


def test_the_covariance_stays_positive_definite_where_directions_die_out():
    is_positive_definite(100_000)


@pytest.mark.slow
def test_the_covariance_stays_positive_definite_over_ten_million_rounds():
    is_positive_definite(10_000_000)


@pytest.mark.slow  # compiling takes 10 s
def test_guarded_and_scaled_it_has_the_same_bits_in_both_worlds():
    rng = np.random.default_rng(2)
    X, y = stream(500)
    X[:, 3] = rng.random(500) < 0.05
    X[rng.random(500) < 0.05] *= 1e5
    y[rng.random(500) < 0.05] = -1e9
    X[30], y[40], X[50, 1], y[60] = 1e300, -1e300, math.nan, math.inf
    player = guarded(hf.Scaled(RobustRidge(memory=100), target=True))
    keep = ("losses", "predictions", "sizes", "kept")
    worlds = [hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=keep, compiled=c) for c in (False, True)]
    for column in (*keep, "final"):
        assert same(*(getattr(record, column) for record in worlds)), column
    assert like(worlds[0].state, worlds[1].state)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: RobustRidge(0.0), "must be positive: got 0.0"),
        (lambda: RobustRidge(memory=1.0), "at least 2, or is None .* got 1"),
        (lambda: Redescending(0.0), "must be positive: got 0.0"),
        (lambda: HuberWeights(math.nan), "must be positive: got nan"),
        (lambda: InverseMultiquadric(-1.0), "must be positive: got -1.0"),
        (lambda: RobustRidge(domain=hf.Ball(1.0)), "no version for bounded domains: got Ball"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        make()
