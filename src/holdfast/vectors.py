"""Dot products and friends on one row: the only functions in holdfast with a body for each world.

Here stand NumPy's; `holdfast._compiled` has loops that round in the same order, so that both worlds give
the same bits. That order is NumPy's own pairwise summation (eight running sums, blocks of 128), which is
also more accurate than adding from left to right. float32 rows are widened before anything is multiplied.
"""

import numpy as np

UNEQUAL = (
    "two vectors must have the same number of entries: check that every x has as many as there are weights"
)

_quiet = np.errstate(over="ignore", invalid="ignore", under="ignore")


@_quiet
def dot(a, b):
    """The inner product of two vectors, as a float."""
    if len(a) != len(b):
        raise ValueError(UNEQUAL)
    return float(np.add.reduce(np.multiply(a, b, dtype=np.float64)))


@_quiet
def add(w, scale, x):
    """w += scale * x, in place."""
    if len(w) != len(x):
        raise ValueError(UNEQUAL)
    w += np.multiply(scale, x, dtype=np.float64)


@_quiet
def largest(x):
    """The largest absolute entry; NaN if there is one, 0 if there are no entries."""
    return float(np.abs(x).max(initial=0.0))


@_quiet
def total(x):
    """The sum of the absolute entries."""
    return float(np.add.reduce(np.abs(x).astype(np.float64, copy=False)))
