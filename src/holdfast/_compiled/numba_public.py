"""Compile games through the public API of numba: if `HOLDFAST_PUBLIC_NUMBA=1`, or if `numba_private` fails.

The results have the same bits. Compiling takes longer, and every process compiles again. References are
counted, and a `Player` converts its state in every round. Compiled code can pass the arguments of a method
only by position, not by keyword.
"""

import warnings
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload_method, register_jitable

from holdfast._compiled.argument_types import AnyFunction, Arguments, BoundState

OVERLOAD: dict[str, Any] = {"nogil": True}  # options for numba.extending.overload
HELPER: dict[str, Any] = {"nogil": True}  # options of njit for functions that only compiled code calls
open_calls: list[Any] = []  # see numba_private; always empty here
_functions: set[AnyFunction] = set()
_methods: dict[tuple[type, str], AnyFunction] = {}  # (class, name) -> method
_names: set[str] = set()
_dispatchers: dict[Any, Any] = {}
_warned: list[Any] = []


def register_function(function: AnyFunction) -> None:
    if function not in _functions:
        _functions.add(function)
        register = (
            register_jitable(error_model="numpy") if hasattr(function, "is_entry") else register_jitable
        )
        register(function)


def register_method(cls: type, name: str, method: AnyFunction) -> None:
    _methods[cls, name] = method
    if name not in _names:
        _names.add(name)
        _register_name(name)


def _register_name(name: str) -> None:
    """Register a method name once for all classes. Their parameters differ, so it takes any number."""

    @overload_method(types.BaseTuple, name)
    def method(self, *args):  # type: ignore[no-untyped-def]  # numba compares it with the lambda below
        found = _methods.get((self.instance_class, name))
        if found is None:
            return None
        call = dispatcher(found, self, args)
        return lambda self, *args: call(self, *args)


def dispatcher(function: AnyFunction, *types: Any) -> Any:
    """One for each tuple of types: a method that calls itself with other types is no recursion to numba."""
    if (function, types) not in _dispatchers:
        _dispatchers[function, types] = numba.njit(function, **HELPER)
    return _dispatchers[function, types]


class PublicProgram:
    """Like `programs.Program`, compiled for arguments of the type `kind`.

    `prepared` makes values that numba takes of all arguments.
    """

    def __init__(self, function: AnyFunction, kind: Any, graph: Any, prepared: AnyFunction) -> None:
        compiled = _interpreted if graph.changed else numba.njit(tuple(kind), nogil=True)
        self.function, self.prepared = compiled(function), prepared

    def call(self, args: Arguments) -> Any:
        return self.function(*self.prepared(args))

    def bind(self, args: Arguments) -> BoundState:
        return PythonState(self.function, self.prepared(args[:-1]))


class PythonState:
    """Like `programs.State`, but the state is a Python object."""

    def __init__(self, step: AnyFunction, values: Arguments) -> None:
        self.step, self.values = step, values

    def __call__(self, argument: Any) -> Any:
        first, answer = self.step(*self.values, argument)
        self.values = (first, *self.values[1:])
        return answer

    def first(self) -> Any:
        return self.values[0]


def _interpreted(function: AnyFunction) -> AnyFunction:
    """Run the function in Python: numba would use the old value of a global name."""
    if not _warned:
        _warned.append(function)
        warnings.warn(
            "a global name in a compiled function has another value now, so the function runs in Python "
            "from now on: the same results, but slower. Restart Python to compile it",
            RuntimeWarning,
            stacklevel=2,
        )

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return run
