"""Compile games with numba. No other package imports numba.

`method_registration` finds the methods and helpers that a game calls. `overloads`, `scaling_overloads`,
`matrix_overloads` and `flatten` replace functions of `holdfast.vectors`, `entrywise`, `matrices` and
`flatten` by loops. `error_messages` explains in one sentence what cannot be compiled. `warm` compiles in
another process. `numba_path` chooses one of two paths, with the same results:

- the private path is fast: `numba_private`, `native_calls`, `native_state`, `no_refcount`, `disk_cache`,
  `llvm_kernels`, `llvm_entrywise` and `llvm_matrices`;
- the public path uses only the documented API of numba: `numba_public` and `plain_kernels`.
"""

import inspect
import threading
from types import FunctionType

import numba

from holdfast._compiled.error_messages import explain, explain_type
from holdfast._compiled.method_registration import CallGraph
from holdfast._compiled.numba_path import private
from holdfast.argument_types import signature

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

_programs: dict = {}  # (function, type of its arguments) -> a Python function that runs it, its CallGraph
_states: dict = {}  # (function, type of its arguments) -> the CallGraph of the last `bind_state`
_call_graphs: dict = {}  # the same -> a CallGraph that `is_stored` has made, for the next `call`
_types: dict = {}  # signature of arguments -> their type
_lock = threading.RLock()


def call(function, *args):
    """Compile `function` for arguments of these types, unless that was done before, and call it."""
    args = _prepared(args)
    return _compiled(function, args)(args)


def prepare(function, *args):
    """Compile `function` for arguments of these types, and store it on disk, without calling it."""
    _compiled(function, _prepared(args))


def bind_state(function, *args):
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


def is_state_stored(function, *args):
    """Whether `bind_state` would find these types compiled already, in this process or on disk."""
    args = _prepared(args)
    with _lock:
        return _is_state_stored(function, _type(function, args), CallGraph(function, args))


def is_ready(function, *args):
    """Whether `call` would find these types compiled already in this process."""
    _, graph = _programs.get((function, _type(function, _prepared(args))), (None, None))
    return graph is not None and graph.is_current()


def is_stored(function, *args):
    """Whether `call` would find these types compiled already, in this process or on disk."""
    args = _prepared(args)
    if is_ready(function, *args):
        return True
    with _lock:
        kind = _type(function, args)
        graph = _call_graphs[function, kind] = CallGraph(function, args)
        return _is_stored(function, kind, graph)


def _compiled(function, args):
    """The machine code for arguments of these types, as a Python function of their tuple."""
    kind = _type(function, args)
    with _lock:
        program, graph = _programs.get((function, kind), (None, None))
        if graph is None or not graph.is_current():
            graph = _call_graphs.pop((function, kind), None) or CallGraph(function, args)
            if graph.changed:
                _forget_all()
                program = None
            if program is None:
                program = _with_short_errors(graph, compile_call, function, kind, graph)
            _programs[function, kind] = program, graph
        return program


def _with_short_errors(graph, compiler, *args):
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


def _forget_all():
    """Compile everything again, if numba can: a global name now refers to another value."""
    if private is not None:
        _programs.clear()
        private.reset()


def _type(function, args):
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


def _raise_if_untyped(path, value):
    if isinstance(value, tuple):
        for name, item in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            _raise_if_untyped(f"{path}.{name}", item)
        return
    try:
        numba.typeof(value)
    except (TypeError, ValueError):
        raise TypeError(explain_type(path, value)) from None


def _prepared(value):
    """The value with numba dispatchers in place of plain functions, such as those of `Functions`."""
    if isinstance(value, FunctionType):
        return dispatcher(value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_prepared(item) for item in value])
    return value
