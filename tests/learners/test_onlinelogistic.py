"""OnlineLogistic against its recursion written with the whole covariance, and with labels that are wrong."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import holdfast as hf
from holdfast.learners import OnlineLogistic
from holdfast.learners.covariance import independent
from holdfast.rounds import Round

WEIGHTS = np.array([2.0, -1.0, 0.0, 0.5])


def stream(rounds=2_000, seed=0, flipped=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, 4))
    y = np.where(rng.random(rounds) < 1.0 / (1.0 + np.exp(-X @ WEIGHTS)), 1.0, -1.0)
    return X, np.where(rng.random(rounds) < flipped, -y, y)


def learned(learner, X, y):
    state = learner.init(X.shape[1])
    for x, label in zip(X, y, strict=True):
        state = learner.update(state, Round(hf.Logistic().slope(float(state.w @ x), label), x))
    return state


def recursion(learner, X, y):
    """The same with P itself, by the formula of Sherman and Morrison."""
    dim = X.shape[1]
    w, P, positive = np.zeros(dim), min(learner.prior, 20.0 / dim) * np.eye(dim), 0.5
    for n, (x, label) in enumerate(zip(X, y, strict=True), 1):
        right = 1.0 / (1.0 + math.exp(-label * (w @ x)))
        curvature = max(right * (1.0 - right), 0.35 * (1.0 - right), 1e-4)
        share = positive if label > 0.0 else 1.0 - positive
        odds = learner.flips / (1.0 - learner.flips) * (1.0 - right) / right * share / (1.0 - share)
        weight = max(1.0 / (1.0 + odds), 1e-6)
        w = w + P @ x * (weight * label * (1.0 - right) / (1.0 + weight * curvature * (x @ P @ x)))
        P = np.linalg.inv(np.linalg.inv(P) + weight * curvature * np.outer(x, x))
        memory = min(learner.memory, 20.0 + n)
        positive += (max(label, 0.0) - positive) / memory
        P /= 1.0 - 1.0 / memory
        gap = 2 ** max(math.floor(math.log2(memory / (5 * dim))), 0)  # between two turns
        if n % gap != 0:
            continue
        axis, back = np.eye(dim)[n // gap % dim], gap * dim / memory / min(learner.prior, memory / dim)
        gain = P @ axis * back / (1.0 + back * (axis @ P @ axis))
        w, P = w - gain * (axis @ w), P - np.outer(gain, axis @ P)
    return w, P


@pytest.mark.parametrize("flips", [0.0, 0.1])
@pytest.mark.parametrize("memory, prior", [(None, 2.0), (100.0, 10.0)])
def test_it_is_the_recursion_with_the_whole_covariance(memory, prior, flips):
    X, y = stream(400, flipped=0.05)
    X[::29] *= 30.0
    learner = OnlineLogistic(memory, prior, flips)
    w, P = recursion(learner, X, y)
    state = learned(learner, X, y)
    assert state.w == pytest.approx(w, rel=1e-9)
    assert state.covariance.growth * state.covariance.root @ state.covariance.root.T == pytest.approx(
        P, rel=1e-9, abs=1e-12
    )


def test_it_ends_near_the_weights_of_logistic_regression():
    X, y = stream(10_000)
    whole = LogisticRegression(fit_intercept=False).fit(X, y).coef_[0]
    assert learned(OnlineLogistic(memory=None), X, y).w == pytest.approx(whole, abs=0.07)


def test_with_flips_the_weights_are_those_of_the_right_labels():
    X, y = stream(10_000, flipped=0.1)
    believed, doubted = (learned(OnlineLogistic(flips=flips), X, y).w for flips in (0.0, 0.1))
    assert np.linalg.norm(doubted - WEIGHTS) < 0.25 < 0.6 < np.linalg.norm(believed - WEIGHTS)


def test_a_round_of_weight_2_counts_as_two():
    X, y = stream(60)
    learner = OnlineLogistic(memory=None, prior=1e-3)  # with so small steps, p stays what it is
    player, replay = hf.Filtered(learner, hf.Everything()), hf.Replay(X, y, hf.Logistic())
    games = (hf.adversaries.Weighted(replay, np.full(60, weight)) for weight in (1.0, 2.0))
    one, two = (hf.play(player, game, compiled=False).final for game in games)
    assert two == pytest.approx(2.0 * one, rel=0.1)


def test_sparse_rows_give_the_weights_of_dense_ones():
    X, y = stream(200)
    X[np.random.default_rng(1).random(X.shape) < 0.7] = 0.0
    player = hf.Filtered(OnlineLogistic(), hf.Everything())
    dense, sparse = (
        hf.play(player, hf.Replay(rows, y, hf.Logistic()), compiled=False).final for rows in (X, csr_array(X))
    )
    assert sparse == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize("memory", [5.0, 200.0])
def test_the_covariance_stays_between_the_prior_and_zero_where_directions_die_out(memory):
    X, y = stream(30_000)
    X[1_000:, 1:] = 0.0
    player = hf.Filtered(OnlineLogistic(memory), hf.Everything())
    state = hf.play(player, hf.Replay(X, y, hf.Logistic()), keep=(), compiled=True).state[0].learner
    values = np.linalg.eigvalsh(state.covariance.growth * state.covariance.root @ state.covariance.root.T)
    assert values[0] > 0.0 and values[-1] < 2.0
    assert abs(state.w[1:]) == pytest.approx(0.0, abs=1e-6)


def test_weights_are_small_while_there_are_few_rounds_for_each():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1)) + 0.1 * rng.standard_normal((30, 40))  # columns that are nearly the same
    y = np.where(X.mean(axis=1) + 0.3 * rng.standard_normal(30) > 0.0, 1.0, -1.0)
    learner = OnlineLogistic(prior=10.0)
    loose = learner.init(40)._replace(covariance=independent(40, 10.0))
    for x, label in zip(X, y, strict=True):
        loose = learner.update(loose, Round(hf.Logistic().slope(float(loose.w @ x), label), x))
    assert np.linalg.norm(learned(learner, X, y).w) < 0.7 * np.linalg.norm(loose.w)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: OnlineLogistic(prior=0.0), "must be positive: got 0.0"),
        (lambda: OnlineLogistic(memory=1.0), "at least 2, or is None .* got 1"),
        (lambda: OnlineLogistic(flips=0.5), "below a half: got 0.5"),
        (lambda: OnlineLogistic(domain=hf.Ball(1.0)), "no version for bounded domains: got Ball"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        make()
