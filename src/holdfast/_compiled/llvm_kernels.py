"""The kernels (`holdfast.kernels`) of dense rows, and all sums, as LLVM functions; and prefetching.

The entry of a kernel is called with `Lanes` in place of numbers, which write down LLVM instructions.

Every kernel is a separate function that is not inlined. A game has more values than there are registers: a
loop in the middle of it would load its pointers from memory again for every entry, and with six copies of an
unrolled loop it would take four times as long to compile. Entries are processed four at a time, then two,
then one. Eight at a time would be slower: the sums of the next round read four entries at a time, and would
have to wait until the eight are written.

NumPy sums a block of at most 128 terms with eight running sums and splits longer vectors in halves. Doing the
same gives the same bits in Python, in compiled code and on every machine. The eight running sums are two
vectors of four: LLVM makes vectors of a sum only if it may change the result, and one vector of eight has a
longer latency. The last up to seven entries have a separate sum, so that no other addition waits for them.
The attributes of a sum say that it writes nothing, so LLVM can leave out a repeated call, such as the second
||x|| of a round.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from holdfast._compiled.argument_types import AnyFunction
from holdfast._compiled.lanes import (
    DOUBLE,
    INT,
    LONG,
    Lanes,
    constant,
    declared,
    loaded,
    repeated,
    store,
)
from holdfast._compiled.numba_private import data_and_length, nothing
from holdfast.kernels import Kernel, defined

_LANES, _BLOCK = 8, 128
_WIDTHS = (4, 2, 1)  # entries that are processed at the same time
_COLUMNS = (24, 8, 4, 1)  # columns of a matrix that are summed or changed at the same time, in registers
_IN_REGISTERS = 24  # entries of a row that stay in registers while all rows are multiplied with it
_INLINE = ("alwaysinline",)


@functools.cache
def native(kernel: Kernel, names: tuple[str, ...]) -> Any:
    """A function that numba compiles to a call of the LLVM function of a kernel, with these parameters.

    Those of a sum of a sparse row are the other rows, the places and the values.
    """

    def typed(kinds: tuple[Any, ...]) -> tuple[Any, AnyFunction]:
        parameters = [kind if isinstance(kind, types.Array) else types.float64 for kind in kinds]

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            rows, numbers = {}, {}
            for name, kind, value in zip(names, parameters, args, strict=True):
                if isinstance(kind, types.Array):
                    rows[name] = _Row(kind, *data_and_length(context, builder, kind, value))
                else:
                    numbers[name] = value
            result = WRITERS[kernel.kind](builder, kernel, rows, numbers)
            return nothing(context) if signature.return_type == types.void else result

        if kernel.kind in ("sum_of_entries", "most_of_entries"):
            return types.float64(*parameters), generate
        return (types.int64 if kernel.reports else types.void)(*parameters), generate

    lines = [f"return typed(({', '.join(names)},))"]
    return intrinsic(defined("native", ("typing_context", *names), lines, {"typed": typed}))


class _Row:
    """An array in LLVM code: its type, the pointer to its entries, and the number of them (or of rows)."""

    def __init__(self, kind: Any, data: Any, length: Any) -> None:
        self.kind, self.data, self.length = kind, data, length


# -- functions and loops


def _function(
    module: Any, kernel: Kernel, kinds: Sequence[Any], signature: Any, write: Callable[[Any], None]
) -> Any:
    """The LLVM function of a kernel for such arrays, which is added to the module if it is not there yet."""
    entry = kernel.entry
    parts = [entry.__module__, entry.__qualname__, kernel.kind, *(str(kind.dtype) for kind in kinds)]
    function = declared(module, signature, ".".join(parts))
    if function.is_declaration:
        _add_attributes(function)
        for argument in function.args:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        write(function)
    return function


def _add_attributes(function: Any, *names: str) -> None:
    """Declare properties of a function that LLVM may use."""
    function.linkage = "linkonce_odr"
    for name in ("nounwind", "willreturn", "noinline", *names):
        set.add(function.attributes, name)  # llvmlite's own `add` does not accept all of them


@contextlib.contextmanager
def _counting(builder: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    """for i in range(start, stop, step)"""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(LONG)
    i.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", i, stop), body, after)
    builder.position_at_end(body)
    yield i
    i.add_incoming(builder.add(i, step), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


def _variable(builder: Any, value: Any) -> Any:
    """A variable with this first value, in the first block, so that LLVM can keep it in a register."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return place


# -- each_entry


def _call_each_entry(builder: Any, kernel: Kernel, rows: dict[str, _Row], numbers: dict[str, Any]) -> Any:
    first = next(iter(rows.values()))
    function = _entries_function(builder.module, kernel, [row.kind for row in rows.values()])
    return builder.call(function, [*(row.data for row in rows.values()), first.length, *numbers.values()])


def _entries_function(module: Any, kernel: Kernel, kinds: Sequence[Any]) -> Any:
    """The function of the rows of a kernel, their length, and its numbers.

    It returns 0, or another number if the kernel reports that an entry is not fine.
    """
    pointers = [_pointer(kind) for kind in kinds]
    signature = ir.FunctionType(LONG, [*pointers, LONG, *[DOUBLE] * len(kernel.numbers)])
    return _function(module, kernel, kinds, signature, functools.partial(_write_each_entry, kernel))


def _pointer(kind: Any) -> Any:
    return (ir.FloatType() if kind.dtype == types.float32 else DOUBLE).as_pointer()


def _write_each_entry(kernel: Kernel, function: Any) -> None:
    builder = ir.IRBuilder(function.append_basic_block())
    names = [name for name in kernel.names if name not in kernel.numbers]
    rows = dict(zip(names, function.args, strict=False))
    n, numbers = function.args[len(names)], function.args[len(names) + 1 :]
    unfinished, start = _variable(builder, LONG(0)), LONG(0)
    for lanes in _WIDTHS:
        stop = builder.and_(n, LONG(-lanes))
        with _counting(builder, start, stop, LONG(lanes)) as i:
            given = {
                name: repeated(builder, value, lanes)
                for name, value in zip(kernel.numbers, numbers, strict=True)
            }
            given |= {name: loaded(builder, row, i, lanes) for name, row in rows.items()}
            results = kernel.entry(*(Lanes(builder, given[name]) for name in kernel.names))
            results = results if isinstance(results, tuple) else (results,)
            for name, result in zip(kernel.changed, results, strict=False):
                store(builder, result.value, rows[name], i)
            if kernel.reports:
                conditions = builder.bitcast(results[-1].value, ir.IntType(lanes))
                failed = builder.zext(builder.not_(conditions), LONG)
                builder.store(builder.or_(builder.load(unfinished), failed), unfinished)
        start = stop
    builder.ret(builder.load(unfinished))


# -- sum_of_entries


def _call_sum_of_entries(builder: Any, kernel: Kernel, rows: dict[str, _Row], numbers: Any) -> Any:
    given = list(rows.values())
    function = _sum_function(builder.module, kernel, [row.kind for row in given])
    return builder.call(function, [*(row.data for row in given), given[-1].length])


def _sum_function(module: Any, kernel: Kernel, kinds: Sequence[Any]) -> Any:
    """The function of rows and their length. With places among the rows, the rows before are read there."""
    constant = not any(kind.mutable for kind in kinds)
    pointers = [
        _pointer(kind)
        if isinstance(kind.dtype, types.Float)
        else ir.IntType(kind.dtype.bitwidth).as_pointer()
        for kind in kinds
    ]
    signature = ir.FunctionType(DOUBLE, [*pointers, LONG])
    entry = kernel.entry
    parts = [entry.__module__, entry.__qualname__, *(str(kind.dtype) for kind in kinds)]
    name = ".".join([*parts, *["constant"] * constant])
    function, halves = (declared(module, signature, name + part) for part in ("", ".halves"))
    if function.is_declaration:
        moves = [True] * len(kinds)  # which rows begin in the middle, in the second half of a sum
        if len(kinds) > len(kernel.names):
            moves[: len(kinds) - 2] = [False] * (len(kinds) - 2)
        for written in (function, halves):
            _add_attributes(written, "readnone" if constant else "readonly")
        _write_halves(halves, function, moves)
        _write_sum(function, halves, kernel, moves)
    return function


def _term(builder: Any, kernel: Kernel, rows: Sequence[Any], moves: Sequence[bool]) -> AnyFunction:
    """A function of i and a number of lanes: the entry there."""

    def term(i: Any, lanes: int) -> Any:
        if all(moves):
            values = [loaded(builder, row, i, lanes) for row in rows]
        else:
            *others, places, entries = rows
            values = [_gathered(builder, row, places, i, lanes) for row in others]
            values.append(loaded(builder, entries, i, lanes))
        return kernel.entry(*(Lanes(builder, value) for value in values)).value

    return term


def _gathered(builder: Any, row: Any, places: Any, i: Any, lanes: int) -> Any:
    """Entries of a row at the places i, i + 1, ... They are not checked: the adversary has done that."""
    found = ir.Constant(ir.VectorType(DOUBLE, lanes), ir.Undefined)
    for lane in range(lanes):
        place = builder.load(builder.gep(places, [builder.add(i, LONG(lane))]))
        place = builder.sext(place, LONG) if place.type.width < 64 else place
        found = builder.insert_element(found, builder.load(builder.gep(row, [place])), INT(lane))
    return found if lanes > 1 else builder.extract_element(found, INT(0))


def _write_halves(function: Any, sum_of_half: Any, moves: Sequence[bool]) -> None:
    """The sum of a long row: a separate function, so that short rows need not save the registers it uses."""
    builder = ir.IRBuilder(function.append_basic_block())
    *rows, n = function.args
    half = builder.and_(builder.lshr(n, LONG(1)), LONG(-_LANES))
    rest = [builder.gep(row, [half]) if moved else row for row, moved in zip(rows, moves, strict=True)]
    left = builder.call(sum_of_half, [*rows, half])
    builder.ret(builder.fadd(left, builder.call(sum_of_half, [*rest, builder.sub(n, half)])))


def _write_sum(function: Any, halves: Any, kernel: Kernel, moves: Sequence[bool]) -> None:
    builder = ir.IRBuilder(function.append_basic_block())
    *rows, n = function.args
    term = _term(builder, kernel, rows, moves)
    total, rest = (_variable(builder, DOUBLE(0.0)) for _ in range(2))
    whole = builder.and_(n, LONG(-_LANES))
    at = whole
    for lanes in _WIDTHS:  # the last up to seven terms, added one after the other
        some = builder.and_(n, LONG(lanes))
        with builder.if_then(builder.icmp_signed("!=", some, LONG(0))):
            for each in _each(builder, term(at, lanes), lanes):
                builder.store(builder.fadd(builder.load(rest), each), rest)
        at = builder.add(at, some)
    with builder.if_then(builder.icmp_signed(">", n, LONG(_BLOCK + _LANES - 1)), likely=False):
        builder.ret(builder.fadd(builder.call(halves, [*rows, whole]), builder.load(rest)))
    with builder.if_then(builder.icmp_signed(">", whole, LONG(0))):
        running = [_variable(builder, term(LONG(k), 4)) for k in (0, 4)]
        with _counting(builder, LONG(_LANES), whole, LONG(_LANES)) as i:
            for four, at in zip(running, (i, builder.add(i, LONG(4))), strict=True):
                builder.store(builder.fadd(builder.load(four), term(at, 4)), four)
        low, high = (builder.load(four) for four in running)
        builder.store(_sum_of_eight(builder, low, high), total)
    builder.ret(builder.fadd(builder.load(total), builder.load(rest)))


def _sum_of_eight(builder: Any, low: Any, high: Any) -> Any:
    """The sum of eight running sums, of two vectors of four."""
    s = _paired(builder, low, high, (0, 4, 2, 6), (1, 5, 3, 7))
    s = _paired(builder, s, s, (0, 1), (2, 3))  # (s0 + s1) + (s2 + s3), (s4 + s5) + (s6 + s7)
    first, second = (builder.extract_element(s, INT(lane)) for lane in (0, 1))
    return builder.fadd(first, second)


def _each(builder: Any, terms: Any, lanes: int) -> list[Any]:
    return [terms] if lanes == 1 else [builder.extract_element(terms, INT(lane)) for lane in range(lanes)]


def _paired(builder: Any, a: Any, b: Any, some: Sequence[int], others: Sequence[int]) -> Any:
    """Lanes `some` of two vectors plus their lanes `others`, pair by pair."""
    first, second = (
        builder.shuffle_vector(a, b, ir.VectorType(INT, len(lanes))(lanes)) for lanes in (some, others)
    )
    return builder.fadd(first, second)


# -- most_of_entries


def _call_most_of_entries(
    builder: Any, kernel: Kernel, rows: dict[str, _Row], numbers: dict[str, Any]
) -> Any:
    (row,), (least,) = rows.values(), numbers.values()
    signature = ir.FunctionType(DOUBLE, [_pointer(row.kind), LONG, DOUBLE])
    write = functools.partial(_write_most, kernel)
    function = _function(builder.module, kernel, [row.kind], signature, write)
    return builder.call(function, [row.data, row.length, least])


def _write_most(kernel: Kernel, function: Any) -> None:
    """The largest of each lane, and of these: the same in every order, if entries are not 0 with both signs.

    If there is NaN, the first one is returned.
    """
    builder = ir.IRBuilder(function.append_basic_block())
    row, n, most = function.args
    unknown, start = _variable(builder, LONG(0)), LONG(0)

    def value_at(i: Any, lanes: int) -> Any:
        return kernel.entry(Lanes(builder, loaded(builder, row, i, lanes))).value

    for lanes in (4, 1):
        stop, largest = builder.and_(n, LONG(-lanes)), _variable(builder, repeated(builder, most, lanes))
        with _counting(builder, start, stop, LONG(lanes)) as i:
            value = value_at(i, lanes)
            builder.store(_larger(builder, value, builder.load(largest)), largest)
            is_nan = builder.bitcast(builder.fcmp_unordered("uno", value, value), ir.IntType(lanes))
            builder.store(builder.or_(builder.load(unknown), builder.zext(is_nan, LONG)), unknown)
        most, *others = _each(builder, builder.load(largest), lanes)
        for other in others:
            most = _larger(builder, other, most)
        start = stop
    is_unknown = builder.icmp_signed("!=", builder.load(unknown), LONG(0))
    with builder.if_then(is_unknown, likely=False), _counting(builder, LONG(0), n, LONG(1)) as i:
        value = value_at(i, 1)
        with builder.if_then(builder.fcmp_unordered("uno", value, value)):
            builder.ret(value)
    builder.ret(most)


def _larger(builder: Any, value: Any, most: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", value, most), value, most)


# -- matrices
#
# A matrix of twenty columns is read in a hundred nanoseconds. One call for each of its rows would take as
# long again, so the functions of a row are inlined here.


def _call_of_matrix(
    write: Callable[..., None], columns_of: str
) -> Callable[[Any, Kernel, dict[str, _Row], dict[str, Any]], Any]:
    """Call a function of arrays, of the numbers of rows and columns, and of numbers."""

    def call(builder: Any, kernel: Kernel, rows: dict[str, _Row], numbers: dict[str, Any]) -> Any:
        given = list(rows.values())
        columns = rows[columns_of or kernel.names[-1]].length
        pointers = [row.data.type for row in given]
        signature = ir.FunctionType(ir.VoidType(), [*pointers, LONG, LONG, *[DOUBLE] * len(numbers)])

        def written(function: Any) -> None:
            builder = ir.IRBuilder(function.append_basic_block())
            kinds = [row.kind for row in given]
            write(builder, kernel, kinds, *function.args)
            builder.ret_void()

        function = _function(builder.module, kernel, [row.kind for row in given], signature, written)
        values = [*(row.data for row in given), given[0].length, columns, *numbers.values()]
        return builder.call(function, values)

    return call


def _write_sum_in_each_row(
    builder: Any, kernel: Kernel, kinds: Any, matrix: Any, x: Any, sums: Any, rows: Any, columns: Any
) -> None:
    of_row = types.Array(types.float64, 1, "C")
    for whole in range(_LANES, _IN_REGISTERS + 1, _LANES):
        with builder.if_then(builder.icmp_signed("==", columns, LONG(whole))):
            _write_short_sums(builder, kernel.of_row.kernel, matrix, x, sums, rows, whole)
            builder.ret_void()
    function = _sum_function(builder.module, kernel.of_row.kernel, [of_row, kinds[1]])
    with _counting(builder, LONG(0), rows, LONG(1)) as i:
        row = builder.gep(matrix, [builder.mul(i, columns)])
        total = builder.call(function, [row, x, columns], attrs=_INLINE)
        builder.store(total, builder.gep(sums, [i]))


def _write_short_sums(
    builder: Any, of_row: Kernel, matrix: Any, x: Any, sums: Any, rows: Any, columns: int
) -> None:
    """The same sums, of rows that are so short that the entries of x stay in registers."""
    four = range(0, columns, 4)
    entries = [Lanes(builder, loaded(builder, x, LONG(k), 4)) for k in four]
    with _counting(builder, LONG(0), rows, LONG(1)) as i:
        row = builder.gep(matrix, [builder.mul(i, LONG(columns))])
        own = [Lanes(builder, loaded(builder, row, LONG(k), 4)) for k in four]
        terms = [of_row.entry(*pair).value for pair in zip(own, entries, strict=True)]
        low, high = terms[:2]
        for k in range(2, len(terms), 2):
            low, high = builder.fadd(low, terms[k]), builder.fadd(high, terms[k + 1])
        total = builder.fadd(_sum_of_eight(builder, low, high), DOUBLE(0.0))
        builder.store(total, builder.gep(sums, [i]))


def _write_change_each_row(
    builder: Any,
    kernel: Kernel,
    kinds: Any,
    matrix: Any,
    each: Any,
    x: Any,
    rows: Any,
    columns: Any,
    *numbers: Any,
) -> None:
    """Some columns of all rows, then the next ones: the entries of x stay in registers."""
    of_row, start = kernel.of_row.kernel, LONG(0)
    first, last = of_row.names[0], of_row.names[-1]
    given = dict(zip([name for name in kernel.numbers if name != kernel.each], numbers, strict=True))
    for width in _COLUMNS:
        blocks = builder.udiv(builder.sub(columns, start), LONG(width))
        stop = builder.add(start, builder.mul(blocks, LONG(width)))
        lanes = min(width, 4)
        with _counting(builder, start, stop, LONG(width)) as j:
            entries = [loaded(builder, x, builder.add(j, LONG(k)), lanes) for k in range(0, width, lanes)]
            with _counting(builder, LONG(0), rows, LONG(1)) as i:
                row = builder.gep(matrix, [builder.add(builder.mul(i, columns), j)])
                given[kernel.each] = builder.load(builder.gep(each, [i]))
                values = {name: repeated(builder, value, lanes) for name, value in given.items()}
                for k, entry in enumerate(entries):
                    at = LONG(k * lanes)
                    values |= {first: loaded(builder, row, at, lanes), last: entry}
                    result = of_row.entry(*(Lanes(builder, values[name]) for name in of_row.names))
                    store(builder, result.value, row, at)
        start = stop


def _write_sum_of_all_rows(
    builder: Any, kernel: Kernel, kinds: Any, matrix: Any, x: Any, total: Any, rows: Any, columns: Any
) -> None:
    start = LONG(0)
    for width in _COLUMNS:
        blocks = builder.udiv(builder.sub(columns, start), LONG(width))
        stop = builder.add(start, builder.mul(blocks, LONG(width)))
        lanes = min(width, 4)
        with _counting(builder, start, stop, LONG(width)) as j:
            sums = [_variable(builder, constant(0.0, lanes)) for _ in range(width // lanes)]
            with _counting(builder, LONG(0), rows, LONG(1)) as i:
                row = builder.gep(matrix, [builder.add(builder.mul(i, columns), j)])
                number = Lanes(builder, repeated(builder, loaded(builder, x, i, 1), lanes))
                for k, each in enumerate(sums):
                    entries = Lanes(builder, loaded(builder, row, LONG(k * lanes), lanes))
                    term = kernel.entry(entries, number).value
                    builder.store(builder.fadd(builder.load(each), term), each)
            for k, each in enumerate(sums):
                store(builder, builder.load(each), total, builder.add(j, LONG(k * lanes)))
        start = stop


WRITERS: dict[str, AnyFunction] = {
    "each_entry": _call_each_entry,
    "sum_of_entries": _call_sum_of_entries,
    "most_of_entries": _call_most_of_entries,
    "sum_in_each_row": _call_of_matrix(_write_sum_in_each_row, "x"),
    "change_each_row": _call_of_matrix(_write_change_each_row, ""),
    "sum_of_all_rows": _call_of_matrix(_write_sum_of_all_rows, "total"),
}


@intrinsic
def prefetch(typing_context: Any, array: Any, begin: Any, length: Any) -> Any:
    """Prefetch `length` bytes of an array into the cache, from byte `begin` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8)
        data, _ = data_and_length(context, builder, array, args[0])
        start = builder.gep(builder.bitcast(data, byte.as_pointer()), [args[1]])
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), INT, INT, INT])
        function = declared(builder.module, kind, "llvm.prefetch.p0")
        with _counting(builder, LONG(0), args[2], LONG(64)) as i:
            builder.call(function, [builder.gep(start, [i]), INT(0), INT(3), INT(1)])
        return nothing(context)

    return types.void(array, types.intp, types.intp), generate
