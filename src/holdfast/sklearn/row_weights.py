"""The weights of rows: an array, or None if all are 1."""

import numpy as np


def which_count(weights, count):
    """Which of the rows have a weight above 0. Without weights, all have."""
    return np.ones(count, bool) if weights is None else weights > 0.0


def are_unequal(weights, rows=slice(None)):
    """Whether those of these rows that count have other weights than 1."""
    if weights is None:
        return False
    own = weights[rows]
    return bool(((own != 1.0) & (own > 0.0)).any())
