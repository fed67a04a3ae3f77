"""Rows that come in parts, few rows, and constant columns."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn_estimators.tables import same_state, table

from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("average", [False, True])
def test_partial_fit_in_parts_is_one_partial_fit(rows, scale, average):
    X, y, target, *_ = table(200)
    X[50], target[60] = np.nan, 1e9
    delay = {"delay": 1} if scale and not average else {}  # the default is judged by batches
    for make, answers in ((RobustClassifier, y), (RobustRegressor, target)):
        first = {"classes": ["no", "yes"]} if make is RobustClassifier else {}
        whole = make(scale=scale, average=average, **delay).partial_fit(rows(X), answers, **first)
        parts = make(scale=scale, average=average, **delay).partial_fit(rows(X[:70]), answers[:70], **first)
        parts = pickle.loads(pickle.dumps(parts))
        for part in (slice(70, 71), slice(71, 200)):
            parts.partial_fit(rows(X[part]), answers[part])
        assert same_state(whole, parts)
        assert whole.coef_.tobytes() == parts.coef_.tobytes()
        assert whole.intercept_.tobytes() == parts.intercept_.tobytes()
        assert all((whole.audit_[name] == parts.audit_[name]).all() for name in ("round", "reason"))


def test_batches_of_outliers_do_not_change_the_model():
    X, _, target, *_ = table()
    model = RobustRegressor().partial_fit(X, target)
    before = model.coef_.copy()
    model.partial_fit(np.full((5, 4), np.nan), np.zeros(5)).partial_fit(X[:5], np.full(5, np.nan))
    model.partial_fit(np.full((5, 4), 1e300), np.full(5, -1e300)).partial_fit(X[:1] * 1e9, [1e9])
    assert (model.coef_ == before).all()
    assert model.audit_counts_["not readable"] >= 10


def test_very_few_rows_can_be_fitted():
    one = RobustRegressor().fit([[1.0, 2.0]], [3.0])
    assert np.isfinite(one.predict([[1.0, 2.0], [1e300, -1e300]])).all()
    pair = RobustClassifier().fit([[1.0], [2.0]], [0, 1])
    assert set(pair.predict([[1.0], [2.0]])) <= {0, 1}
    lost = RobustRegressor().fit(np.full((3, 2), np.nan), [1.0, 2.0, 3.0])
    assert lost.predict([[0.0, 0.0]]).tolist() == [0.0]
    assert (lost.skipped_, lost.kept_) == (3, 0)
    with pytest.raises(ValueError, match="y contains NaN"):
        RobustRegressor().fit([[1.0], [2.0]], [np.nan, np.nan])


def test_a_constant_column_has_no_weight():
    X, y, *_ = table()
    X[:, 1] = 7.0
    model = RobustClassifier(random_state=0).fit(X, y)
    assert model.coef_[0, 1] == 0.0
    assert np.isfinite(model.coef_).all()
