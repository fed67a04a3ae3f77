"""Products of a matrix with a row."""

import numpy as np

from holdfast.kernels import Entry, by_type, change_each_row, each_entry, sum_in_each_row, sum_of_all_rows
from holdfast.vectors import inner_product

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


_inner_products = sum_in_each_row(inner_product, "_inner_products")
_add_to_rows = change_each_row(_add_multiple, "along", "_add_to_rows")


@_quiet
@by_type
def shrink_rows(matrix: np.ndarray, a: np.ndarray, factor: float, along: np.ndarray) -> None:
    """Add to every row of a matrix `a`, times the factor and the inner product of the two; in place.

    These inner products, matrix a, are written to `along`. All must be dense.
    """
    _inner_products(matrix, a, along)
    _add_to_rows(matrix, along, factor, a)
