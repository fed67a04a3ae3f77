"""Weights of rows and of classes."""

import numpy as np
import pytest
from samples import thinned
from sklearn_estimators.tables import table, three_classes

from holdfast.sklearn import RobustClassifier, RobustRegressor


def test_rows_of_weight_0_are_left_out():
    X, y, target, *_ = table()
    weights = np.ones(len(X))
    weights[::7], X[::7] = 0.0, 1e9
    some = weights > 0.0
    for make, answers in ((RobustClassifier, y), (RobustRegressor, target)):
        weighted = make(shuffle=False).fit(X, answers, sample_weight=weights)
        assert (weighted.coef_ == make(shuffle=False).fit(X[some], answers[some]).coef_).all()
        assert weighted.skipped_ + weighted.kept_ == some.sum()
        assert not (weighted.audit_["row"] % 7 == 0).any()


def test_weights_multiply():
    X, y, *_ = table()
    weights = np.where(y == "yes", 1.5, 1.0)
    given = RobustClassifier(random_state=0).fit(X, y, sample_weight=weights)
    named = RobustClassifier(random_state=0, class_weight={"yes": 1.5}).fit(X, y)
    assert (given.coef_ == named.coef_).all()
    assert (given.coef_ != RobustClassifier(random_state=0).fit(X, y).coef_).any()


def test_balanced_classes():
    X, y = three_classes()
    rare = (y != "c") | (np.arange(600) % 5 == 0)
    plain, balanced = (
        RobustClassifier(class_weight=weight, random_state=0).fit(X[rare], y[rare])
        for weight in (None, "balanced")
    )
    found = [(model.predict(X[y == "c"]) == "c").mean() for model in (plain, balanced)]
    assert found[1] >= found[0]
    with pytest.raises(ValueError, match="needs all rows"):
        RobustClassifier(class_weight="balanced").partial_fit(X, y, classes=["a", "b", "c"])


ESTIMATORS = [
    (RobustRegressor, {}),
    (RobustRegressor, {"loss": "huber"}),
    (RobustClassifier, {}),
    (RobustClassifier, {"loss": "hinge"}),
]
METHODS = ("fit", "partial_fit")


def mixed(rows=600):
    """Two kinds of rows with different slopes, and their targets; the second kind has the weight 2."""
    rng = np.random.default_rng(0)
    X, second = rng.standard_normal((rows, 3)), rng.random(rows) < 0.5
    y = np.where(second, 2.0, 1.0) * X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(rows)
    return X, y, np.where(second, 2.0, 1.0)


def learned(make, words, method, X, y, weights, batch=150):
    """The coefficients of a model, from one call of `fit` or from batches."""
    model = make(random_state=0, shuffle=False, n_epochs=2, **words)
    if make is RobustClassifier:
        y = y > 0.0
    if method == "fit":
        return np.ravel(model.fit(X, y, sample_weight=weights).coef_)
    classes = {"classes": [False, True]} if make is RobustClassifier else {}
    for start in range(0, len(y), batch):
        part = slice(start, start + batch)
        given = None if weights is None else weights[part]
        model.partial_fit(X[part], y[part], sample_weight=given, **classes)
    return np.ravel(model.coef_)


@pytest.mark.parametrize("make, words", thinned(ESTIMATORS, 2))
@pytest.mark.parametrize("method", METHODS)
def test_only_the_ratios_of_weights_matter(make, words, method):
    X, y, weights = mixed()
    expected = learned(make, words, method, X, y, weights)
    assert np.array_equal(learned(make, words, method, X, y, 4.0 * weights), expected)
    found = learned(make, words, method, X, y, 1e-3 * weights)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    equal = learned(make, words, method, X, y, np.full(len(y), 7.0))
    assert np.array_equal(equal, learned(make, words, method, X, y, None))


@pytest.mark.parametrize("make, words", thinned(ESTIMATORS, 2))
@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_weight_0_is_absent(make, words, method):
    X, y, weights = mixed()
    rows, targets, given = np.full((750, 3), 1e9), np.full(750, -1e9), np.zeros(750)
    some = np.arange(750) % 150 < 120  # 120 in each batch
    rows[some], targets[some], given[some] = X, y, weights
    found = learned(make, words, method, rows, targets, given, batch=150)
    assert np.array_equal(found, learned(make, words, method, X, y, weights, batch=120))


@pytest.mark.parametrize("make, words", thinned(ESTIMATORS, 2))
@pytest.mark.parametrize("method", METHODS)
def test_a_weight_of_2_counts_about_as_two_rows(make, words, method):
    """Not to the last bit: the second of two rows is learned from after the first."""
    X, y, weights = mixed(1_500)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    plain, weighted = (learned(make, words, method, X, y, each) for each in (None, weights))
    repeated = learned(make, words, method, X[twice], y[twice], None)
    plain, weighted, repeated = (-w[0] / w[1] for w in (plain, weighted, repeated))
    assert plain + 0.03 < weighted
    assert weighted == pytest.approx(repeated, abs=0.12)


@pytest.mark.parametrize("make, words", ESTIMATORS)
def test_the_weights_of_a_first_batch_count(make, words):
    X, y, weights = mixed(150)
    plain, weighted = (learned(make, words, "partial_fit", X, y, each) for each in (None, weights))
    assert np.abs(plain - weighted).max() > 0.01
