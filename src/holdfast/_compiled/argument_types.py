"""The types of the arguments of a compiled function, found without numba.

`signature` is a key for them: numba takes half a millisecond to find the types of a game. `outline` replaces
arrays by their types, so that another process can compile for the same types without the data.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

AnyFunction = Callable[..., Any]
Arguments = tuple[Any, ...]

_C_ORDER, _F_ORDER, _OWNS_DATA = 1, 2, 4  # flags of numpy
_INTEGERS = range(-(2**63), 2**63)  # numba has another type for larger ones


class BoundState(Protocol):
    """A function of one argument, whose other arguments stay with it from call to call."""

    def __call__(self, argument: Any) -> Any: ...

    def first(self) -> Any:
        """The current first of them."""


class ArrayType(NamedTuple):
    """All that numba compiles for."""

    kind: type
    dtype: Any
    ndim: int
    layout: str  # "C", "F" or "A", as numba names them
    writeable: bool
    aligned: bool

    def example(self) -> np.ndarray:
        """A small array of this type."""
        step = 2 if self.layout == "A" else 1
        shape = (2 * step,) * self.ndim
        array = np.zeros(shape, self.dtype, order="F" if self.layout == "F" else "C")
        array = array[(slice(None, None, step),) * self.ndim]
        array.flags.writeable = self.writeable
        return array


class _Item(NamedTuple):
    """A tuple in an outline: its class and its items."""

    kind: type
    items: tuple[Any, ...]


def array_type(array: np.ndarray) -> ArrayType:
    flags = array.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return ArrayType(type(array), array.dtype, array.ndim, layout, flags.writeable, flags.aligned)


def signature(value: Any) -> Any:
    """A key: values with equal keys have the same type for numba. None if there is no key."""
    if isinstance(value, tuple):
        items = [signature(item) for item in value]
        return None if None in items else (type(value), *items)
    if isinstance(value, np.ndarray):
        flags = value.flags.num
        # A matrix with one row is in both orders. Numba says C, and does not ask for the owner.
        flags &= ~(_F_ORDER | _OWNS_DATA) if flags & _C_ORDER else ~_OWNS_DATA
        return type(value), value.dtype, value.ndim, flags
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool | float | str | None) or (isinstance(value, int) and value in _INTEGERS):
        return type(value)
    return None


def outline(value: Any) -> Any:
    """Types in place of arrays, and zeros in place of numbers. `example` makes values of the same types."""
    if isinstance(value, tuple):
        return _Item(type(value), tuple(map(outline, value)))
    return array_type(value) if isinstance(value, np.ndarray) else type(value)()


def example(outlined: Any) -> Any:
    """A value of the types of an outline, with small arrays of zeros."""
    if isinstance(outlined, _Item):
        return tuple.__new__(outlined.kind, [example(item) for item in outlined.items])
    return outlined.example() if isinstance(outlined, ArrayType) else outlined


def can_be_sent(value: Any) -> bool:
    """Whether another process can import all classes of a value."""
    if isinstance(value, tuple):
        return type(value).__module__ != "__main__" and all(map(can_be_sent, value))
    return isinstance(value, np.ndarray | np.generic | bool | int | float | str | None)
