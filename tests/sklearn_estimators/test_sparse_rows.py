"""Sparse rows are learned from as dense ones are: a zero counts, wherever the center of its column is."""

import numpy as np
import pytest
import scipy.sparse as sp
from samples import slow
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from holdfast.sklearn import RobustClassifier, RobustRegressor
from holdfast.sklearn.rows import centred, usual_values


def table(levels, rows=1_500):
    """Codes of so many levels and two numbers far from 0, a target and a label."""
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, levels, rows), rng.normal(1_000.0, 5.0, (rows, 2))
    numbers[rng.random(rows) < 0.05, 1] = 0.0
    y = rng.standard_normal(levels)[codes] + (numbers[:, 0] - 1_000.0) / 2.0 + 0.3 * rng.standard_normal(rows)
    return np.column_stack([codes, numbers]), y, y > 0.0


def encoded(X, sparse):
    encoder = OneHotEncoder(sparse_output=sparse, handle_unknown="ignore")
    columns = ColumnTransformer(
        [("codes", encoder, [0])], remainder="passthrough", sparse_threshold=1.0 if sparse else 0.0
    )
    return columns.fit(X)


@pytest.mark.parametrize("levels", [60, slow(320)])
@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
def test_one_hot_columns_have_the_same_score_sparse_and_dense(make, levels):
    X, y, labels = table(levels)
    answers, scores = y if make is RobustRegressor else labels, []
    for sparse in (True, False):
        model = make_pipeline(encoded(X, sparse), make(random_state=0)).fit(X[:1_000], answers[:1_000])
        scores.append(model.score(X[1_000:], answers[1_000:]))
    assert scores[0] == pytest.approx(scores[1], abs=0.01)
    assert scores[0] > 0.6


@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
def test_sparse_batches_have_the_bits_of_dense_ones(make):
    X, y, labels = table(20, 400)
    rows, answers = encoded(X, True).transform(X), y if make is RobustRegressor else labels
    models = make(), make()
    words = {} if make is RobustRegressor else {"classes": [False, True]}
    for start in range(0, 400, 100):
        part = slice(start, start + 100)
        models[0].partial_fit(rows[part], answers[part], **words)
        models[1].partial_fit(rows[part].toarray(), answers[part], **words)
    assert np.array_equal(models[0].coef_, models[1].coef_)
    mixed = models[0].predict(rows.toarray()), models[1].predict(rows)
    for found in mixed:
        np.testing.assert_allclose(np.asarray(found, float), np.asarray(models[0].predict(rows), float))


@pytest.mark.parametrize("make", [RobustRegressor, RobustClassifier])
def test_rows_that_stay_sparse_are_centred_too(make, monkeypatch):
    monkeypatch.setattr("holdfast.sklearn.parameters.MOST_DENSE", 10)
    X, y, labels = table(60)
    answers = y if make is RobustRegressor else labels
    rows = encoded(X, True).transform(X)
    model = make(random_state=0).fit(rows[:1_000], answers[:1_000])
    assert model._sparse
    assert model.score(rows[1_000:], answers[1_000:]) > 0.8
    linear = rows[:50] @ np.ravel(model.coef_) + model.intercept_
    found = model.predict(rows[:50]) if make is RobustRegressor else model.decision_function(rows[:50])
    near = np.abs(rows[:50, -1].toarray().ravel()) > 0.0  # elsewhere the last column is clipped
    np.testing.assert_allclose(found[near], linear[near], atol=1e-6)


def test_usual_values_are_medians_and_rows_without_them_are_sparse():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 4)) < [0.1, 0.4, 0.8, 1.0], rng.normal(7.0, 1.0, (300, 4)), 0.0)
    X[3, 3] = np.nan
    usual = usual_values(sp.csr_array(X))
    assert usual[:2].tolist() == [0.0, 0.0]
    assert usual[2:] == pytest.approx(np.nanmedian(X[:, 2:], axis=0), abs=0.1)
    np.testing.assert_allclose(centred(sp.csr_array(X), usual).toarray(), X - usual)
