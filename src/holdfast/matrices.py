"""Products of a matrix with a row: in Python by NumPy, compiled by the kernels of `_compiled`.

The sums have the same order both ways, so the bits are the same.
"""

import numpy as np

from holdfast.vectors import UNEQUAL, Sparse

_quiet = np.errstate(all="ignore")


def padded(count):
    """The number of columns of a matrix that is read fast: the next multiple of 8. The others stay 0."""
    return -(-count // 8) * 8


@_quiet
def sum_of_rows(matrix, x, total):
    """The rows of a matrix, each times its entry of x, added up from the first to the last: matrix' x.

    They are written to `total`.
    """
    if isinstance(x, Sparse):
        terms = np.multiply(matrix[x.places], np.asarray(x.values, float)[:, None])
    else:
        if len(matrix) != len(x):
            raise ValueError(UNEQUAL)
        terms = np.multiply(matrix, np.asarray(x, float)[:, None])
    total[:] = np.add.accumulate(terms)[-1] if len(terms) else 0.0


@_quiet
def shrink_rows(matrix, a, factor, along):
    """Add to every row of a matrix `a`, times the factor and the inner product of the two; in place.

    These inner products, matrix a, are written to `along`. All must be dense.
    """
    terms = matrix * a
    whole = terms.shape[1] & -8  # the order of sums is that of `vectors.dot`
    along[:] = np.add.reduce(terms[:, :whole], axis=1) + np.add.reduce(terms[:, whole:], axis=1)
    matrix += (factor * along)[:, None] * a
