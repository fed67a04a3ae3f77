"""The functions of holdfast.vectors as numba compiles them: loops that round in NumPy's order."""

import math

import numpy as np
from numba import njit, types
from numba.extending import overload

from holdfast import vectors
from holdfast._compiled import kernels
from holdfast.vectors import UNEQUAL, ForecastWeights, LazyWeights, ScaledWeights, Sparse

OVERLOADED: set = set()  # the functions that `overloads` has registered


def overloads(function):
    """Register the decorated function: for arguments of given types it returns the function to compile."""
    OVERLOADED.add(function)
    return overload(function, jit_options=kernels.OVERLOAD)


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
            return kernels.gathered_product(a, b.places, b.values)

        return gathered
    if a.layout == b.layout == "C":

        def inner(a, b):
            if len(a) != len(b):
                raise ValueError(UNEQUAL)
            return kernels.inner_product(a, b)

        return inner
    return lambda a, b: vectors.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@overloads(vectors.dot_transformed)
def dot_transformed(w, row):
    if is_instance(w, ScaledWeights):
        return lambda w, row: vectors.dot(w.v, row)
    return lambda w, row: vectors.dot(w, row)


@overloads(vectors.squared)
def squared(x):
    if is_instance(x, LazyWeights):
        return lambda x: x.square()
    if is_instance(x, Sparse):
        return lambda x: kernels.sum_of_squares(x.values)
    if is_instance(x, ScaledWeights) or is_instance(x, ForecastWeights):
        return lambda x: kernels.sum_of_squares(x.slopes())
    if x.layout == "C":
        return lambda x: kernels.sum_of_squares(x)
    return lambda x: kernels.sum_of_squares(np.ascontiguousarray(x))


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
            kernels.add_entries(w, np.float64(scale), x)

        return moved

    def entrywise(w, scale, x):
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        for i in range(len(w)):
            w[i] += scale * np.float64(x[i])

    return entrywise


@overloads(vectors.add_exactly)
def add_exactly(w, rest, x):
    return lambda w, rest, x: kernels.add_exactly_entries(w, rest, 1.0, x)


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
        values = vectors.values_of(x)
        if len(values) < 8:  # the same order, without arrays
            total = 0.0
            for i in range(len(values)):
                total += abs(np.float64(values[i]))
            return total
        magnitudes = np.abs(values)
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


@overloads(vectors.place_of_largest)
def place_of_largest(x):
    def scan(row):
        most, found = -2.0, -1
        for i in range(len(row)):
            entry = abs(np.float64(row[i]))
            if math.isnan(entry):
                entry = -1.0
            if entry > most:
                most, found = entry, i
        return found

    scan = njit(scan, **kernels.OVERLOAD)

    def in_sparse(x):
        found = scan(x.values)
        return np.int64(x.places[found]) if found >= 0 else -1

    def in_dense(x):
        return scan(vectors.values_of(x))

    return in_sparse if is_instance(x, Sparse) else in_dense


@overloads(vectors.spread)
def spread(x):
    def scan(row, low, high):
        for i in range(len(row)):
            entry = np.float64(row[i])
            if math.isnan(entry):
                return entry
            low, high = min(low, entry), max(high, entry)
        return high - low

    scan = njit(scan, **kernels.OVERLOAD)
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
    return lambda rows, t: kernels.prefetch(rows, t * rows.strides[0], rows.strides[0])


@overloads(vectors.prefetch_at)
def prefetch_at(w, places):
    if not (is_instance(w, LazyWeights) or isinstance(w, types.Array)):
        return lambda w, places: None
    if is_instance(w, LazyWeights):
        return lambda w, places: vectors.prefetch_at(w.v, places)

    def each(w, places):
        for i in range(len(places)):
            kernels.prefetch(w, 8 * np.int64(places[i]), 8)

    return each
