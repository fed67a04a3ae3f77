"""The compiled side of holdfast.vectors: loops that round in NumPy's order.

NumPy sums a block of at most 128 products with eight running sums and splits longer vectors in halves.
Doing the same gives both worlds, and every machine, the same bits. The eight running sums are written as
one vector of the compiler's, because it will not reorder a sum into vectors by itself unless it may also
change its result.

`dot` is a function of its own in the machine code, with three arguments in registers. It is not inlined:
six copies of an unrolled loop in one game make the game slower, and four times as long to compile. What
it says about itself lets the compiler drop a call it has made before: a row that cannot be written to has
the same length when the learner asks as when the filter did.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from holdfast import vectors
from holdfast._compiled.parts import Part
from holdfast.vectors import SWING, UNEQUAL, Affine, Ahead, Lazy, Sparse

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_LANES, _BLOCK = 8, 128


@intrinsic
def _dot(typing_context, a, b):
    """The inner product of two rows of the same length in C order."""

    def generate(context, builder, signature, args):
        x, y = (
            context.make_array(kind)(context, builder, row) for kind, row in zip((a, b), args, strict=True)
        )
        n = builder.extract_value(x.shape, 0)
        return _sum_of_products(context, builder, [a, b], [x.data, y.data], n, _Entry)

    return types.float64(a, b), generate


@intrinsic
def _gathered_dot(typing_context, w, places, values):
    """The sum of w[places] * values. Nobody checks the places here: the adversary did."""

    def generate(context, builder, signature, args):
        kinds = (w, places, values)
        rows = [
            context.make_array(kind)(context, builder, row) for kind, row in zip(kinds, args, strict=True)
        ]
        n = builder.extract_value(rows[1].shape, 0)
        w_data, places_data, values_data = (row.data for row in rows)
        arguments = [values_data, places_data, w_data]
        return _sum_of_products(context, builder, [values, places, w], arguments, n, _Gathered)

    return types.float64(w, places, values), generate


class _Entry:
    """x[i] * y[i]"""

    name = "dot"
    moves = (0, 1)  # the arguments that a half begins further on

    def __init__(self, builder, x, y):
        self.builder, self.x, self.y = builder, x, y

    def product(self, i, lanes):
        builder = self.builder
        return builder.fmul(_loaded(builder, self.x, i, lanes), _loaded(builder, self.y, i, lanes))


class _Gathered:
    """values[i] * w[places[i]]"""

    name = "gathered_dot"
    moves = (0, 1)

    def __init__(self, builder, values, places, w):
        self.builder, self.values, self.places, self.w = builder, values, places, w

    def product(self, i, lanes):
        builder = self.builder
        found = ir.Constant(ir.VectorType(_DOUBLE, lanes), ir.Undefined)
        for lane in range(lanes):
            place = builder.load(builder.gep(self.places, [builder.add(i, _LONG(lane))]))
            place = builder.sext(place, _LONG) if place.type.width < 64 else place
            found = builder.insert_element(found, builder.load(builder.gep(self.w, [place])), _INT(lane))
        if lanes == 1:
            found = builder.extract_element(found, _INT(0))
        return builder.fmul(found, _loaded(builder, self.values, i, lanes))


def _loaded(builder, row, i, lanes):
    """Entries i, i + 1, ... of a row, as doubles."""
    element = row.type.pointee
    kind, wide = (ir.VectorType(e, lanes) if lanes > 1 else e for e in (element, _DOUBLE))
    address = builder.bitcast(builder.gep(row, [i]), kind.as_pointer())
    loaded = builder.load(address, align=8 if element == _DOUBLE else 4)
    return loaded if element == _DOUBLE else builder.fpext(loaded, wide)


def _sum_of_products(context, builder, kinds, rows, n, terms):
    """Call the function that sums the products of rows of these kinds, made if the module has none."""
    elements = [context.get_data_type(kind.dtype) for kind in kinds]
    constant = not any(kind.mutable for kind in kinds)
    name = ".".join(["holdfast", terms.name, *(str(kind.dtype) for kind in kinds), *["constant"] * constant])
    signature = ir.FunctionType(_DOUBLE, [*(element.as_pointer() for element in elements), _LONG])
    function, halves = (
        cgutils.get_or_insert_function(builder.module, signature, name + part) for part in ("", ".halves")
    )
    if function.is_declaration:
        for written in (function, halves):
            written.linkage = "linkonce_odr"
            _promise(written, "noinline", "readnone" if constant else "readonly")
        _write_halves(halves, function, terms)
        _write_block(function, halves, terms)
    return builder.call(function, [*rows, n])


def _promise(function, *words):
    """Say of a function what the compiler may rely on."""
    for word in ("nounwind", "willreturn", *words):
        set.add(function.attributes, word)  # llvmlite's own `add` does not know them all


def _write_halves(function, either, terms):
    """A function of its own, so that short rows need not save the registers that this one takes."""
    builder = ir.IRBuilder(function.append_basic_block())
    *rows, n = function.args
    half = builder.and_(builder.lshr(n, _LONG(1)), _LONG(-_LANES))
    rest = [builder.gep(row, [half]) if i in terms.moves else row for i, row in enumerate(rows)]
    left = builder.call(either, [*rows, half])
    builder.ret(builder.fadd(left, builder.call(either, [*rest, builder.sub(n, half)])))


def _write_block(function, halves, terms):
    builder = ir.IRBuilder(function.append_basic_block())
    *rows, n = function.args
    with builder.if_then(builder.icmp_signed(">", n, _LONG(_BLOCK)), likely=False):
        builder.ret(builder.call(halves, function.args))
    product = terms(builder, *rows).product
    total = cgutils.alloca_once_value(builder, _DOUBLE(-0.0))
    whole = builder.and_(n, _LONG(-_LANES))
    with builder.if_then(builder.icmp_signed(">", whole, _LONG(0))):
        running = cgutils.alloca_once_value(builder, product(_LONG(0), _LANES))
        with cgutils.for_range_slice(builder, _LONG(_LANES), whole, _LONG(_LANES)) as (i, _):
            builder.store(builder.fadd(builder.load(running), product(i, _LANES)), running)
        s = builder.load(running)
        for swap in (1, 2, 4):  # ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)), in every lane
            other = ir.VectorType(_INT, _LANES)([lane ^ swap for lane in range(_LANES)])
            s = builder.fadd(s, builder.shuffle_vector(s, s, other))
        builder.store(builder.extract_element(s, _INT(0)), total)
    with cgutils.for_range_slice(builder, whole, n, _LONG(1)) as (i, _):
        builder.store(builder.fadd(builder.load(total), product(i, 1)), total)
    builder.ret(builder.load(total))


# -- the functions themselves

TAUGHT: list = []  # what numba knows from here


def teach(function):
    TAUGHT.append(function)
    return overload(function, jit_options={"nogil": True, "pipeline_class": Part})


def _is(kind, cls):
    return getattr(kind, "instance_class", None) is cls


@teach(vectors.dot)
def dot(a, b):
    if _is(a, Affine) or _is(a, Ahead):
        return lambda a, b: a.product(b)
    if _is(a, Lazy):
        return (lambda a, b: a.square()) if _is(b, Lazy) else (lambda a, b: a.product(b))
    if _is(b, Sparse):
        if _is(a, Sparse):
            return lambda a, b: 0.0 + _dot(b.values, b.values)

        def gathered(a, b):
            if len(a) != b.dim:
                raise ValueError(UNEQUAL)
            return 0.0 + _gathered_dot(a, b.places, b.values)

        return gathered
    if a.layout == b.layout == "C":

        def inner(a, b):
            if len(a) != len(b):
                raise ValueError(UNEQUAL)
            return 0.0 + _dot(a, b)

        return inner
    return lambda a, b: vectors.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@teach(vectors.add)
def add(w, scale, x):
    if _is(w, Lazy):
        return lambda w, scale, x: w.plus(scale, x)
    if _is(x, Lazy):
        return lambda w, scale, x: vectors.add(w, scale * x.multiple(), x.v)
    if _is(x, Affine) or _is(x, Ahead):
        return lambda w, scale, x: vectors.add(w, scale, x.slopes())
    if _is(x, Sparse):

        def scattered(w, scale, x):
            if len(w) != x.dim:
                raise ValueError(UNEQUAL)
            for i in range(len(x.places)):
                w[np.uint64(x.places[i])] += scale * np.float64(x.values[i])

        return scattered

    def entrywise(w, scale, x):
        if len(w) != len(x):
            raise ValueError(UNEQUAL)
        for i in range(len(w)):
            w[i] += scale * np.float64(x[i])

    return entrywise


@teach(vectors.stretch)
def stretch(w, factor):
    if _is(w, Lazy):
        return lambda w, factor: w.times(factor)

    def entrywise(w, factor):
        for i in range(len(w)):
            w[i] *= factor

    return entrywise


@teach(vectors.refill)
def refill(w, values):
    if _is(w, Lazy):
        return lambda w, values: w.clear()

    def entrywise(w, values):
        for i in range(len(w)):
            w[i] = values[i]

    return entrywise


@teach(vectors.total)
def total(x):
    def sum_of_magnitudes(x):
        magnitudes = np.abs(vectors.entries(x))
        return vectors.dot(magnitudes, np.ones(len(magnitudes)))

    return sum_of_magnitudes


@teach(vectors.largest)
def largest(x):
    def scan(x):
        most, row = 0.0, vectors.entries(x)
        for i in range(len(row)):
            entry = abs(np.float64(row[i]))
            if math.isnan(entry):
                return entry
            if entry > most:
                most = entry
        return most

    return scan


@teach(vectors.spread)
def spread(x):
    def scan(row, low, high):
        for i in range(len(row)):
            entry = np.float64(row[i])
            if math.isnan(entry):
                return entry
            low, high = min(low, entry), max(high, entry)
        return high - low

    scan = njit(scan, nogil=True, pipeline_class=Part)
    if not _is(x, Sparse):
        return lambda x: scan(vectors.entries(x), np.inf, -np.inf)

    def with_zeros(x):
        zero = 0.0 if len(x.values) < x.dim else np.inf
        return scan(x.values, zero, -zero)

    return with_zeros


@teach(vectors.entries)
def entries(x):
    if _is(x, Lazy):
        return lambda x: x.multiple() * x.v
    if _is(x, Affine) or _is(x, Ahead):
        return lambda x: x.slopes()
    return (lambda x: x.values) if _is(x, Sparse) else (lambda x: x)


@teach(vectors.place)
def place(x, j):
    return (lambda x, j: np.int64(x.places[j])) if _is(x, Sparse) else (lambda x, j: j)


@teach(vectors.dense)
def dense(x):
    if not _is(x, Sparse):
        return lambda x: x.astype(np.float64)

    def with_zeros(x):
        row = np.zeros(x.dim)
        vectors.add(row, 1.0, x)
        return row

    return with_zeros


@teach(vectors.length)
def length(w):
    if _is(w, Affine):
        return lambda w: len(w.center)
    if _is(w, Ahead):
        return lambda w: len(w.slopes())
    return (lambda w: len(w.v)) if _is(w, Lazy) else (lambda w: len(w))


@teach(vectors.aim)
def aim(w, y):
    return (lambda w, y: w.aimed(y)) if _is(w, Affine) else (lambda w, y: y)


@teach(vectors.outcome)
def outcome(w, z):
    return (lambda w, z: w.outcome(z)) if _is(w, Affine) else (lambda w, z: z)


@njit(nogil=True, forceinline=True, pipeline_class=Part)
def _clipped(value, clip):
    if value > clip:
        return clip if value < np.inf else np.nan
    if value < -clip:
        return -clip if value > -np.inf else np.nan
    return value


@teach(vectors.standardised)
def standardised(w, x):
    if _is(x, Sparse):

        def scaled(w, x):
            count = len(x.places)
            places, values = np.empty(count + 1, x.places.dtype), np.empty(count + 1)
            for i in range(count):
                value = np.float64(x.values[i]) * w.factors[np.uint64(x.places[i])]
                places[i], values[i] = x.places[i], _clipped(value, w.clip)
            places[count], values[count] = x.dim, 1.0
            return Sparse(places, values, x.dim + 1)

        return scaled

    def from_center(w, x):
        d = len(w.center)
        if len(x) != d:
            raise ValueError(UNEQUAL)
        for i in range(d):
            value = (np.float64(x[i]) - w.center[i]) * w.factors[i]
            w.row[i] = _clipped(value, w.clip)
        w.row[d] = 1.0
        return w.row

    return from_center


_grown = njit(nogil=True, forceinline=True, pipeline_class=Part)(vectors.grown)


@teach(vectors.absorb)
def absorb(center, spread, factors, n, x):
    if _is(x, Sparse):
        return lambda center, spread, factors, n, x: vectors.widen(spread, factors, x)

    def moments(center, spread, factors, n, x):
        for i in range(len(center)):
            deviation = np.float64(x[i]) - center[i]
            if factors[i] > 0.0:
                far = abs(deviation * factors[i])
                if far > SWING:
                    deviation = deviation * (SWING / far)
                center[i] += deviation / n
                spread[i] += deviation * (deviation - deviation / n)
            else:
                spread[i] = _grown(spread[i], deviation * deviation)

    return moments


@teach(vectors.widen)
def widen(spread, factors, x):
    if not _is(x, Sparse):
        return lambda spread, factors, x: None

    def largest_so_far(spread, factors, x):
        for i in range(len(x.places)):
            place = np.uint64(x.places[i])
            known, far = spread[place], abs(np.float64(x.values[i]))
            if known > 0.0:
                far = max(known, min(far, 2.0 * known))
            spread[place] = far
            factors[place] = 1.0 / far if far > 0.0 else 0.0

    return largest_so_far


@teach(vectors.remember)
def remember(row, x):
    if _is(x, Sparse):
        return lambda row, x: None

    def copy(row, x):
        for i in range(len(row) - 1):
            row[i] = x[i]

    return copy


@teach(vectors.refresh)
def refresh(factors, spread, n, x):
    if _is(x, Sparse):
        return lambda factors, spread, n, x: None

    def inverses(factors, spread, n, x):
        for i in range(len(factors)):
            factors[i] = 1.0 / np.sqrt(spread[i] / n) if spread[i] > 0.0 else 0.0

    return inverses


@teach(vectors.descend)
def descend(w, squares, steps, low, high, slope, x):
    if _is(x, Sparse):

        def touched(w, squares, steps, low, high, slope, x):
            for j in range(len(x.places)):
                i, g = np.uint64(x.places[j]), slope * np.float64(x.values[j])
                squares[i] += g * g
                step = steps[i] * g / np.sqrt(squares[i]) if squares[i] > 0.0 else 0.0
                moved = w[i] - step
                moved = low[i] if moved < low[i] else moved
                w[i] = high[i] if moved > high[i] else moved

        return touched

    def entrywise(w, squares, steps, low, high, slope, x):
        for i in range(len(w)):
            g = slope * np.float64(x[i])
            squares[i] += g * g
            step = steps[i] * g / np.sqrt(squares[i]) if squares[i] > 0.0 else 0.0
            moved = w[i] - step
            moved = low[i] if moved < low[i] else moved
            w[i] = high[i] if moved > high[i] else moved

    return entrywise


@teach(vectors.count_in)
def count_in(summed, w):
    if _is(w, Lazy):
        return lambda summed, w: w.predicted()

    def counted(summed, w):
        if len(summed) > 0:
            vectors.add(summed, 1.0, w)

    return counted


@intrinsic
def _prefetch(typing_context, array, begin, length):
    """Have `length` bytes of an array come from memory, beginning at byte `begin`."""

    def generate(context, builder, signature, args):
        byte = ir.IntType(8)
        data = context.make_array(array)(context, builder, args[0]).data
        start = builder.gep(builder.bitcast(data, byte.as_pointer()), [args[1]])
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), _INT, _INT, _INT])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        with cgutils.for_range_slice(builder, _LONG(0), args[2], _LONG(64)) as (i, _):
            builder.call(prefetch, [builder.gep(start, [i]), _INT(0), _INT(3), _INT(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


@teach(vectors.fetch)
def fetch(rows, t):
    return lambda rows, t: _prefetch(rows, t * rows.strides[0], rows.strides[0])


@teach(vectors.fetch_at)
def fetch_at(w, places):
    if not (_is(w, Lazy) or isinstance(w, types.Array)):
        return lambda w, places: None
    if _is(w, Lazy):
        return lambda w, places: vectors.fetch_at(w.v, places)

    def each(w, places):
        for i in range(len(places)):
            _prefetch(w, 8 * np.int64(places[i]), 8)

    return each


@intrinsic
def _log1p(typing_context, x):
    def generate(context, builder, signature, args):
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE])
        function = cgutils.get_or_insert_function(builder.module, kind, "log1p")
        _promise(function, "readnone")
        return builder.call(function, args)

    return types.float64(types.float64), generate


@teach(vectors.log1p)
def log1p(x):
    return lambda x: _log1p(np.float64(x))
