"""Tables for the tests of the estimators."""

import numpy as np
from laws import like


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


def table(rows=600, seed=0, dim=4):
    """Features of different scales, labels and targets of a linear model; and the same for testing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 500, dim)) * 10.0 ** rng.integers(-2, 4, dim) + rng.normal(size=dim) * 10.0
    z = ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.normal(size=dim)
    X, y, target = X, np.where(z > 0.0, "yes", "no"), 100.0 + 5.0 * z + 0.1 * rng.normal(size=len(z))
    return X[:rows], y[:rows], target[:rows], X[rows:], y[rows:], target[rows:]


def three_classes(seed=0, rows=600):
    """Features of three groups, and their names."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, rows)
    return rng.normal(size=(rows, 2)) + 4.0 * np.eye(3)[codes][:, :2], np.array(["a", "b", "c"])[codes]


def same_state(a, b):
    """Whether two estimators have the same states, bit for bit, compiled or not."""
    return all(like(one.state, other.state) for one, other in zip(a._games, b._games, strict=True))
