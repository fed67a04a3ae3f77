"""Our restatement of WoLF: ridge regression without outliers, and hardly moved by one."""

import numpy as np
import pytest

from holdfast.rounds import Round
from holdfast_lab.trials import one_pass
from holdfast_lab.trials.data import Table
from holdfast_lab.trials.scalers import Running
from holdfast_lab.trials.sgd import SquaredSlope
from holdfast_lab.trials.wolf import WoLF


def rows(rounds=300, dim=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, dim))
    return X, X @ np.arange(1.0, dim + 1.0) + 0.1 * rng.standard_normal(rounds)


def learned(model, X, y):
    state = model.init(X.shape[1])
    for x, target in zip(X, y, strict=True):
        state = model.update(state, Round(state.w @ x - target, x))
    return state


def test_without_cutoff_and_forgetting_it_is_ridge_regression():
    X, y = rows()
    state = learned(WoLF(1e9, forgetting=1.0, prior=10.0), X, y)
    ridge = np.linalg.solve(X.T @ X + np.eye(3) / 10.0, X.T @ y)
    assert state.w == pytest.approx(ridge, rel=1e-9)


def test_with_forgetting_old_rounds_count_less():
    X, y = rows()
    state = learned(WoLF(1e9, forgetting=0.95, prior=1e6), X, y)
    weights = 0.95 ** np.arange(len(y))[::-1]
    recent = np.linalg.solve((X.T * weights) @ X, (X.T * weights) @ y)
    assert state.w == pytest.approx(recent, rel=1e-4)


def test_one_wild_target_moves_it_less_the_wilder_it_is():
    X, y = rows()
    state = learned(WoLF(4.0), X, y)
    moves = []
    for wild in (1e2, 1e4, 1e6):
        copy = state._replace(w=state.w.copy(), covariance=state.covariance.copy())
        moves.append(np.abs(WoLF(4.0).update(copy, Round(state.w @ X[0] - wild, X[0])).w - state.w).max())
    assert moves[0] > moves[1] > moves[2] and moves[2] < 1e-6


def test_a_column_that_dies_out_keeps_a_covariance_that_is_positive_definite():
    X, y = rows(4000)
    X[100:, 0] = 0.0
    state = learned(WoLF(4.0, forgetting=0.99), X, y)
    assert np.linalg.eigvalsh(state.covariance).min() > 0.0
    assert state.covariance.diagonal().max() <= 10.0 * (1.0 + 1e-12)


@pytest.mark.slow  # compiles for long
def test_both_worlds_give_the_same_predictions(monkeypatch):
    X, y = rows()
    table = Table(X, y, np.zeros(len(y), bool), True)
    model = one_pass.WithConstant(WoLF(4.0), SquaredSlope())
    interpreted = one_pass.predictions_of(model, Running(), table)
    monkeypatch.setattr(one_pass, "_WORTH_COMPILING", 0)
    assert one_pass.predictions_of(model, Running(), table) == pytest.approx(interpreted, rel=1e-9)
