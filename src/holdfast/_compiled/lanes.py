"""Entries of rows in LLVM code: `Lanes` stand for numbers when the entry of a kernel is called.

Each operation writes down an instruction for one, two or four entries at a time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

INT, LONG, DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _binary(write: Callable[[Any, Any, Any], Any]) -> tuple[Callable[..., "Lanes"], Callable[..., "Lanes"]]:
    """An operator, and the same with its operands in the other order."""

    def operator(self: "Lanes", other: Any) -> "Lanes":
        return Lanes(self.builder, write(self.builder, self.value, self.like(other)))

    def reflected(self: "Lanes", other: Any) -> "Lanes":
        return Lanes(self.builder, write(self.builder, self.like(other), self.value))

    return operator, reflected


class Lanes:
    """Some entries of a row, or conditions on them, and what the entry of a kernel may do with them."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def like(self, other: Any) -> Any:
        """The value of another operand: of entries, or of a number that is repeated."""
        return other.value if isinstance(other, Lanes) else constant(float(other), lanes_of(self.value))

    __add__, __radd__ = _binary(lambda builder, a, b: builder.fadd(a, b))
    __sub__, __rsub__ = _binary(lambda builder, a, b: builder.fsub(a, b))
    __mul__, __rmul__ = _binary(lambda builder, a, b: builder.fmul(a, b))
    __truediv__, __rtruediv__ = _binary(lambda builder, a, b: builder.fdiv(a, b))
    __lt__, __gt__ = _binary(lambda builder, a, b: builder.fcmp_ordered("<", a, b))
    __eq__, _ = _binary(lambda builder, a, b: builder.fcmp_ordered("==", a, b))  # type: ignore[assignment]
    __ne__, _ = _binary(lambda builder, a, b: builder.fcmp_unordered("!=", a, b))  # type: ignore[assignment]
    __and__, _ = _binary(lambda builder, a, b: builder.and_(a, b))
    __or__, _ = _binary(lambda builder, a, b: builder.or_(a, b))

    def __neg__(self) -> "Lanes":
        return Lanes(self.builder, self.builder.fneg(self.value))

    def __abs__(self) -> "Lanes":
        return self._call("fabs")

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self._call("sqrt") if function is np.sqrt else NotImplemented

    def __array_function__(self, function: Any, kinds: Any, args: Any, options: Any) -> Any:
        if function is not np.where:
            return NotImplemented
        condition, a, b = args
        return Lanes(self.builder, self.builder.select(condition.value, condition.like(a), condition.like(b)))

    def _call(self, name: str) -> "Lanes":
        kind, lanes = self.value.type, lanes_of(self.value)
        suffix = f"v{lanes}f64" if lanes > 1 else "f64"
        function = declared(self.builder.module, ir.FunctionType(kind, [kind]), f"llvm.{name}.{suffix}")
        return Lanes(self.builder, self.builder.call(function, [self.value]))


def declared(module: Any, signature: Any, name: str) -> Any:
    """The function of this name in a module, which is declared if it is not there yet."""
    found = module.globals.get(name)
    return ir.Function(module, signature, name) if found is None else found


def lanes_of(value: Any) -> int:
    return value.type.count if isinstance(value.type, ir.VectorType) else 1


def kind_of(element: Any, lanes: int) -> Any:
    return ir.VectorType(element, lanes) if lanes > 1 else element


def constant(value: float, lanes: int) -> Any:
    return ir.Constant(kind_of(DOUBLE, lanes), [value] * lanes if lanes > 1 else value)


def repeated(builder: Any, value: Any, lanes: int) -> Any:
    """A number in all lanes."""
    if lanes == 1:
        return value
    undefined = ir.Constant(kind_of(DOUBLE, lanes), ir.Undefined)
    first = builder.insert_element(undefined, value, LONG(0))
    return builder.shuffle_vector(first, first, kind_of(INT, lanes)([0] * lanes))


def loaded(builder: Any, row: Any, i: Any, lanes: int) -> Any:
    """Entries i, i + 1, ... of a row, as doubles."""
    narrow = row.type.pointee != DOUBLE
    values = builder.load(_address(builder, row, i, lanes), align=4 if narrow else 8)
    return builder.fpext(values, kind_of(DOUBLE, lanes)) if narrow else values


def store(builder: Any, values: Any, row: Any, i: Any) -> None:
    """Write entries i, i + 1, ... of a row."""
    builder.store(values, _address(builder, row, i, lanes_of(values)), align=8)


def _address(builder: Any, row: Any, i: Any, lanes: int) -> Any:
    return builder.bitcast(builder.gep(row, [i]), kind_of(row.type.pointee, lanes).as_pointer())
