"""Sums in the compiler's own language, which round in NumPy's order, and requests to the memory.

NumPy sums a block of at most 128 products with eight running sums and splits longer vectors in halves.
Doing the same gives both worlds, and every machine, the same bits. The eight running sums are written as
two vectors of four, because the compiler will not reorder a sum into vectors by itself unless it may also
change its result; one vector of eight waits longer for itself. The up to seven entries that do not fill
all eight have a sum of their own, so that nothing waits for them.

A sum is a function of its own in the machine code, with its arguments in registers. It is not
inlined: six copies of an unrolled loop in one game make the game slower, and four times as long to compile.
What a sum says about itself lets the compiler drop a call it has made before: a row that cannot be written
to has the same length when the learner asks as when the filter did.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_LANES, _BLOCK = 8, 128


@intrinsic
def inner_product(typing_context, a, b):
    """The inner product of two rows of the same length in C order."""

    def generate(context, builder, signature, args):
        x, y = (
            context.make_array(kind)(context, builder, row) for kind, row in zip((a, b), args, strict=True)
        )
        n = builder.extract_value(x.shape, 0)
        return _sum_of_products(context, builder, [a, b], [x.data, y.data], n, _Entry)

    return types.float64(a, b), generate


@intrinsic
def sum_of_squares(typing_context, a):
    """The inner product of a row in C order with itself."""

    def generate(context, builder, signature, args):
        x = context.make_array(a)(context, builder, args[0])
        n = builder.extract_value(x.shape, 0)
        return _sum_of_products(context, builder, [a], [x.data], n, _Square)

    return types.float64(a), generate


@intrinsic
def gathered_product(typing_context, w, places, values):
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


class _Square:
    """x[i] * x[i]"""

    name = "square"
    moves = (0,)

    def __init__(self, builder, x):
        self.builder, self.x = builder, x

    def product(self, i, lanes):
        entry = _loaded(self.builder, self.x, i, lanes)
        return self.builder.fmul(entry, entry)


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
    product = terms(builder, *rows).product
    total, rest = (cgutils.alloca_once_value(builder, _DOUBLE(0.0)) for _ in range(2))
    whole = builder.and_(n, _LONG(-_LANES))
    at = whole
    for lanes in (4, 2, 1):  # of those that are left, which nothing waits for: one after the other
        some = builder.and_(n, _LONG(lanes))
        with builder.if_then(builder.icmp_signed("!=", some, _LONG(0))):
            for term in _each(builder, product(at, lanes), lanes):
                builder.store(builder.fadd(builder.load(rest), term), rest)
        at = builder.add(at, some)
    with builder.if_then(builder.icmp_signed(">", n, _LONG(_BLOCK + _LANES - 1)), likely=False):
        builder.ret(builder.fadd(builder.call(halves, [*rows, whole]), builder.load(rest)))
    with builder.if_then(builder.icmp_signed(">", whole, _LONG(0))):
        running = [cgutils.alloca_once_value(builder, product(_LONG(at), 4)) for at in (0, 4)]
        with cgutils.for_range_slice(builder, _LONG(_LANES), whole, _LONG(_LANES)) as (i, _):
            for four, at in zip(running, (i, builder.add(i, _LONG(4))), strict=True):
                builder.store(builder.fadd(builder.load(four), product(at, 4)), four)
        s = _paired(builder, *map(builder.load, running), (0, 4, 2, 6), (1, 5, 3, 7))
        s = _paired(builder, s, s, (0, 1), (2, 3))  # (s0 + s1) + (s2 + s3), (s4 + s5) + (s6 + s7)
        first, second = (builder.extract_element(s, _INT(lane)) for lane in (0, 1))
        builder.store(builder.fadd(first, second), total)
    builder.ret(builder.fadd(builder.load(total), builder.load(rest)))


def _each(builder, terms, lanes):
    return [terms] if lanes == 1 else [builder.extract_element(terms, _INT(lane)) for lane in range(lanes)]


def _paired(builder, a, b, some, others):
    """The sum of these lanes of two vectors and those others, each with each."""
    some, others = (
        builder.shuffle_vector(a, b, ir.VectorType(_INT, len(lanes))(lanes)) for lanes in (some, others)
    )
    return builder.fadd(some, others)


@intrinsic
def prefetch(typing_context, array, begin, length):
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


@intrinsic
def pure_log1p(typing_context, x):
    def generate(context, builder, signature, args):
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE])
        function = cgutils.get_or_insert_function(builder.module, kind, "log1p")
        _promise(function, "readnone")
        return builder.call(function, args)

    return types.float64(types.float64), generate
