"""The functions of the `llvm_` modules as loops with the same bits, for the public path."""

import math

import numpy as np
from numba import njit

from holdfast.entrywise import LEAST, MOST, SWING, add_square

_BLOCK, _LANES = 128, 8
_add_square = njit(add_square, nogil=True)


@njit(nogil=True)
def inner_product(a, b):
    return _sum(a, b, 0, len(a))


@njit(nogil=True)
def sum_of_squares(a):
    return _sum(a, a, 0, len(a))


@njit(nogil=True)
def gathered_product(w, places, values):
    gathered = np.empty(len(places))
    for i in range(len(places)):
        gathered[i] = w[np.uint64(places[i])]
    return _sum(gathered, values, 0, len(places))


@njit(nogil=True)
def _sum(a, b, start, n):
    """The sum of n products: long rows in halves, eight running sums, and a sum of the last up to seven."""
    whole, rest, total = n & -_LANES, 0.0, 0.0
    for i in range(start + whole, start + n):
        rest += np.float64(a[i]) * np.float64(b[i])
    if n >= _BLOCK + _LANES:
        half = (whole >> 1) & -_LANES
        return _sum(a, b, start, half) + _sum(a, b, start + half, whole - half) + rest
    if whole > 0:
        s = np.empty(_LANES)
        for lane in range(_LANES):
            s[lane] = np.float64(a[start + lane]) * np.float64(b[start + lane])
        for i in range(start + _LANES, start + whole, _LANES):
            for lane in range(_LANES):
                s[lane] += np.float64(a[i + lane]) * np.float64(b[i + lane])
        total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
    return total + rest


@njit(nogil=True)
def add_entries(w, scale, x):
    for i in range(len(w)):
        w[i] += scale * np.float64(x[i])


@njit(nogil=True)
def add_exactly_entries(w, rest, scale, x):
    for i in range(len(w)):
        before, term = w[i], x[i]
        after = before + term
        part = after - before
        rest[i] += (before - (after - part)) + (term - part)
        w[i] = after


@njit(nogil=True)
def adagrad_entries(w, squares, units, steps, low, high, slope, x):
    unfinished = 0
    for i in range(len(w)):
        g = slope * np.float64(x[i])
        y, before = g * units[i], squares[i]
        total = before + y * y
        if LEAST < total < MOST:
            squares[i] = total
            moved = w[i] - steps[i] * y / math.sqrt(total)
            moved = low[i] if low[i] > moved else moved
            w[i] = high[i] if moved > high[i] else moved
        elif g != 0.0:  # also if it is NaN
            squares[i] = -before
            unfinished = 1
    return unfinished


@njit(nogil=True)
def moments_entries(center, spread, factors, n, x):
    for i in range(len(center)):
        deviation = np.float64(x[i]) - center[i]
        if factors[i] > 0.0:
            far = abs(deviation * factors[i])
            near = deviation * (SWING / far) if far > SWING else deviation
            part = near / n
            center[i] += part
            spread[i] += near * (near - part)
        else:
            spread[i] = _add_square(spread[i], deviation * deviation)


@njit(nogil=True)
def standardise_entries(center, factors, row, clip, x):
    for i in range(len(center)):
        value = (np.float64(x[i]) - center[i]) * factors[i]
        if math.isinf(value):
            row[i] = math.nan
        else:
            row[i] = clip if value > clip else (-clip if value < -clip else value)


@njit(nogil=True)
def sum_rows(matrix, x, total):
    total[:] = 0.0
    for i in range(len(matrix)):
        add_entries(total, np.float64(x[i]), matrix[i])


@njit(nogil=True)
def shrink_rows(matrix, a, along, factor):
    for i in range(len(matrix)):
        along[i] = inner_product(matrix[i], a)
        add_entries(matrix[i], along[i] * factor, a)


@njit(nogil=True)
def prefetch(array, begin, length):
    """Does nothing: prefetching only saves time."""
