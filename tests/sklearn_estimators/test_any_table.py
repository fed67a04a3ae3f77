"""Any table can be learned from: no exception but a clear ValueError, and no NaN."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from scipy.sparse import csr_array

import holdfast as hf
from holdfast.sklearn import RobustClassifier, RobustRegressor

COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far": lambda rng, n: 1e6 + rng.normal(size=n),
    "huge": lambda rng, n: 1e200 * rng.normal(size=n),
    "tiny": lambda rng, n: 1e-200 * rng.normal(size=n),
    "tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "constant": lambda rng, n: np.full(n, 7.0),
    "missing": lambda rng, n: np.full(n, np.nan),
    "one-hot": lambda rng, n: (rng.random(n) < 0.05).astype(float),
    "counts": lambda rng, n: rng.poisson(2.0, n).astype(float),
    "holes": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "wild": lambda rng, n: np.where(rng.random(n) < 0.05, rng.choice([1e300, -np.inf, 1e9], n), 0.5),
}
SETTINGS = {
    "outliers": some.sampled_from(["auto", 0, 0.05, 1, 3]),
    "scale": some.booleans(),
    "average": some.booleans(),
    "missing": some.sampled_from(["impute", "impute", "skip"]),
    "n_epochs": some.integers(1, 3),
    "alpha": some.sampled_from([0.0, 0.0, 0.1]),
}
TABLES = {
    "seed": some.integers(0, 10**6),
    "rows": some.one_of(some.integers(1, 5), some.integers(6, 60)),
    "columns": some.lists(some.sampled_from(sorted(COLUMNS)), min_size=1, max_size=6),
    "kind": some.sampled_from(["dense", "float32", "sparse"]),
    "classes": some.integers(0, 3),
    "options": some.fixed_dictionaries(SETTINGS),
}


def check_table(seed, rows, columns, kind, classes, options):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        X = np.stack([COLUMNS[name](rng, rows) for name in columns], axis=1)
        X = X.astype(np.float32) if kind == "float32" else csr_array(X) if kind == "sparse" else X
    regression = classes < 2
    y = COLUMNS[columns[0]](rng, rows) if regression else rng.integers(0, classes, rows)
    model = (RobustRegressor if regression else RobustClassifier)(random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hf.HoldfastWarning)
        try:
            model.fit(X, y)
        except ValueError as problem:
            assert str(problem).startswith(("a classifier needs", "Input y contains", "y contains")), problem
            return
        warm_up = model.audit_counts_["warm-up"]
        assert len(model.kept_mask_) == rows == model.kept_ + model.skipped_ + warm_up
        check_numbers(model, X)
        model.partial_fit(X, y)
    check_numbers(model, X)
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X) == model.predict(X)).all()


def check_numbers(model, X):
    assert np.isfinite(np.asarray(model.coef_, float)).all()
    if isinstance(model, RobustRegressor):
        assert np.isfinite(model.predict(X)).all()
    else:
        assert np.isfinite(model.predict_proba(X)).all()


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(**TABLES)
def test_any_table_can_be_learned_from(**table):
    check_table(**table)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(**TABLES)
def test_a_thousand_tables_can_be_learned_from(**table):
    check_table(**table)
