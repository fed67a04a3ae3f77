"""The functions of holdfast.vectors as numba compiles them: loops that round in NumPy's order."""

import math

import numpy as np
from numba import njit, types
from numba.extending import overload

from holdfast import vectors
from holdfast._compiled.numba_path import private
from holdfast.vectors import LEAST, MOST, TINY, UNEQUAL, ForecastWeights, LazyWeights, ScaledWeights, Sparse

if private is None:
    from holdfast._compiled.numba_public import HELPER, OVERLOAD
    from holdfast._compiled.plain_kernels import (
        absorb_entries,
        add_entries,
        add_exactly_entries,
        descend_entries,
        gathered_product,
        inner_product,
        prefetch,
        pure_log1p,
        standardise_entries,
        sum_of_squares,
    )
else:
    from holdfast._compiled.llvm_entrywise import (
        absorb_entries,
        add_entries,
        add_exactly_entries,
        descend_entries,
        standardise_entries,
    )
    from holdfast._compiled.llvm_kernels import (
        gathered_product,
        inner_product,
        prefetch,
        pure_log1p,
        sum_of_squares,
    )
    from holdfast._compiled.numba_private import HELPER, OVERLOAD

OVERLOADED: set = set()  # the functions that have a body of their own here or in `flatten`


def overloads(function):
    """Register the decorated function: for arguments of given types it returns what to compile."""
    OVERLOADED.add(function)
    return overload(function, jit_options=OVERLOAD)


def is_instance(kind, cls):
    """Whether values of this type are instances of a NamedTuple class."""
    return getattr(kind, "instance_class", None) is cls


@overloads(vectors.dot)
def dot(a, b):
    if is_instance(a, ScaledWeights) or is_instance(a, ForecastWeights) or is_instance(a, LazyWeights):
        return lambda a, b: a.product(b)
    if is_instance(b, Sparse):

        def gathered(a, b):
            if len(a) != b.dim:
                raise ValueError(UNEQUAL)
            return gathered_product(a, b.places, b.values)

        return gathered
    if a.layout == b.layout == "C":

        def inner(a, b):
            if len(a) != len(b):
                raise ValueError(UNEQUAL)
            return inner_product(a, b)

        return inner
    return lambda a, b: vectors.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@overloads(vectors.squared)
def squared(x):
    if is_instance(x, LazyWeights):
        return lambda x: x.square()
    if is_instance(x, Sparse):
        return lambda x: sum_of_squares(x.values)
    if is_instance(x, ScaledWeights) or is_instance(x, ForecastWeights):
        return lambda x: sum_of_squares(x.slopes())
    return (
        (lambda x: sum_of_squares(x))
        if x.layout == "C"
        else (lambda x: sum_of_squares(np.ascontiguousarray(x)))
    )


@overloads(vectors.add)
def add(w, scale, x):
    if is_instance(w, LazyWeights):
        return lambda w, scale, x: w.plus(scale, x)
    if is_instance(x, LazyWeights):
        return lambda w, scale, x: vectors.add(w, scale * x.multiple(), x.v)
    if is_instance(x, ScaledWeights) or is_instance(x, ForecastWeights):
        return lambda w, scale, x: vectors.add(w, scale, x.slopes())
    if is_instance(x, Sparse):

        def scattered(w, scale, x):
            if len(w) != x.dim:
                raise ValueError(UNEQUAL)
            for i in range(len(x.places)):
                w[np.uint64(x.places[i])] += scale * np.float64(x.values[i])

        return scattered

    if w.layout == x.layout == "C" and w.dtype == types.float64:

        def moved(w, scale, x):
            if len(w) != len(x):
                raise ValueError(UNEQUAL)
            add_entries(w, np.float64(scale), x)

        return moved

    def entrywise(w, scale, x):
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        for i in range(len(w)):
            w[i] += scale * np.float64(x[i])

    return entrywise


@overloads(vectors.add_exactly)
def add_exactly(w, rest, x):
    return lambda w, rest, x: add_exactly_entries(w, rest, 1.0, x)


@overloads(vectors.scale_by)
def scale_by(w, factor):
    if is_instance(w, LazyWeights):
        return lambda w, factor: w.times(factor)

    def entrywise(w, factor):
        for i in range(len(w)):
            w[i] *= factor

    return entrywise


@overloads(vectors.assign)
def assign(w, values):
    if is_instance(w, LazyWeights):
        return lambda w, values: w.clear()

    def entrywise(w, values):
        for i in range(len(w)):
            w[i] = values[i]

    return entrywise


@overloads(vectors.sum_abs)
def sum_abs(x):
    def sum_of_magnitudes(x):
        magnitudes = np.abs(vectors.values_of(x))
        return vectors.dot(magnitudes, np.ones(len(magnitudes)))

    return sum_of_magnitudes


@overloads(vectors.largest)
def largest(x):
    def scan(x):
        most, row = 0.0, vectors.values_of(x)
        for i in range(len(row)):
            entry = abs(np.float64(row[i]))
            if math.isnan(entry):
                return entry
            if entry > most:
                most = entry
        return most

    return scan


@overloads(vectors.spread)
def spread(x):
    def scan(row, low, high):
        for i in range(len(row)):
            entry = np.float64(row[i])
            if math.isnan(entry):
                return entry
            low, high = min(low, entry), max(high, entry)
        return high - low

    scan = njit(scan, **OVERLOAD)
    if not is_instance(x, Sparse):
        return lambda x: scan(vectors.values_of(x), np.inf, -np.inf)

    def with_zeros(x):
        zero = 0.0 if len(x.values) < x.dim else np.inf
        return scan(x.values, zero, -zero)

    return with_zeros


@overloads(vectors.values_of)
def values_of(x):
    if is_instance(x, LazyWeights):
        return lambda x: x.multiple() * x.v
    if is_instance(x, ScaledWeights) or is_instance(x, ForecastWeights):
        return lambda x: x.slopes()
    return (lambda x: x.values) if is_instance(x, Sparse) else (lambda x: x)


@overloads(vectors.place)
def place(x, j):
    return (lambda x, j: np.int64(x.places[j])) if is_instance(x, Sparse) else (lambda x, j: j)


@overloads(vectors.to_dense)
def to_dense(x):
    if not is_instance(x, Sparse):
        return lambda x: x.astype(np.float64)

    def with_zeros(x):
        row = np.zeros(x.dim)
        vectors.add(row, 1.0, x)
        return row

    return with_zeros


@overloads(vectors.length)
def length(w):
    if is_instance(w, ScaledWeights):
        return lambda w: len(w.center)
    if is_instance(w, ForecastWeights):
        return lambda w: len(w.slopes())
    return (lambda w: len(w.v)) if is_instance(w, LazyWeights) else (lambda w: len(w))


@overloads(vectors.target_for)
def target_for(w, y):
    return (lambda w, y: w.transform_target(y)) if is_instance(w, ScaledWeights) else (lambda w, y: y)


@overloads(vectors.prediction_of)
def prediction_of(w, z):
    return (lambda w, z: w.to_target_units(z)) if is_instance(w, ScaledWeights) else (lambda w, z: z)


@njit(**HELPER)
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
        standardise_entries(w.center, w.factors, w.row, w.clip, x)
        w.row[len(x)] = 1.0
        return w.row

    return from_center


@overloads(vectors.update_moments)
def update_moments(center, spread, factors, n, x):
    if is_instance(x, Sparse):
        return lambda center, spread, factors, n, x: vectors.update_max_abs(spread, factors, x)

    if x.layout == "C":
        return lambda center, spread, factors, n, x: absorb_entries(center, spread, factors, n, x)
    return lambda center, spread, factors, n, x: vectors.update_moments(
        center, spread, factors, n, np.ascontiguousarray(x)
    )


_fade_entry = njit(vectors.fade_entry, **HELPER)


@overloads(vectors.fade_moments)
def fade_moments(center, spread, factors, counts, ties, n, memory, x):
    if is_instance(x, Sparse):

        def fade_largest(center, spread, factors, counts, ties, n, memory, x):
            for i in range(len(x.places)):
                spread[np.uint64(x.places[i])] *= 1.0 - 1.0 / memory
            vectors.update_max_abs(spread, factors, x)
            return False

        return fade_largest

    def entrywise(center, spread, factors, counts, ties, n, memory, x):
        rate, is_first = 1.0 / min(n, memory), False
        for i in range(len(center)):
            before, value = spread[i], np.float64(x[i])
            center[i], spread[i], counts[i], ties[i] = _fade_entry(
                center[i], before, factors[i], counts[i], ties[i], rate, value
            )
            is_first |= spread[i] > 0.0 and not before > 0.0
        return is_first

    return entrywise


@overloads(vectors.update_max_abs)
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


@overloads(vectors.copy_row)
def copy_row(row, x):
    if is_instance(x, Sparse):
        return lambda row, x: None

    def copy(row, x):
        for i in range(len(row) - 1):
            row[i] = x[i]

    return copy


@overloads(vectors.update_factors)
def update_factors(factors, spread, n, x):
    if is_instance(x, Sparse):
        return lambda factors, spread, n, x: None

    def inverses(factors, spread, n, x):
        for i in range(len(factors)):
            factors[i] = 1.0 / np.sqrt(spread[i] / n) if spread[i] > 0.0 else 0.0

    return inverses


@overloads(vectors.adagrad_step)
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

    def entrywise(w, squares, units, steps, low, high, slope, x):
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        return descend_entries(w, squares, units, steps, low, high, slope, x) == 0

    if x.layout == "C":
        return entrywise
    return lambda w, squares, units, steps, low, high, slope, x: vectors.adagrad_step(
        w, squares, units, steps, low, high, slope, np.ascontiguousarray(x)
    )


@overloads(vectors.add_to_sum)
def add_to_sum(summed, w):
    if is_instance(w, LazyWeights):
        return lambda summed, w: w.predicted()

    def counted(summed, w):
        if len(summed) > 0:
            vectors.add(summed, 1.0, w)

    return counted


@overloads(vectors.prefetch_row)
def prefetch_row(rows, t):
    return lambda rows, t: prefetch(rows, t * rows.strides[0], rows.strides[0])


@overloads(vectors.prefetch_at)
def prefetch_at(w, places):
    if not (is_instance(w, LazyWeights) or isinstance(w, types.Array)):
        return lambda w, places: None
    if is_instance(w, LazyWeights):
        return lambda w, places: vectors.prefetch_at(w.v, places)

    def each(w, places):
        for i in range(len(places)):
            prefetch(w, 8 * np.int64(places[i]), 8)

    return each


@overloads(vectors.log1p)
def log1p(x):
    return lambda x: pure_log1p(np.float64(x))
