"""Running scales and AdaGrad steps: what is done to each entry of a row and of the weights by itself.

Each function has two bodies, as those of `vectors`: one here for Python, with NumPy, and one in
`holdfast._compiled` with the same bits.
"""

import numpy as np

from holdfast.vectors import TINY, Sparse, values_of

SWING = 5.0  # deviations count up to this many spreads: with 1 wild value in SWING**2 a spread would explode
LEAST, MOST = 2.0**-360, 2.0**400  # where a sum of squares is exact enough, and far from the ends of floats

_quiet = np.errstate(all="ignore")


def clear_missing(row, x, share):
    """Set a standardised row to 0 where cells of x are missing (NaN), if at most this share of them is."""
    values = values_of(x)
    missing = np.isnan(values)
    if 0 < np.count_nonzero(missing) <= share * len(values):
        values_of(row)[:-1][missing] = 0.0
    return row


def fill_missing(row, x, center):
    """The row x with centers where cells are missing, in a longer buffer; a sparse row as it is."""
    if isinstance(x, Sparse):
        return x
    row[:-1] = np.where(np.isnan(x), center, x)
    return row[:-1]


@_quiet
def update_moments(center, spread, factors, n, x):
    """Move running centers and sums of squared deviations by the n-th row, deviations up to SWING spreads."""
    if isinstance(x, Sparse):
        update_max_abs(spread, factors, x)
        return
    deviation = np.subtract(x, center, dtype=np.float64)
    far = np.abs(deviation * factors)
    near = np.where(far > SWING, deviation * (SWING / far), deviation)
    known = factors > 0.0
    center += np.where(known, near / n, 0.0)
    spread += np.where(known, near * (near - near / n), 0.0)
    for i in np.flatnonzero(~known):
        spread[i] = add_square(spread[i], deviation[i] * deviation[i])


def add_square(squares, square):
    """The sum of squared deviations, after one more, of what has no spread yet.

    The first is kept as a negative number until there is a second; later none more than doubles the sum.
    """
    if square == 0.0:
        return squares
    if squares < 0.0:
        return 2.0 * min(-squares, square)
    return squares + min(square, squares) if squares > 0.0 else -square


@_quiet
def update_max_abs(spread, factors, x):
    """Of a sparse row, keep the largest absolute value of each entry, and its inverse in `factors`."""
    if isinstance(x, Sparse):
        known, far = spread[x.places], np.abs(x.values, dtype=np.float64)
        far = np.where(far > TINY, far, 0.0)
        far = np.where(known > 0.0, np.maximum(known, np.minimum(far, 2.0 * known)), far)
        spread[x.places], factors[x.places] = far, np.where(far > 0.0, 1.0 / far, 0.0)


def copy_row(row, x):
    """Copy x to the beginning of a longer row, unless it is sparse."""
    if not isinstance(x, Sparse):
        row[:-1] = x


@_quiet
def update_factors(factors, spread, n, x):
    """Set the inverses of standard deviations, 0 where there is none yet; sparse rows have them already."""
    if not isinstance(x, Sparse):
        factors[:] = np.where(spread > 0.0, 1.0 / np.sqrt(spread / n), 0.0)


@_quiet
def adagrad_step(w, squares, units, steps, low, high, slope, x):
    """A step of AdaGrad: every entry by its own sum of squared gradients, then back into its bounds.

    A sum is one of squares of units * g. If it does not end between LEAST and MOST, its entry is left for
    `holdfast.learners.adagrad`, marked by a minus sign of its sum. Returns whether there is no such entry.
    """
    at = x.places if isinstance(x, Sparse) else slice(None)
    g = np.multiply(slope, values_of(x), dtype=np.float64)
    y, before = g * units[at], squares[at]
    total = before + y * y
    fine, idle = (total > LEAST) & (total < MOST), g == 0.0
    moved = w[at] - steps[at] * y / np.sqrt(total)
    moved = np.where(moved < low[at], low[at], moved)
    w[at] = np.where(fine, np.where(moved > high[at], high[at], moved), w[at])
    squares[at] = np.where(fine, total, np.where(idle, before, -before))
    return bool(np.all(fine | idle))
