"""Compile a function with numba, on one of two paths, and explain what cannot be compiled."""

from types import FunctionType
from typing import Any

import numba

from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.by_type import register_by_type
from holdfast._compiled.call_graph import CallGraph
from holdfast._compiled.error_messages import explain, raise_untyped
from holdfast._compiled.kernel_forms import OTHER_BODIES, register_kernel
from holdfast._compiled.numba_path import private

if private is None:
    from holdfast._compiled.numba_public import (
        PublicProgram,
        dispatcher,
        open_calls,
        register_function,
        register_method,
    )
else:
    from holdfast._compiled.machine_code import compile_game
    from holdfast._compiled.numba_private import dispatcher, open_calls, register_function, register_method


def compiled(form: Any, function: AnyFunction, args: Arguments, graph: CallGraph) -> Any:
    """An `ObjectFile` of the function for arguments of these types, or on the public path a program.

    If numba fails, this raises its reason in one sentence instead of pages.
    """
    args = _prepared(args)
    kind = _type(function, args)
    open_calls.clear()
    try:
        register(graph)
        if private is None:
            return PublicProgram(function, kind, graph, _prepared)
        return compile_game(form, function, args, kind)
    except RuntimeWarning:  # a warning of holdfast that the caller turns into an error
        raise
    except Exception as problem:
        text = str(problem) or repr(problem)
    failed = open_calls[-1] if open_calls else None
    raise TypeError(explain(text, failed, graph.functions))


def register(graph: CallGraph) -> None:
    """Let compiled code call everything in a graph.

    Numba compiles nested NamedTuples, but neither their methods nor the plain Python functions that they
    call. It gets the same functions that Python would run.
    """
    for cls, name, method in graph.methods:
        register_method(cls, name, method)
    for function in graph.helpers:
        if hasattr(function, "kernel"):
            register_kernel(function)
        elif getattr(function, "is_by_type", False):
            register_by_type(function)
        elif function not in OTHER_BODIES:
            register_function(function)


def forget() -> bool:
    """Compile all methods and helpers again; False if numba cannot."""
    if private is not None:
        private.reset()
    return private is not None


def _prepared(value: Any) -> Any:
    """The value with numba dispatchers in place of plain functions, such as those of `Functions`."""
    if isinstance(value, FunctionType):
        return dispatcher(value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_prepared(item) for item in value])
    return value


def _type(function: AnyFunction, args: Arguments) -> Any:
    """The type of the tuple of these arguments."""
    try:
        return numba.typeof(args)
    except (TypeError, ValueError):
        raise_untyped(function, args, _is_known)
        raise


def _is_known(value: Any) -> bool:
    try:
        numba.typeof(value)
    except (TypeError, ValueError):
        return False
    return True
