"""Compile a function for the types of its arguments, and call it. This imports numba."""

import inspect
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from holdfast._compiled.argument_types import AnyFunction, Arguments, BoundState, signature
from holdfast._compiled.error_messages import explain, explain_type
from holdfast._compiled.method_registration import CallGraph
from holdfast._compiled.numba_path import private

if private is None:
    from holdfast._compiled.numba_public import bind_state as _bind_state
    from holdfast._compiled.numba_public import compile_call, dispatcher, open_calls
    from holdfast._compiled.numba_public import is_state_stored as _is_state_stored
    from holdfast._compiled.numba_public import is_stored as _is_stored
else:
    from holdfast._compiled.native_calls import compile_call
    from holdfast._compiled.native_calls import is_stored as _is_stored
    from holdfast._compiled.native_state import bind_state as _bind_state
    from holdfast._compiled.native_state import is_state_stored as _is_state_stored
    from holdfast._compiled.numba_private import dispatcher, open_calls

# All by function and type of arguments: a Python function that runs it, and its CallGraph; the CallGraph of
# the last `bind_state`; a CallGraph that `is_stored` has made, for the next `call`.
_programs: dict[tuple[AnyFunction, Any], tuple[Callable[[Arguments], Any], CallGraph]] = {}
_states: dict[tuple[AnyFunction, Any], CallGraph] = {}
_call_graphs: dict[tuple[AnyFunction, Any], CallGraph] = {}
_types: dict[Any, Any] = {}  # signature of arguments -> their type
_lock = threading.RLock()


def call(function: AnyFunction, *args: Any) -> Any:
    """Compile `function` for arguments of these types, unless that was done before, and call it."""
    args = _prepared(args)
    return _compiled(function, args)(args)


def prepare(function: AnyFunction, *args: Any) -> None:
    """Compile `function` for arguments of these types, and store it on disk, without calling it."""
    _compiled(function, _prepared(args))


def bind_state(function: AnyFunction, *args: Any) -> BoundState:
    """A function of one argument, which calls `function(*values, argument)`: `args` are the values and an
    argument of the type that all arguments will have.

    The values stay in native memory. `function` must return the new first value and an answer. `first()` of
    the result is that value.
    """
    args = _prepared(args)
    kind = _type(function, args)
    with _lock:
        graph = _states.get((function, kind))
        if graph is None or not graph.is_current():
            graph = _states[function, kind] = CallGraph(function, args)
            if graph.changed:
                _forget_all()
        return _with_short_errors(graph, _bind_state, function, args[:-1], kind, graph)


def is_state_stored(function: AnyFunction, *args: Any) -> bool:
    """Whether `bind_state` would find these types compiled already, in this process or on disk."""
    args = _prepared(args)
    with _lock:
        return _is_state_stored(function, _type(function, args), CallGraph(function, args))


def is_ready(function: AnyFunction, *args: Any) -> bool:
    """Whether `call` would find these types compiled already in this process."""
    found = _programs.get((function, _type(function, _prepared(args))))
    return found is not None and found[1].is_current()


def is_stored(function: AnyFunction, *args: Any) -> bool:
    """Whether `call` would find these types compiled already, in this process or on disk."""
    args = _prepared(args)
    if is_ready(function, *args):
        return True
    with _lock:
        kind = _type(function, args)
        graph = _call_graphs[function, kind] = CallGraph(function, args)
        return _is_stored(function, kind, graph)


def _compiled(function: AnyFunction, args: Arguments) -> Callable[[Arguments], Any]:
    """The machine code for arguments of these types, as a Python function of their tuple."""
    kind = _type(function, args)
    with _lock:
        found = _programs.get((function, kind))
        if found is not None and found[1].is_current():
            return found[0]
        graph = _call_graphs.pop((function, kind), None) or CallGraph(function, args)
        if graph.changed:
            _forget_all()
            found = None
        program = found[0] if found else _with_short_errors(graph, compile_call, function, kind, graph)
        _programs[function, kind] = program, graph
        return program


def _with_short_errors(graph: CallGraph, compiler: AnyFunction, *args: Any) -> Any:
    """The result of `compiler`. If numba fails, raise its reason in one sentence instead of pages."""
    open_calls.clear()
    try:
        return compiler(*args)
    except RuntimeWarning:  # a warning of holdfast that the caller turns into an error
        raise
    except Exception as problem:
        text = str(problem) or repr(problem)
    failed = open_calls[-1] if open_calls else None
    raise TypeError(explain(text, failed, graph.functions))


def _forget_all() -> None:
    """Compile everything again, if numba can: a global name now refers to another value."""
    if private is not None:
        _programs.clear()
        private.reset()


def _type(function: AnyFunction, args: Arguments) -> Any:
    """The type of the tuple of these arguments."""
    key = signature(args)
    if key in _types:
        return _types[key]
    try:
        kind = numba.typeof(args)
    except (TypeError, ValueError):
        kind = None
    if kind is not None:
        if key is not None:
            _types[key] = kind
        return kind
    for name, value in zip(inspect.signature(function).parameters, args, strict=True):
        _raise_if_untyped(name, value)
    raise AssertionError("all arguments have a type, but not together")


def _raise_if_untyped(path: str, value: Any) -> None:
    if isinstance(value, tuple):
        for name, item in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            _raise_if_untyped(f"{path}.{name}", item)
        return
    try:
        numba.typeof(value)
    except (TypeError, ValueError):
        raise TypeError(explain_type(path, value)) from None


def _prepared(value: Any) -> Any:
    """The value with numba dispatchers in place of plain functions, such as those of `Functions`."""
    if isinstance(value, FunctionType):
        return dispatcher(value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_prepared(item) for item in value])
    return value
