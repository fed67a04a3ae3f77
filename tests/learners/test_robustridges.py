"""RobustRidges: several memories, one covariance."""

import math

import numpy as np
import pytest
from laws import same
from learners.test_robustridge import learned

import holdfast as hf
from holdfast.defaults import default_learner, named_learner
from holdfast.for_numbers import for_numbers
from holdfast.learners import Redescending, RobustRidge, RobustRidges


def stream(rounds, seed=0, dim=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim))
    return X, X @ np.arange(1.0, dim + 1.0) + 0.1 * rng.standard_normal(rounds)


@pytest.mark.parametrize("memory", [20.0, 300.0])
def test_one_regression_with_the_memory_of_the_covariance_is_a_robust_ridge(memory):
    X, y = stream(400)
    y[::9] += 50.0
    one = learned(RobustRidges([memory], [2.0], [2.0], strength=0.5, memory=memory), X, y)
    other = learned(RobustRidge(0.5, memory, Redescending(2.0)), X, y)
    assert one.w == pytest.approx(other.w, rel=1e-9)
    assert one.residuals[0] == pytest.approx(other.residual, rel=1e-9)


def test_before_anything_is_forgotten_all_regressions_are_alike():
    X, y = stream(15)
    state = learned(RobustRidges([math.inf, 1000.0, 20.0], [9.0] * 3, [1.0] * 3), X, y)
    assert state.each[1] == pytest.approx(state.each[0])
    assert state.each[2] == pytest.approx(state.each[0])
    assert state.parts == pytest.approx(1.0 / 3.0)


def test_the_weights_are_near_those_of_least_squares():
    X, y = stream(3_000)
    state = learned(RobustRidges(), X, y)
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    assert state.each[0] == pytest.approx(best, abs=0.01)
    assert state.w == pytest.approx(best, abs=0.05)


def test_the_regression_that_suits_the_stream_counts_most():
    X, y = stream(3_000)
    assert learned(RobustRidges(), X, y).parts.argmax() in (0, 1)
    turning = np.cos(np.arange(3_000) / 50.0)[:, None] * np.arange(1.0, 6.0)
    state = learned(RobustRidges(), X, (X * turning).sum(axis=1))
    assert state.parts[3] > 0.5
    assert state.parts.sum() == pytest.approx(1.0)


def test_outliers_hardly_move_it():
    X, y = stream(2_000)
    clean = learned(RobustRidges(), X, y).w
    y[5::10] *= -1e6
    X[7::50] *= 10.0
    assert learned(RobustRidges(), X, y).w == pytest.approx(clean, abs=0.1)


@pytest.mark.parametrize("power", [1.0, 2.0, 10.0])
def test_a_target_near_the_largest_float_moves_nothing(power):
    X, y = stream(200)
    learner = RobustRidges([20.0, 100.0], [1.0, 1.0], [power, power])
    state = learned(learner, X, y)
    before = state.w.copy()
    state = learner.update(learner.set_target(state, 1e300), 0.0, X[0])
    assert state.w == pytest.approx(before, abs=0.5)
    assert np.isfinite(state.each).all()


def test_after_a_change_it_keeps_the_weights_and_learns_new_ones_fast():
    X, y = stream(3_000)
    learner = RobustRidges()
    state = learned(learner, X, y)
    before = state.w.copy()
    state = learner.after_change(state, np.zeros((0, 6)))
    assert same(state.w, before)
    assert state.rounds == 0.0
    for x, target in zip(X[:300], -y[:300], strict=True):
        state = learner.update(learner.set_target(state, target), 0.0, x)
    assert state.w == pytest.approx(-before, abs=0.3)


def test_a_game_without_targets_is_one_of_squared_losses():
    X, y = stream(200)
    learner = RobustRidges()
    state, known = learner.init(5), learned(learner, X, y)
    for x, target in zip(X, y, strict=True):
        state = learner.update(state, float(state.w @ x) - target, x)
    assert state.w == pytest.approx(known.w, rel=1e-9)


def test_columns_that_were_padded_stay_zero():
    X, y = stream(500)
    root = learned(RobustRidges(), X, y).covariance.root
    assert root.shape == (5, 8)
    assert not root[:, 5:].any()


def test_a_quantile_is_not_for_it():
    with pytest.raises(ValueError, match=r"not Pinball.*use first_order"):
        named_learner("second_order", hf.losses.Pinball(0.9))
    learner = default_learner(True, loss=hf.losses.Pinball(0.9))
    assert isinstance(learner, hf.learners.Mixture)


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: RobustRidges([10.0], [1.0, 2.0], [1.0]), "for each regression.*shapes"),
        (lambda: RobustRidges([], [], []), "at least one"),
        (lambda: RobustRidges([1.0], [1.0], [1.0]), "at least 2: got .1.0."),
        (lambda: RobustRidges([10.0], [0.0], [1.0]), "positive: got .0.0."),
        (lambda: RobustRidges([10.0], [1.0], [math.nan]), "exponents from 0 to 10: got .nan."),
        (lambda: RobustRidges(memory=math.inf), "finite: got inf"),
        (lambda: RobustRidges(strength=0.0), "must be positive: got 0.0"),
    ],
)
def test_what_cannot_work_is_refused(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


def test_a_bounded_domain_is_refused():
    with pytest.raises(TypeError, match="bounded domains: got Ball"):
        RobustRidges(domain=hf.Ball(1.0))


@pytest.mark.parametrize("bad", ["rows", "targets"])
def test_after_bad_first_rows_it_learns_from_the_stored_good_ones_again(bad):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = X.sum(axis=1) + 0.3 * rng.standard_normal(300)
    clean = hf.play(for_numbers(RobustRidges()), hf.Replay(X, y, hf.Absolute()), compiled=False)
    if bad == "rows":
        X[:80] *= 1000.0
    else:
        y[:80] *= -1000.0
    record = hf.play(for_numbers(RobustRidges()), hf.Replay(X, y, hf.Absolute()), compiled=False)
    assert record.losses[220:].mean() < 1.2 * clean.losses[220:].mean()
