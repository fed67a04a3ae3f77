"""With `journal=`, an estimator forgets rows: afterwards it is one that never saw them."""

import pickle

import numpy as np
import pytest
from laws import same
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from holdfast.journal import Forgotten
from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((240, 2))
    X[7::40] *= 1000.0
    return X, X @ [1.0, -2.0] + 0.1 * rng.standard_normal(240)


DAYS = [slice(first, first + 40) for first in range(0, 240, 40)]
NAMES = np.repeat([f"day {i}" for i in range(6)], 40).tolist()


def learned(model, X, y, days=range(6), **options):
    for day in days:
        first = options if day == days[0] else {}
        model.partial_fit(X[DAYS[day]], y[DAYS[day]], row_ids=NAMES[DAYS[day]], **first)
    return model


def everything(model, X):
    audit = {name: column.tolist() for name, column in model.audit_.items()}
    return (model.predict(X).tolist(), model.coef_.tolist(), model.skipped_, model.kept_, repr(audit))


def test_a_regressor_is_one_that_never_saw_the_rows(table):
    X, y = table
    model = learned(RobustRegressor(journal=50), X, y)
    assert model.forget(["day 1", "day 4"]) == Forgotten(
        80, 160
    )  # from the start: the first copy is after day 1
    clean = learned(RobustRegressor(), X, y, [0, 2, 3, 5])
    assert everything(model, X) == everything(clean, X)
    assert set(model.audit_["index"]) == {"day 2", "day 3", "day 5"}
    learned(model, X, y, [1])
    assert everything(model, X) == everything(learned(clean, X, y, [1]), X)


def test_a_classifier_with_weights_and_names_of_single_rows(table):
    X, y = table
    labels, weights = np.where(y > 0.0, "up", "down"), np.ones(40)
    model, clean = RobustClassifier(journal=100), RobustClassifier()
    for day in DAYS:
        options = {"classes": ["down", "up"]} if day.start == 0 else {}
        model.partial_fit(X[day], labels[day], sample_weight=weights, **options)
    assert model.forget([3, 100, 239]).rows == 3
    for day in DAYS:
        rows = np.setdiff1d(np.arange(240)[day], [3, 100, 239])
        options = {"classes": ["down", "up"]} if day.start == 0 else {}
        clean.partial_fit(X[rows], labels[rows], sample_weight=np.ones(len(rows)), **options)
    assert same(model.predict_proba(X), clean.predict_proba(X))


def test_what_is_learned_does_not_depend_on_the_journal(table):
    X, y = table
    assert everything(learned(RobustRegressor(journal=10), X, y), X) == everything(
        learned(RobustRegressor(), X, y), X
    )


def test_a_copy_that_was_stored_forgets_as_well(table):
    X, y = table
    model = learned(RobustRegressor(journal=50), X, y)
    copied = pickle.loads(pickle.dumps(model))
    assert copied.forget(["day 2"]) == model.forget(["day 2"])
    assert everything(copied, X) == everything(model, X)


def test_all_rows_can_be_forgotten(table):
    X, y = table
    model = learned(RobustRegressor(journal=50), X, y, [0])
    model.forget(["day 0"])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)
    assert everything(learned(model, X, y), X) == everything(learned(RobustRegressor(), X, y), X)


def test_what_cannot_be_forgotten_is_said(table):
    X, y = table
    with pytest.raises(ValueError, match="journal=1_000"):
        RobustRegressor().partial_fit(X, y).forget([0])
    model = RobustRegressor(journal=50).fit(X, y)
    with pytest.raises(ValueError, match="reset"):
        model.partial_fit(X, y)
    learned(model.reset(), X, y)
    with pytest.raises(KeyError, match="day 9"):
        model.forget(["day 9"])
    with pytest.raises(ValueError, match="forget needs the rows"):
        model.fit(X, y).forget(["day 1"])
    with pytest.raises(ValueError, match="at least 1: got 0"):
        RobustRegressor(journal=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="expected 240, got 1"):
        RobustRegressor().partial_fit(X, y, row_ids=["a"])
    assert clone(model).journal == 50
