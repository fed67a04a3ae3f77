"""Small and wide tables: the default is about as good as ridge regression with a chosen penalty."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from holdfast.sklearn import RobustRegressor
from holdfast.sklearn.parameters import best_strength


def wide_table(noise, rows=60, columns=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 400, columns))
    y = X @ rng.normal(size=columns) / np.sqrt(columns) + noise * rng.normal(size=len(X))
    return X[:rows], y[:rows], X[rows:], y[rows:]


def error(model, X, y, new_X, new_y):
    return np.abs(model.fit(X, y).predict(new_X) - new_y).mean()


def ridge():
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))


@pytest.mark.parametrize("noise", [0.3, 1.0])
@pytest.mark.parametrize("rows, columns", [(60, 90), pytest.param(100, 500, marks=pytest.mark.slow)])
def test_a_wide_table_is_learned_about_as_well_as_by_ridge_regression(noise, rows, columns):
    tables = [wide_table(noise, rows, columns, seed) for seed in range(3)]
    ours = sum(error(RobustRegressor(random_state=0), *table) for table in tables)
    assert ours <= 1.1 * sum(error(ridge(), *table) for table in tables)


def test_outliers_do_not_decide_on_the_regularisation():
    X, y, *new = wide_table(1.0)
    clean = error(RobustRegressor(random_state=0), X, y, *new)
    X[3], y[40] = 1e6, -1e6
    assert error(RobustRegressor(random_state=0), X, y, *new) <= 1.15 * clean


def test_a_learner_that_was_chosen_is_not_changed():
    X, y, *_ = wide_table(1.0, rows=20, columns=5)
    chosen = RobustRegressor(learner="second_order", n_epochs=2, random_state=0).fit(X, y)
    default = RobustRegressor(n_epochs=2, random_state=0).fit(X, y)
    assert [m._player.learner.strength == 1.0 for m in (chosen, default)] == [True, False]


@pytest.mark.parametrize("rows", [1, 2, 3, 12])
def test_very_few_rows_can_be_regularised(rows):
    X, y, new_X, _ = wide_table(1.0, rows, 7)
    X[rows // 2, 2], X[:, 4] = np.nan, 1.0
    assert np.isfinite(RobustRegressor(missing="skip", random_state=0).fit(X, y).predict(new_X)).all()
    X[:, 2] = 1.0
    assert np.isfinite(RobustRegressor(random_state=0).fit(X, y).predict(new_X)).all()


def test_the_best_strength_is_that_of_ridge_regression():
    X, y, *_ = wide_table(1.0, rows=100, columns=40)
    X -= X.mean(axis=0)
    strengths = np.logspace(-0.5, 4.0, 10)
    assert best_strength(X, y) == pytest.approx(RidgeCV(strengths).fit(X, y).alpha_)
