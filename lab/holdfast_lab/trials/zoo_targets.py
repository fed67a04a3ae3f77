"""Awkward targets of the zoo: many zeros, counts, two values.

Each function takes a random generator and the number of rows, and returns columns and target.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from holdfast_lab.trials.zoo_columns import ordinary

SHARES = (0.5, 0.65, 0.75, 0.85, 0.9, 0.95)


def explained(rng, rows, share, noise=0.0):
    """y = 20 on, with `on` a column that is 0 in this share of the rows; noise only where it is 1."""
    X, on = ordinary(rng, rows), rng.random(rows) >= share
    return np.column_stack([X, on]), on * (20.0 + noise * rng.standard_normal(rows))


def unexplained(rng, rows, share):
    """This share of a linear target is replaced by zeros, and no column says where."""
    X = ordinary(rng, rows)
    y = 20.0 + 2.0 * X[:, 0] + 0.2 * X[:, 1] + rng.standard_normal(rows)
    return X, np.where(rng.random(rows) < share, 0.0, y)


def counts(rng, rows, mean):
    X = ordinary(rng, rows)
    return X, rng.poisson(mean * np.exp(0.3 * X[:, 0] + 0.03 * (X[:, 1] - 50.0))).astype(np.float64)


def two_values(rng, rows):
    X = ordinary(rng, rows)
    return X, np.where(X[:, 0] + 0.1 * (X[:, 1] - 50.0) + rng.standard_normal(rows) > 1.0, 7.0, 3.0)


TARGETS: dict[str, Callable] = {
    **{f"y {share:.0%} 0, explained": partial(explained, share=share) for share in SHARES},
    "y 75% 0, explained, noise": partial(explained, share=0.75, noise=4.0),
    **{f"y {share:.0%} 0, unexplained": partial(unexplained, share=share) for share in SHARES},
    "y counts, mean 5": partial(counts, mean=5.0),
    "y counts, mean 0.5": partial(counts, mean=0.5),
    "y two values": two_values,
}
