"""Running scales and AdaGrad steps of holdfast.vectors as numba compiles them."""

import numpy as np
from numba import njit

from holdfast import entrywise, vectors
from holdfast._compiled import kernels
from holdfast._compiled.overloads import is_instance, overloads
from holdfast.entrywise import LEAST, MOST
from holdfast.vectors import TINY, UNEQUAL, ScaledWeights, Sparse


@overloads(vectors.target_for)
def target_for(w, y):
    return (lambda w, y: w.transform_target(y)) if is_instance(w, ScaledWeights) else (lambda w, y: y)


@overloads(vectors.prediction_of)
def prediction_of(w, z):
    return (lambda w, z: w.to_target_units(z)) if is_instance(w, ScaledWeights) else (lambda w, z: z)


@overloads(vectors.squash)
def squash(row, knee, most):
    if is_instance(row, Sparse):
        return lambda row, knee, most: row
    return lambda row, knee, most: vectors.squash_cells(row, knee, most)


@njit(**kernels.HELPER)
def _clipped(value, clip):
    if value > clip:
        return clip if value < np.inf else np.nan
    if value < -clip:
        return -clip if value > -np.inf else np.nan
    return value


@overloads(vectors.standardise)
def standardise(w, x):
    if is_instance(x, Sparse):

        def scaled(w, x):
            count = len(x.places)
            places, values = np.empty(count + 1, x.places.dtype), np.empty(count + 1)
            for i in range(count):
                value = np.float64(x.values[i]) * w.factors[np.uint64(x.places[i])]
                places[i], values[i] = x.places[i], _clipped(value, w.clip)
            places[count], values[count] = x.dim, 1.0
            return Sparse(places, values, x.dim + 1)

        return scaled

    if x.layout != "C":
        return lambda w, x: vectors.standardise(w, np.ascontiguousarray(x))

    def from_center(w, x):
        if len(x) != len(w.center):
            raise ValueError(UNEQUAL)
        kernels.standardise_entries(w.center, w.factors, w.row, w.clip, x)
        w.row[len(x)] = 1.0
        return w.row

    return from_center


@overloads(entrywise.clear_missing)
def clear_missing(row, x, share):
    def clear(row, x, share):
        values, seen = vectors.values_of(row), vectors.values_of(x)
        count = 0
        for i in range(len(seen)):
            count += seen[i] != seen[i]
        if 0 < count <= share * len(seen):
            for i in range(len(seen)):
                if seen[i] != seen[i]:
                    values[i] = 0.0
        return row

    return clear


@overloads(entrywise.fill_missing)
def fill_missing(row, x, center):
    if is_instance(x, Sparse):
        return lambda row, x, center: x

    def fill(row, x, center):
        for i in range(len(center)):
            row[i] = center[i] if x[i] != x[i] else np.float64(x[i])
        return row[: len(center)]

    return fill


@overloads(entrywise.update_moments)
def update_moments(center, spread, factors, n, x):
    if is_instance(x, Sparse):
        return lambda center, spread, factors, n, x: entrywise.update_max_abs(spread, factors, x)

    if x.layout == "C":
        return lambda center, spread, factors, n, x: kernels.moments_entries(center, spread, factors, n, x)
    return lambda center, spread, factors, n, x: entrywise.update_moments(
        center, spread, factors, n, np.ascontiguousarray(x)
    )


@overloads(entrywise.update_max_abs)
def update_max_abs(spread, factors, x):
    if not is_instance(x, Sparse):
        return lambda spread, factors, x: None

    def largest_so_far(spread, factors, x):
        for i in range(len(x.places)):
            place = np.uint64(x.places[i])
            known, far = spread[place], abs(np.float64(x.values[i]))
            far = far if far > TINY else 0.0
            if known > 0.0:
                far = max(known, min(far, 2.0 * known))
            spread[place] = far
            factors[place] = 1.0 / far if far > 0.0 else 0.0

    return largest_so_far


@overloads(entrywise.copy_row)
def copy_row(row, x):
    if is_instance(x, Sparse):
        return lambda row, x: None

    def copy(row, x):
        for i in range(len(row) - 1):
            row[i] = x[i]

    return copy


@overloads(entrywise.update_factors)
def update_factors(factors, spread, n, x):
    if is_instance(x, Sparse):
        return lambda factors, spread, n, x: None

    def inverses(factors, spread, n, x):
        for i in range(len(factors)):
            factors[i] = 1.0 / np.sqrt(spread[i] / n) if spread[i] > 0.0 else 0.0

    return inverses


@overloads(entrywise.adagrad_step)
def adagrad_step(w, squares, units, steps, low, high, slope, x):
    if is_instance(x, Sparse):

        def touched(w, squares, units, steps, low, high, slope, x):
            all_fine = True
            for j in range(len(x.places)):
                i, g = np.uint64(x.places[j]), slope * np.float64(x.values[j])
                y = g * units[i]
                total = squares[i] + y * y
                if total > LEAST and total < MOST:
                    squares[i] = total
                    moved = w[i] - steps[i] * y / np.sqrt(total)
                    moved = low[i] if moved < low[i] else moved
                    w[i] = high[i] if moved > high[i] else moved
                elif g != 0.0:
                    squares[i], all_fine = -squares[i], False
            return all_fine

        return touched

    def each_entry(w, squares, units, steps, low, high, slope, x):
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        return kernels.adagrad_entries(w, squares, units, steps, low, high, slope, x) == 0

    if x.layout == "C":
        return each_entry
    return lambda w, squares, units, steps, low, high, slope, x: entrywise.adagrad_step(
        w, squares, units, steps, low, high, slope, np.ascontiguousarray(x)
    )
