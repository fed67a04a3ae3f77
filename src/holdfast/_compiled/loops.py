"""The compiled side of holdfast.vectors: loops that round in NumPy's order.

NumPy sums a block of at most 128 products with eight running sums and splits longer vectors in halves.
Doing the same gives both worlds, and every machine, the same bits. The eight running sums are written as
one vector of the compiler's, because numba will not reorder a sum into vectors unless it may also change
its result.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from holdfast import vectors
from holdfast.vectors import UNEQUAL

_DOUBLES = ir.VectorType(ir.DoubleType(), 8)


@intrinsic
def _eight_sums(typing_context, a, b, start, stop):
    """Sum a[i] * b[i] over start <= i < stop, a positive multiple of 8 of them, in eight running sums."""

    def generate(context, builder, signature, args):
        rows = [context.make_array(t)(context, builder, v) for t, v in zip((a, b), args, strict=False)]

        def eight(row, array_type, i):
            element = context.get_data_type(array_type.dtype)
            address = builder.bitcast(builder.gep(row.data, [i]), ir.VectorType(element, 8).as_pointer())
            loaded = builder.load(address, align=array_type.dtype.bitwidth // 8)
            return loaded if element == ir.DoubleType() else builder.fpext(loaded, _DOUBLES)

        def products(i):
            return builder.fmul(eight(rows[0], a, i), eight(rows[1], b, i))

        first, last = args[2], args[3]
        sums = cgutils.alloca_once_value(builder, products(first))
        step = first.type(8)
        with cgutils.for_range_slice(builder, builder.add(first, step), last, step) as (i, _):
            builder.store(builder.fadd(builder.load(sums), products(i)), sums)
        s = [builder.extract_element(builder.load(sums), ir.IntType(32)(lane)) for lane in range(8)]
        while len(s) > 1:  # ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
            s = [builder.fadd(left, right) for left, right in zip(s[::2], s[1::2], strict=True)]
        return s[0]

    return types.float64(a, b, types.intp, types.intp), generate


@njit(nogil=True)
def _block(a, b, start, count):
    whole = start + count - count % 8
    s = -0.0
    if count >= 8:
        s = _eight_sums(a, b, start, whole)
    for i in range(whole, start + count):
        s += np.float64(a[i]) * np.float64(b[i])
    return s


@njit(nogil=True)
def _halves(a, b):
    """NumPy's recursion for more than 128 entries, with the open halves on a stack."""
    starts, counts = np.empty(64, np.int64), np.empty(64, np.int64)
    depths, sums, sum_depths = np.empty(64, np.int64), np.empty(64), np.empty(64, np.int64)
    starts[0], counts[0], depths[0] = 0, len(a), 0
    pending, done = 1, 0
    while pending > 0:
        pending -= 1
        start, count, depth = starts[pending], counts[pending], depths[pending]
        if count > 128:
            half = count // 2
            half -= half % 8
            starts[pending], counts[pending], depths[pending] = start + half, count - half, depth + 1
            starts[pending + 1], counts[pending + 1], depths[pending + 1] = start, half, depth + 1
            pending += 2
            continue
        s = _block(a, b, start, count)
        while done > 0 and sum_depths[done - 1] == depth:  # the left half is waiting for this right one
            done -= 1
            s = sums[done] + s
            depth -= 1
        sums[done], sum_depths[done] = s, depth
        done += 1
    return sums[0]


@njit(nogil=True)
def _contiguous_dot(a, b):
    if len(a) != len(b):
        raise ValueError(UNEQUAL)
    return 0.0 + (_block(a, b, 0, len(a)) if len(a) <= 128 else _halves(a, b))


@overload(vectors.dot, jit_options={"nogil": True})
def dot(a, b):
    if a.layout == b.layout == "C":
        return lambda a, b: _contiguous_dot(a, b)
    return lambda a, b: _contiguous_dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@overload(vectors.total, jit_options={"nogil": True})
def total(x):
    def sum_of_magnitudes(x):
        return _contiguous_dot(np.abs(x), np.ones(len(x)))

    return sum_of_magnitudes


@overload(vectors.add, jit_options={"nogil": True})
def add(w, scale, x):
    def entrywise(w, scale, x):
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        for i in range(len(w)):
            w[i] += scale * np.float64(x[i])

    return entrywise


@overload(vectors.largest, jit_options={"nogil": True})
def largest(x):
    def scan(x):
        most = 0.0
        for i in range(len(x)):
            entry = abs(np.float64(x[i]))
            if math.isnan(entry):
                return entry
            if entry > most:
                most = entry
        return most

    return scan
