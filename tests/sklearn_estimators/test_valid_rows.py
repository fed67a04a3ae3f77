"""Rows that need no validation skip it, and nothing else changes: the same answers, errors and warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn_estimators.tables import linear_table

from holdfast.sklearn import RobustRegressor

X, Y = linear_table(60, dim=3)
ROWS = {
    "float64": X[:2],
    "float32": X[:2].astype(np.float32),
    "of the other byte order": X[:2].astype(">f8"),
    "integers": X[:2].astype(int),
    "objects": X[:2].astype(object),
    "complex": X[:2] + 0j,
    "columns apart": np.hstack([X, X])[:2, ::2],
    "in Fortran's order": np.asfortranarray(X[:2]),
    "one dimension": X[0],
    "no rows": X[:0],
    "too many columns": np.hstack([X, X])[:2],
    "a missing cell": np.where(X[:2] == X[0, 0], np.nan, X[:2]),
    "an infinite cell": np.where(X[:2] == X[0, 0], np.inf, X[:2]),
    "a masked array": np.ma.masked_less(X[:2], 0.0),
    "a list": X[:2].tolist(),
    "a data frame": pd.DataFrame(X[:2], columns=list("abc")),
    "sparse": csr_array(X[:2]),
}


def outcome(model, rows):
    """The predictions, or the error; and the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            answer = model.predict(rows).tolist()
        except (ValueError, TypeError) as problem:
            answer = type(problem), str(problem)
    return answer, [str(warning.message) for warning in seen]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("missing", ["impute", "raise"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array, lambda X: pd.DataFrame(X, columns=list("abc"))])
def test_nothing_changes_for_rows_that_skip_validation(rows, missing, kind, monkeypatch):
    model = RobustRegressor(learner="adagrad", missing=missing, n_epochs=1, random_state=0).fit(kind(X), Y)
    found = outcome(model, rows)
    monkeypatch.setattr(RobustRegressor, "_is_valid", lambda *_: False)
    assert found == outcome(model, rows)


@pytest.mark.parametrize("first", [0, 58])
def test_an_array_of_floats_is_not_validated_again(first, monkeypatch):
    model = RobustRegressor(learner="adagrad", n_epochs=1, random_state=0).fit(X, Y)
    monkeypatch.delattr("holdfast.sklearn.base.validate_data")
    model.partial_fit(X[first:], Y[first:]).predict(X[first:])
