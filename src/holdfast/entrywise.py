"""Running scales and AdaGrad steps: what is done to each entry of a row and of the weights by itself.

Each function has two bodies, as those of `vectors`: one here for Python, with NumPy, and one in
`holdfast._compiled` with the same bits.
"""

import numpy as np

from holdfast.vectors import TINY, Sparse, values_of

SWING = 5.0  # deviations count up to this many spreads: with 1 wild value in SWING**2 a spread would explode
REACH = 2.5  # the same for spreads that fade: they are for streams in which 1 value in 10 may be wild
TIES = 0.3  # a fading center moves only if fewer of the values equal it
FAR = 2.0**1000  # squared deviations count up to this
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
def fade_moments(center, spread, factors, counts, ties, n, memory, x):
    """Move fading centers and mean squared deviations by the n-th row: `fade_entry` of every column.

    Of a sparse row, the largest absolute values so far fade instead. Returns whether a column now has its
    first spread.
    """
    if isinstance(x, Sparse):
        spread[x.places] *= 1.0 - 1.0 / memory
        update_max_abs(spread, factors, x)
        return False
    rate, deviation = 1.0 / min(n, memory), np.subtract(x, center, dtype=np.float64)
    known, moved = factors > 0.0, deviation != 0.0
    far = np.abs(deviation * factors)
    near = np.where(far > REACH, deviation * (REACH / far), deviation)
    ties += np.where(known, rate * (np.where(moved, 0.0, 1.0) - ties), 0.0)
    varied = known & moved
    counts += np.where(varied, 1.0, 0.0)
    step = np.maximum(1.0 / counts, rate)
    center += np.where(varied & (ties < TIES), step * near, 0.0)
    spread += np.where(varied, step * (near * near - spread), 0.0)
    before = spread > 0.0
    for i in np.flatnonzero(~known & moved):
        _, spread[i], counts[i], _ = fade_entry(center[i], spread[i], 0.0, counts[i], 0.0, rate, float(x[i]))
    return bool(np.any((spread > 0.0) & ~before))


def fade_entry(center, square, factor, count, ties, rate, value):
    """The fading center and mean squared deviation of a column, after one more value.

    Only deviations that are not 0 move the mean square, so that the 1 of a rare column is about one spread
    from its 0. The center moves only if few of the values equal it: that of a rare column stays at 0.
    `count` is the number of those deviations, `ties` the share of the others. A deviation counts up to REACH
    spreads, and the k-th has weight 1 / k, at least `rate`.

    A column without a spread, whose factor is 0, has one from its second deviation on: the smaller of the
    first two. Until then the square of the first is kept as a negative number.
    """
    deviation = value - center
    if not factor > 0.0:
        new = min(deviation * deviation, FAR)
        if new > 0.0 and square < 0.0:
            return center, min(-square, new), 2.0, ties
        return (center, -new, 1.0, ties) if new > 0.0 and square == 0.0 else (center, square, count, ties)
    ties += rate * ((0.0 if deviation != 0.0 else 1.0) - ties)
    if deviation != 0.0:
        far = abs(deviation * factor)
        near = deviation * (REACH / far) if far > REACH else deviation
        count += 1.0
        step = max(1.0 / count, rate)
        if ties < TIES:
            center += step * near
        square += step * (near * near - square)
    return center, square, count, ties


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
