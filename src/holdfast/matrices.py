"""Products of a matrix with a row."""

import numpy as np

from holdfast.kernels import Entry, by_type, change_each_row, each_entry, sum_in_each_row, sum_of_all_rows
from holdfast.vectors import inner_product

_AT_ONCE = 3072  # entries, 24 KB: rows that are read twice are still in the first cache

_quiet = np.errstate(all="ignore")


def padded(count: int) -> int:
    """The number of columns of a matrix that is read fast: the next multiple of 8. The others stay 0."""
    return -(-count // 8) * 8


@_quiet
@sum_of_all_rows
def sum_of_rows(matrix: Entry, x: Entry) -> Entry:
    """The rows of a matrix, each times its entry of x, added up from the first to the last: matrix' x.

    sum_of_rows(matrix, x, total) writes them to `total`.
    """
    return matrix * x


@each_entry("row")
def _add_multiple(row: Entry, along: float, factor: float, a: Entry) -> Entry:
    return row + (along * factor) * a


products = _quiet(sum_in_each_row(inner_product, "products"))  # matrix, x, and the row of them that it writes
add_to_rows = _quiet(change_each_row(_add_multiple, "along", "add_to_rows"))  # matrix, along, factor, a


@_quiet
@by_type
def shrink_rows(matrix: np.ndarray, a: np.ndarray, factor: float, along: np.ndarray) -> None:
    """Add to every row of a matrix `a`, times the factor and the inner product of the two; in place.

    These inner products, matrix a, are written to `along`. All must be dense.
    """
    rows = max(_AT_ONCE // matrix.shape[1], 1)
    for first in range(0, len(matrix), rows):
        part, own = matrix[first : first + rows], along[first : first + rows]
        products(part, a, own)
        add_to_rows(part, own, factor, a)
