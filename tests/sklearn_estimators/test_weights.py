"""Weights of rows and of classes."""

import numpy as np
import pytest
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
