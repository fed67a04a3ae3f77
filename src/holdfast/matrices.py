"""Products of a matrix with a row: in Python by NumPy, compiled by the kernels of `_compiled`.

The sums have the same order both ways, so the bits are the same.
"""

import numpy as np

from holdfast.vectors import UNEQUAL, Sparse

_quiet = np.errstate(all="ignore")


@_quiet
def sum_of_rows(matrix, x):
    """The rows of a matrix, each times its entry of x, added up from the first to the last: matrix' x."""
    if isinstance(x, Sparse):
        terms = np.multiply(matrix[x.places], np.asarray(x.values, float)[:, None])
    else:
        if len(matrix) != len(x):
            raise ValueError(UNEQUAL)
        terms = np.multiply(matrix, np.asarray(x, float)[:, None])
    return np.add.accumulate(terms)[-1] if len(terms) else np.zeros(matrix.shape[1])


@_quiet
def shrink_rows(matrix, a, factor):
    """Add to every row of a matrix `a`, times the factor and the inner product of the two; in place.

    Returns these inner products: matrix a. Both must be dense.
    """
    terms = matrix * a
    whole = terms.shape[1] & -8  # the order of sums is that of `vectors.dot`
    along = np.add.reduce(terms[:, :whole], axis=1) + np.add.reduce(terms[:, whole:], axis=1)
    matrix += (factor * along)[:, None] * a
    return along
