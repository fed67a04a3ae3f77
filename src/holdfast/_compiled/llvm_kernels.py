"""Dot products and sums of squares in LLVM code, rounded in NumPy's order; and prefetching.

NumPy sums a block of at most 128 products with eight running sums and splits longer vectors in halves. Doing
the same gives the same bits in Python, in compiled code and on every machine. The eight running sums are two
vectors of four: LLVM makes vectors of a sum only if it may change the result, and one vector of eight has a
longer latency. The last up to seven entries have a separate sum, so that no other addition waits for them.

A sum is a separate function that is not inlined. With six copies of an unrolled loop a game would be slower,
and would take four times as long to compile. The attributes of the function say that it writes nothing, so
LLVM can leave out a repeated call, such as the second ||x|| of a round.
"""

import contextlib

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from holdfast._compiled.numba_private import data_and_length, nothing

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_LANES, _BLOCK = 8, 128


@intrinsic
def inner_product(typing_context, a, b):
    """The inner product of two rows of the same length in C order."""

    def generate(context, builder, signature, args):
        x, n = data_and_length(context, builder, a, args[0])
        y, _ = data_and_length(context, builder, b, args[1])
        return _sum_of_products(builder, [a, b], [x, y], n, _Entry)

    return types.float64(a, b), generate


@intrinsic
def sum_of_squares(typing_context, a):
    """The inner product of a row in C order with itself."""

    def generate(context, builder, signature, args):
        x, n = data_and_length(context, builder, a, args[0])
        return _sum_of_products(builder, [a], [x], n, _Square)

    return types.float64(a), generate


@intrinsic
def gathered_product(typing_context, w, places, values):
    """The sum of w[places] * values. The places are not checked: the adversary has done that."""

    def generate(context, builder, signature, args):
        weights, _ = data_and_length(context, builder, w, args[0])
        indices, n = data_and_length(context, builder, places, args[1])
        entries, _ = data_and_length(context, builder, values, args[2])
        rows = [entries, indices, weights]
        return _sum_of_products(builder, [values, places, w], rows, n, _Gathered)

    return types.float64(w, places, values), generate


class _Entry:
    """x[i] * y[i]"""

    name = "dot"
    moves = (0, 1)  # the arguments whose second half starts in the middle

    def __init__(self, builder, x, y):
        self.builder, self.x, self.y = builder, x, y

    def product(self, i, lanes):
        builder = self.builder
        return builder.fmul(loaded(builder, self.x, i, lanes), loaded(builder, self.y, i, lanes))


class _Square:
    """x[i] * x[i]"""

    name = "square"
    moves = (0,)

    def __init__(self, builder, x):
        self.builder, self.x = builder, x

    def product(self, i, lanes):
        entry = loaded(self.builder, self.x, i, lanes)
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
        return builder.fmul(found, loaded(builder, self.values, i, lanes))


def loaded(builder, row, i, lanes):
    """Entries i, i + 1, ... of a row, as doubles."""
    element = row.type.pointee
    kind, wide = (ir.VectorType(e, lanes) if lanes > 1 else e for e in (element, _DOUBLE))
    address = builder.bitcast(builder.gep(row, [i]), kind.as_pointer())
    loaded = builder.load(address, align=8 if element == _DOUBLE else 4)
    return loaded if element == _DOUBLE else builder.fpext(loaded, wide)


def _sum_of_products(builder, kinds, rows, n, terms):
    """Call the function that sums products of such rows."""
    function = _sum_function(builder.module, kinds, [row.type for row in rows], terms)
    return builder.call(function, [*rows, n])


def dot_function(module, kind):
    """The function that returns the inner product of two such rows: of their addresses and their length."""
    return _sum_function(module, [kind] * 2, [_DOUBLE.as_pointer()] * 2, _Entry)


def _sum_function(module, kinds, pointers, terms):
    """The function that sums products of such rows. It is added to the module if it is not there yet."""
    constant = not any(kind.mutable for kind in kinds)
    name = ".".join(["holdfast", terms.name, *(str(kind.dtype) for kind in kinds), *["constant"] * constant])
    signature = ir.FunctionType(_DOUBLE, [*pointers, _LONG])
    function, halves = (declared(module, signature, name + part) for part in ("", ".halves"))
    if function.is_declaration:
        for written in (function, halves):
            written.linkage = "linkonce_odr"
            access = "readnone" if constant else "readonly"
            add_attributes(written, "nounwind", "willreturn", "noinline", access)
        _write_halves(halves, function, terms)
        _write_block(function, halves, terms)
    return function


def declared(module, signature, name):
    """The function of this name in a module, which is declared if it is not there yet."""
    found = module.globals.get(name)
    return ir.Function(module, signature, name) if found is None else found


def add_attributes(function, *names):
    """Declare properties of a function that LLVM may use."""
    for name in names:
        set.add(function.attributes, name)  # llvmlite's own `add` does not accept all of them


@contextlib.contextmanager
def counting(builder, start, stop, step):
    """for i in range(start, stop, step)"""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_LONG)
    i.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", i, stop), body, after)
    builder.position_at_end(body)
    yield i
    i.add_incoming(builder.add(i, step), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


def variable(builder, value):
    """A variable with this first value, in the first block, so that LLVM can keep it in a register."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return place


def _write_halves(function, sum_of_half, terms):
    """The sum of a long row: a separate function, so that short rows need not save the registers it uses."""
    builder = ir.IRBuilder(function.append_basic_block())
    *rows, n = function.args
    half = builder.and_(builder.lshr(n, _LONG(1)), _LONG(-_LANES))
    rest = [builder.gep(row, [half]) if i in terms.moves else row for i, row in enumerate(rows)]
    left = builder.call(sum_of_half, [*rows, half])
    builder.ret(builder.fadd(left, builder.call(sum_of_half, [*rest, builder.sub(n, half)])))


def _write_block(function, halves, terms):
    builder = ir.IRBuilder(function.append_basic_block())
    *rows, n = function.args
    product = terms(builder, *rows).product
    total, rest = (variable(builder, _DOUBLE(0.0)) for _ in range(2))
    whole = builder.and_(n, _LONG(-_LANES))
    at = whole
    for lanes in (4, 2, 1):  # the last up to seven products, added one after the other
        some = builder.and_(n, _LONG(lanes))
        with builder.if_then(builder.icmp_signed("!=", some, _LONG(0))):
            for term in _each(builder, product(at, lanes), lanes):
                builder.store(builder.fadd(builder.load(rest), term), rest)
        at = builder.add(at, some)
    with builder.if_then(builder.icmp_signed(">", n, _LONG(_BLOCK + _LANES - 1)), likely=False):
        builder.ret(builder.fadd(builder.call(halves, [*rows, whole]), builder.load(rest)))
    with builder.if_then(builder.icmp_signed(">", whole, _LONG(0))):
        running = [variable(builder, product(_LONG(at), 4)) for at in (0, 4)]
        with counting(builder, _LONG(_LANES), whole, _LONG(_LANES)) as i:
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
    """Lanes `some` of two vectors plus their lanes `others`, pair by pair."""
    some, others = (
        builder.shuffle_vector(a, b, ir.VectorType(_INT, len(lanes))(lanes)) for lanes in (some, others)
    )
    return builder.fadd(some, others)


@intrinsic
def prefetch(typing_context, array, begin, length):
    """Prefetch `length` bytes of an array into the cache, from byte `begin` on."""

    def generate(context, builder, signature, args):
        byte = ir.IntType(8)
        data, _ = data_and_length(context, builder, array, args[0])
        start = builder.gep(builder.bitcast(data, byte.as_pointer()), [args[1]])
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), _INT, _INT, _INT])
        prefetch = declared(builder.module, kind, "llvm.prefetch.p0")
        with counting(builder, _LONG(0), args[2], _LONG(64)) as i:
            builder.call(prefetch, [builder.gep(start, [i]), _INT(0), _INT(3), _INT(1)])
        return nothing(context)

    return types.void(array, types.intp, types.intp), generate
