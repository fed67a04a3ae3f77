"""What `fit` warns of: the column and the class behind skipped rows."""

import warnings

import numpy as np
import pytest

import holdfast as hf
from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.fixture
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 3))
    return rng, X, X @ [3.0, -1.0, 0.5] + 0.1 * rng.normal(size=600)


def test_the_column_behind_most_skipped_rows_is_named(rows):
    rng, X, y = rows
    X[rng.random(600) < 0.1, 1] = 1e5
    with pytest.warns(hf.HoldfastWarning, match=r"100 % of the \d+ skipped rows are due to x1; audit_"):
        RobustRegressor(random_state=0).fit(X, y)


def test_the_class_whose_rows_are_skipped_is_named(rows):
    rng, X, _ = rows
    labels = np.where(X[:, 0] > 1.0, "rare", "usual")
    X[(labels == "rare") & (rng.random(600) < 0.4), 1:] = 1e5
    with pytest.warns(hf.HoldfastWarning) as caught:
        RobustClassifier(random_state=0).fit(X, labels)
    assert any(
        "of the rows of class rare were skipped, and 0 % of the others" in str(w.message) for w in caught
    )


def test_a_good_table_gives_no_warning(rows):
    _, X, y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RobustRegressor(random_state=0).fit(X, y)
        RobustClassifier(random_state=0).fit(X, y > 0.0)
