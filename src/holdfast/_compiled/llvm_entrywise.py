"""Steps and running scales, entry by entry, as separate LLVM functions.

A game has more values than there are registers. A loop in the middle of it would load its pointers from
memory again for every entry. A separate function keeps them in registers, so a learner takes the same time
in any game. It processes four entries at a time, then two, then one. This rounds like one at a time, because
no entries are summed. Eight at a time would be slower: the sums of the next round read four entries at a
time, and would have to wait until the eight are written.
"""

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from holdfast._compiled.llvm_kernels import add_attributes, counting, declared
from holdfast._compiled.numba_private import data_and_length, nothing
from holdfast.entrywise import LEAST, MOST, SWING

_LONG, _DOUBLE = ir.IntType(64), ir.DoubleType()
_WIDTHS = (4, 2, 1)


@intrinsic
def add_entries(typing_context, w, scale, x):
    """`holdfast.vectors.add` of a dense row in C order."""
    return types.void(w, types.float64, x), _calls("add", 1, _add)


@intrinsic
def add_exactly_entries(typing_context, w, rest, scale, x):
    """`holdfast.vectors.add_exactly`, with a scale of 1."""
    return types.void(w, rest, types.float64, x), _calls("add_exactly", 2, _add_exactly)


@intrinsic
def adagrad_entries(typing_context, w, squares, units, steps, low, high, slope, x):
    """`holdfast.entrywise.adagrad_step` of a dense row in C order; 0 if it was done for all entries."""
    kinds = (w, squares, units, steps, low, high, types.float64, x)
    return types.int64(*kinds), _calls("adagrad", 6, _adagrad)


@intrinsic
def moments_entries(typing_context, center, spread, factors, n, x):
    """`holdfast.entrywise.update_moments` of a dense row in C order."""
    return types.void(center, spread, factors, types.float64, x), _calls("moments", 3, _moments)


@intrinsic
def standardise_entries(typing_context, center, factors, row, clip, x):
    """`holdfast.vectors.standardise` of a dense row in C order, without the constant."""
    return types.void(center, factors, row, types.float64, x), _calls("standardise", 3, _standardise)


def _calls(name, place, write):
    """Generate a call of the function of this name. Its arguments are arrays, and a number at `place`."""

    def generate(context, builder, signature, args):
        kinds, arrays = list(signature.args), list(args)
        kinds.pop(place)
        number = arrays.pop(place)
        unfinished = _call(context, builder, name, kinds, arrays, number, write)
        return nothing(context) if signature.return_type == types.void else unfinished

    return generate


def _add(at, w, x, scale):
    at.write(w, at.plus(at.read(w), at.times(scale, at.read(x))))


def _add_exactly(at, w, rest, x, scale):
    before, term = at.read(w), at.read(x)
    after = at.plus(before, term)
    part = at.minus(after, before)
    error = at.plus(at.minus(before, at.minus(after, part)), at.minus(term, part))
    at.write(rest, at.plus(at.read(rest), error))
    at.write(w, after)


def _adagrad(at, w, squares, units, steps, low, high, x, slope):
    g, zero, before, place = at.times(slope, at.read(x)), at.number(0.0), at.read(squares), at.read(w)
    y = at.times(g, at.read(units))
    total = at.plus(before, at.times(y, y))
    fine = at.both(at.greater(total, at.number(LEAST)), at.greater(at.number(MOST), total))
    moved = at.minus(place, at.over(at.times(at.read(steps), y), at.root(total)))
    moved = at.choose(at.greater(at.read(low), moved), at.read(low), moved)
    moved = at.choose(at.greater(moved, at.read(high)), at.read(high), moved)
    at.write(w, at.choose(fine, moved, place))
    finished = at.either(fine, at.equal(g, zero))
    marked = at.minus(at.number(-0.0), before)
    at.write(squares, at.choose(fine, total, at.choose(finished, before, marked)))
    at.report_unless(finished)


def _moments(at, center, spread, factors, x, n):
    zero, swing, before, factor = at.number(0.0), at.number(SWING), at.read(center), at.read(factors)
    deviation, squares, known = at.minus(at.read(x), before), at.read(spread), at.greater(factor, zero)
    far = at.magnitude(at.times(deviation, factor))
    near = at.choose(at.greater(far, swing), at.times(deviation, at.over(swing, far)), deviation)
    part = at.over(near, n)
    at.write(center, at.choose(known, at.plus(before, part), before))
    more = at.plus(squares, at.times(near, at.minus(near, part)))
    at.write(spread, at.choose(known, more, _add_square(at, squares, at.times(deviation, deviation))))


def _add_square(at, squares, square):
    """`holdfast.entrywise.add_square`"""
    zero = at.number(0.0)
    later = at.plus(squares, at.least(square, squares))
    second = at.times(at.number(2.0), at.least(at.minus(at.number(-0.0), squares), square))
    first = at.minus(at.number(-0.0), square)
    moved = at.choose(at.greater(zero, squares), second, at.choose(at.greater(squares, zero), later, first))
    return at.choose(at.equal(square, zero), squares, moved)


def _standardise(at, center, factors, row, x, clip):
    value = at.times(at.minus(at.read(x), at.read(center)), at.read(factors))
    least = at.minus(at.number(-0.0), clip)
    near = at.choose(at.greater(value, clip), clip, at.choose(at.greater(least, value), least, value))
    infinite = at.equal(at.magnitude(value), at.number(math.inf))
    at.write(row, at.choose(infinite, at.number(math.nan), near))


class _Entries:
    """`lanes` entries from the i-th on, and arithmetic on them."""

    def __init__(self, builder, i, lanes, unfinished):
        self.builder, self.i, self.lanes, self.unfinished = builder, i, lanes, unfinished
        self.plus, self.minus, self.times, self.over = builder.fadd, builder.fsub, builder.fmul, builder.fdiv
        self.choose, self.both, self.either = builder.select, builder.and_, builder.or_
        self.opposite = builder.not_

    def greater(self, a, b):
        return self.builder.fcmp_ordered(">", a, b)

    def equal(self, a, b):
        return self.builder.fcmp_ordered("==", a, b)

    def least(self, a, b):
        """Python's min(a, b)"""
        return self.choose(self.greater(a, b), b, a)

    def most(self, a, b):
        """Python's max(a, b)"""
        return self.choose(self.greater(b, a), b, a)

    def number(self, value):
        return ir.Constant(_kind(_DOUBLE, self.lanes), [value] * self.lanes if self.lanes > 1 else value)

    def repeated(self, value):
        if self.lanes == 1:
            return value
        undefined = ir.Constant(_kind(_DOUBLE, self.lanes), ir.Undefined)
        first = self.builder.insert_element(undefined, value, _LONG(0))
        return self.builder.shuffle_vector(first, first, _kind(ir.IntType(32), self.lanes)([0] * self.lanes))

    def read(self, row):
        narrow = row.type.pointee != _DOUBLE
        values = self.builder.load(self._address(row), align=4 if narrow else 8)
        return self.builder.fpext(values, _kind(_DOUBLE, self.lanes)) if narrow else values

    def write(self, row, values):
        self.builder.store(values, self._address(row), align=8)

    def report_unless(self, conditions):
        """Make the function return a number other than 0, unless the conditions are true for all entries."""
        builder, lanes = self.builder, ir.IntType(self.lanes)
        failed = builder.zext(builder.not_(builder.bitcast(conditions, lanes)), _LONG)
        builder.store(builder.or_(builder.load(self.unfinished), failed), self.unfinished)

    def root(self, values):
        return self._intrinsic("sqrt", values)

    def magnitude(self, values):
        return self._intrinsic("fabs", values)

    def _intrinsic(self, name, values):
        width = f"v{self.lanes}f64" if self.lanes > 1 else "f64"
        signature = ir.FunctionType(values.type, [values.type])
        function = declared(self.builder.module, signature, f"llvm.{name}.{width}")
        return self.builder.call(function, [values])

    def _address(self, row):
        place = self.builder.gep(row, [self.i])
        return self.builder.bitcast(place, _kind(row.type.pointee, self.lanes).as_pointer())


def _kind(element, lanes):
    return ir.VectorType(element, lanes) if lanes > 1 else element


def _call(context, builder, name, kinds, arrays, number, write):
    """Call the function of this name."""
    parts = [
        data_and_length(context, builder, kind, array) for kind, array in zip(kinds, arrays, strict=True)
    ]
    data, length = [pointer for pointer, _ in parts], parts[0][1]
    function = _function(builder.module, name, [pointer.type for pointer in data], kinds[-1].dtype, write)
    return builder.call(function, [*data, length, number])


def add_function(module):
    """The function that adds a row, times a number, to another row: of their addresses, length and number."""
    return _function(module, "add", [_DOUBLE.as_pointer()] * 2, types.float64, _add)


def _function(module, name, pointers, element, write):
    """The function of this name, which is added to the module if it is not there yet.

    It returns 0, or another number after `report_unless`.
    """
    signature = ir.FunctionType(_LONG, [*pointers, _LONG, _DOUBLE])
    function = declared(module, signature, f"holdfast.{name}.{element}")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        add_attributes(function, "nounwind", "willreturn", "noinline")
        _write(function, len(pointers), write)
    return function


def _write(function, count, write):
    rows, n, number = function.args[:count], function.args[count], function.args[count + 1]
    for row in rows:
        row.add_attribute("noalias")
    builder, start = ir.IRBuilder(function.append_basic_block()), _LONG(0)
    unfinished = builder.alloca(_LONG)
    builder.store(_LONG(0), unfinished)
    for lanes in _WIDTHS:
        stop = builder.and_(n, _LONG(-lanes))
        with counting(builder, start, stop, _LONG(lanes)) as i:
            at = _Entries(builder, i, lanes, unfinished)
            write(at, *rows, at.repeated(number))
        start = stop
    builder.ret(builder.load(unfinished))
