"""Our restatement of WoLF: ridge regression without outliers, and hardly moved by one."""

import numpy as np
import pytest

from holdfast.lab.trials import one_pass
from holdfast.lab.trials.data import Table
from holdfast.lab.trials.scalers import Running
from holdfast.lab.trials.wolf import WoLF


def rows(rounds=300, dim=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, dim))
    return X, X @ np.arange(1.0, dim + 1.0) + 0.5 + 0.1 * rng.standard_normal(rounds)


def learned(model, X, y):
    state = model.init(X.shape[1])
    for t in range(len(y)):
        state = model.learn(state, t + 1.0, X[t], y[t])
    return state


def test_without_cutoff_and_forgetting_it_is_ridge_regression():
    X, y = rows()
    state = learned(WoLF(1e9, forgetting=1.0, prior=10.0), X, y)
    rows_1 = np.hstack([X, np.ones((len(X), 1))])
    ridge = np.linalg.solve(rows_1.T @ rows_1 + np.eye(4) / 10.0, rows_1.T @ y)
    assert state.w == pytest.approx(ridge, rel=1e-9)


def test_with_forgetting_old_rounds_count_less():
    X, y = rows()
    state = learned(WoLF(1e9, forgetting=0.95, prior=1e6), X, y)
    rows_1, weights = np.hstack([X, np.ones((len(X), 1))]), 0.95 ** np.arange(len(y))[::-1]
    recent = np.linalg.solve((rows_1.T * weights) @ rows_1, (rows_1.T * weights) @ y)
    assert state.w == pytest.approx(recent, rel=1e-4)


def test_one_wild_target_moves_it_less_the_wilder_it_is():
    X, y = rows()
    state = learned(WoLF(4.0), X, y)
    moves = []
    for wild in (1e2, 1e4, 1e6):
        copy = state._replace(w=state.w.copy(), covariance=state.covariance.copy())
        moves.append(np.abs(WoLF(4.0).learn(copy, 301.0, X[0], wild).w - state.w).max())
    assert moves[0] > moves[1] > moves[2] and moves[2] < 1e-6


def test_a_column_that_dies_out_keeps_a_covariance_that_is_positive_definite():
    X, y = rows(4000)
    X[100:, 0] = 0.0
    state = learned(WoLF(4.0, forgetting=0.99), X, y)
    assert np.linalg.eigvalsh(state.covariance).min() > 0.0
    assert state.covariance.diagonal().max() <= 10.0 * (1.0 + 1e-12)


def test_both_worlds_give_the_same_predictions(monkeypatch):
    X, y = rows()
    table = Table(X, y, np.zeros(len(y), bool), True)
    interpreted = one_pass.predictions_of(WoLF(4.0), Running(), table)
    monkeypatch.setattr(one_pass, "_WORTH_COMPILING", 0)
    compiled = one_pass.predictions_of(WoLF(4.0), Running(), table)
    assert compiled == pytest.approx(interpreted, rel=1e-9)
