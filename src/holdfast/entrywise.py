"""Arithmetic on whole rows: running scales and AdaGrad steps, entry by entry, and products with a matrix."""

from typing import Any

import numpy as np

from holdfast.kernels import (
    Entry,
    Sparse,
    by_type,
    change_each_row,
    each_entry,
    sum_in_each_row,
    sum_of_all_rows,
    sum_of_entries,
    where,
)
from holdfast.vectors import TINY, assign, inner_product

SWING = 5.0  # deviations count up to this many spreads: with 1 wild value in SWING**2 a spread would explode
LEAST, MOST = 2.0**-360, 2.0**400  # where a sum of squares is exact enough, and far from the ends of floats

_quiet = np.errstate(all="ignore")


@sum_of_entries
def count_missing(x: Entry) -> Entry:
    return where(x != x, 1.0, 0.0)


@each_entry("row")
def clear_cells(row: Entry, x: Entry) -> Entry:
    return where(x != x, 0.0, row)


@by_type
def fill_missing(row: np.ndarray, x: Any, center: np.ndarray) -> Any:
    """The row x with centers where cells are missing, in a longer buffer; a sparse row as it is."""
    if isinstance(x, Sparse):
        return x
    filled = row[: len(x)]
    _fill_missing(filled, center, x)
    return filled


@each_entry("row")
def _fill_missing(row: Entry, center: Entry, x: Entry) -> Entry:
    return where(x != x, center, x)


@by_type
def copy_row(row: np.ndarray, x: Any) -> None:
    """Copy x to the beginning of a longer row, unless it is sparse."""
    if not isinstance(x, Sparse):
        assign(row[: len(x)], x)


@_quiet
@by_type
def update_moments(center: np.ndarray, spread: np.ndarray, factors: np.ndarray, n: float, x: Any) -> None:
    """Move running centers and sums of squared deviations by the n-th row, deviations up to SWING spreads."""
    if isinstance(x, Sparse):
        update_max_abs(spread, factors, x)
    elif not _move_moments(center, spread, factors, n, x):
        _add_first_squares(spread, center, factors, x)


@each_entry("center", "spread", reports=True)
def _move_moments(
    center: Entry, spread: Entry, factors: Entry, n: float, x: Entry
) -> tuple[Entry, Entry, Entry]:
    known, deviation = factors > 0.0, x - center
    far = abs(deviation * factors)
    near = where(far > SWING, deviation * (SWING / far), deviation)
    part = near / n
    return where(known, center + part, center), where(known, spread + near * (near - part), spread), known


@each_entry("spread")
def _add_first_squares(spread: Entry, center: Entry, factors: Entry, x: Entry) -> Entry:
    deviation = x - center
    return where(factors > 0.0, spread, add_square(spread, deviation * deviation))


def add_square(squares: Entry, square: Entry) -> Entry:
    """The sum of squared deviations, after one more, of what has no spread yet.

    The first is kept as a negative number until there is a second; later none more than doubles the sum.
    """
    first, second = -square, 2.0 * where(square < -squares, square, -squares)
    later = squares + where(squares < square, squares, square)
    moved = where(squares < 0.0, second, where(squares > 0.0, later, first))
    return where(square == 0.0, squares, moved)


@_quiet
@by_type
def update_max_abs(spread: np.ndarray, factors: np.ndarray, x: Any) -> None:
    """Of a sparse row, keep the largest absolute value of each entry, and its inverse in `factors`."""
    if isinstance(x, Sparse):
        _grow(spread, factors, x)


@each_entry("spread", "factors")
def _grow(spread: Entry, factors: Entry, x: Entry) -> tuple[Entry, Entry]:
    far = where(abs(x) > TINY, abs(x), 0.0)
    most = where(far < 2.0 * spread, far, 2.0 * spread)  # it at most doubles
    far = where(spread > 0.0, where(most > spread, most, spread), far)
    return far, where(far > 0.0, 1.0 / far, 0.0)


@_quiet
@by_type
def update_factors(factors: np.ndarray, spread: np.ndarray, n: float, x: Any) -> None:
    """Set the inverses of standard deviations, 0 where there is none yet; sparse rows have them already."""
    if not isinstance(x, Sparse):
        _invert(factors, n, spread)


@each_entry("factors")
def _invert(factors: Entry, n: float, spread: Entry) -> Entry:
    return where(spread > 0.0, 1.0 / np.sqrt(spread / n), 0.0)


@_quiet
@each_entry("w", "squares", reports=True)
def adagrad_step(
    w: Entry, squares: Entry, units: Entry, steps: Entry, low: Entry, high: Entry, slope: float, x: Entry
) -> tuple[Entry, Entry, Entry]:
    """A step of AdaGrad: every entry by its own sum of squared gradients, then back into its bounds.

    A sum is one of squares of units * g. If it does not end between LEAST and MOST, its entry is left for
    `holdfast.learners.adagrad`, marked by a minus sign of its sum. Returns whether there is no such entry.
    """
    g = slope * x
    y = g * units
    total = squares + y * y
    fine, idle = (total > LEAST) & (total < MOST), g == 0.0
    moved = w - steps * y / np.sqrt(total)
    moved = where(moved < low, low, moved)
    moved = where(moved > high, high, moved)
    return where(fine, moved, w), where(fine, total, where(idle, squares, -squares)), fine | idle


_AT_ONCE = 3072  # entries, 24 KB: rows that are read twice are still in the first cache


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
