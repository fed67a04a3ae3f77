"""Outliers and missing values cost little, for every loss."""

import contextlib

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_estimators.tables import table

import holdfast as hf
from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.mark.parametrize("wild", [1e3, 1e6, 1e300])
def test_corrupted_rows_cost_little_where_sgd_fails(wild):
    X, y, _, fresh, truth, _ = table(seed=3)
    clean = RobustClassifier(random_state=0).fit(X, y).score(fresh, truth)
    bad = (np.random.default_rng(0).random(len(X)) < 0.03) & (np.arange(len(X)) >= 50)
    X[bad], y[bad] = wild * X.std(axis=0), np.where(y[bad] == "yes", "no", "yes")
    assert RobustClassifier(shuffle=False).fit(X, y).score(fresh, truth) > clean - 0.02
    if wild < 1e300:  # scikit-learn refuses larger values
        sgd = make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, y)
        assert sgd.score(fresh, truth) < clean - 0.1


def test_corrupted_targets_cost_little():
    X, _, y, fresh, _, truth = table(seed=4)
    clean = np.abs(RobustRegressor(random_state=0).fit(X, y).predict(fresh) - truth).mean()
    y[::30] = -1e9
    assert np.abs(RobustRegressor(random_state=0).fit(X, y).predict(fresh) - truth).mean() < 1.5 * clean + 0.2


@pytest.mark.parametrize("loss", ["absolute_error", "squared_error", "huber", hf.losses.Pinball(0.6)])
def test_every_regression_loss_learns(loss):
    X, _, y, fresh, _, truth = table()
    assert RobustRegressor(loss=loss, random_state=0).fit(X, y).score(fresh, truth) > 0.9


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge", hf.Hinge()])
@pytest.mark.parametrize("average", [False, True])
def test_every_classification_loss_learns(loss, average):
    X, y, _, fresh, truth, _ = table()
    model = RobustClassifier(loss=loss, average=average, random_state=0).fit(X, y)
    assert model.score(fresh, truth) > 0.95


def test_missing_and_huge_rows_are_skipped_and_reported():
    X, y, target, fresh, truth, _ = table()
    X[100], X[101, 2], X[102, 0], X[103] = np.nan, np.inf, -np.inf, 1e300
    target[104], target[105] = np.nan, np.inf
    model = RobustRegressor(shuffle=False, n_epochs=1).fit(X, target)
    audit = model.audit_
    reasons = dict(zip(audit["row"].tolist(), audit["reason"].tolist(), strict=True))
    assert {reasons[row] for row in (100, 101, 102, 104, 105)} == {"not readable"}
    assert 103 in reasons
    assert model.skipped_ + model.kept_ == len(X)
    assert model.audit_counts_["not readable"] >= 5
    assert np.isfinite(model.predict(X)).all()
    classifier = RobustClassifier(random_state=0).fit(X, y)
    assert classifier.score(fresh, truth) > 0.95


@pytest.mark.parametrize("missing", ["impute", "skip"])
def test_a_missing_cell_leaves_the_others_as_they_are(missing):
    X, _, target, *_ = table()
    rows = np.full((3, 4), np.nan)
    rows[1:, 1:] = [[np.inf, 0.0, 0.0], [1.0, 2.0, 3.0]]
    for scale in (True, False):
        worse = pytest.warns(hf.HoldfastWarning, match="worse than the baseline")  # in these units it is
        with contextlib.nullcontext() if scale else worse:
            model = RobustRegressor(scale=scale, missing=missing, random_state=0).fit(X, target)
        whole = np.where(np.isfinite(rows), rows, model._models.center[0])
        np.testing.assert_allclose(model.predict(rows), model.predict(whole))
        np.testing.assert_allclose(model.predict(csr_array(rows)), model.predict(rows))
    assert model.predict(rows)[0] == model.intercept_[0]


def test_missing_values_raise_with_missing_raise():
    X, y, *_ = table()
    model = RobustClassifier(missing="raise").fit(X, y)
    X[5, 1] = np.nan
    for call in (lambda: model.fit(X, y), lambda: model.partial_fit(X, y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match="NaN"):
            call()
    with pytest.raises(ValueError, match="y contains NaN"):
        RobustRegressor(missing="raise").fit(X[:5], [1.0, 2.0, np.nan, 4.0, 5.0])


def test_predictions_stay_in_the_range_of_the_targets():
    X, _, y, *_ = table()
    model = RobustRegressor(random_state=0).fit(X, y)
    far = model.predict(np.vstack([X * 1e6, -X * 1e6, np.full((1, 4), 1e308)]))
    assert (np.abs(far - y.mean()) <= 1.1 * np.ptp(y)).all()


@pytest.mark.parametrize("outliers", ["auto", 0.1, 80])
@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
@pytest.mark.parametrize("codes", [0, 40])
def test_a_wild_cell_is_seen_whatever_the_other_columns_are(make, outliers, codes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_200, 30))
    X = np.column_stack([X, np.eye(codes)[rng.integers(0, codes, 1_200)]]) if codes else X
    y = X[:, 0] + 0.1 * rng.standard_normal(1_200)
    wild = np.arange(300, 1_200, 15)  # 60 rows
    X[wild, rng.integers(0, X.shape[1], 60)] = 1e9
    model = make(outliers, shuffle=False, n_epochs=1).fit(X, y if make is RobustRegressor else y > 0.0)
    assert not model.kept_mask_[wild].any()
    assert model.kept_mask_[np.setdiff1d(np.arange(200, 1_200), wild)].mean() > 0.95
