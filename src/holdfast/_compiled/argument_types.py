"""The types of the arguments of a compiled function, found without numba.

`signature` is a key for them: numba takes half a millisecond to find the types of a game.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Protocol

import numpy as np

AnyFunction = Callable[..., Any]
Arguments = tuple[Any, ...]

_C_ORDER, _F_ORDER, _OWNS_DATA = 1, 2, 4  # flags of numpy
_INTEGERS, _LARGER = range(-(2**63), 2**63), range(2**63, 2**64)  # numba has another type for these


class BoundState(Protocol):
    """A function of one argument, whose other arguments stay with it from call to call."""

    def __call__(self, argument: Any) -> Any: ...

    def first(self) -> Any:
        """The current first of them."""


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
    if isinstance(value, bool | float | str | None):
        return type(value)
    if isinstance(value, int):
        return type(value) if value in _INTEGERS else np.uint64 if value in _LARGER else None
    return value if is_function(value) else None


def is_function(value: Any) -> bool:
    """Whether a value is a function in Python, or one of numba's."""
    return isinstance(value, FunctionType) or hasattr(value, "py_func")
