"""Tables for the tests of the estimators."""

import numpy as np


def linear_table(rows=1000, dim=5, seed=0, noise=0.03):
    """Standard normal features, and a target that is linear in them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, dim))
    return X, X @ np.linspace(1.0, -1.0, dim) + noise * rng.normal(size=rows)


def with_wild_rows(X, y, count, factor=1e6, seed=1):
    """A copy in which some rows are much too long and have the wrong sign; and which rows are good."""
    bad = np.random.default_rng(seed).choice(np.arange(30, len(X)), count, replace=False)
    X, y, good = X.copy(), y.copy(), np.ones(len(X), bool)
    X[bad], y[bad], good[bad] = factor * X[bad], -y[bad], False
    return X, y, good
