"""Compile games with numba. No other package imports numba.

`method_registration` finds the methods and helpers that a game reaches; `overloads` has the functions of
`holdfast.vectors` as loops, and `flatten` those of `holdfast.flatten`; `error_messages` says in a sentence
what cannot be compiled. There are two paths, with the same results (`numba_path` chooses):

- the private one is fast, with the help of `numba_private`: `native_calls`, `native_state`, `no_refcount`,
`disk_cache`,
  and `llvm_kernels` and `llvm_entrywise` for sums and steps;
- the public one is `numba_public`, with `plain_kernels`.
"""

import inspect
import threading
from types import FunctionType

import numba

from holdfast._compiled.error_messages import explain, explain_type
from holdfast._compiled.method_registration import CallGraph
from holdfast._compiled.numba_path import private

if private is None:
    from holdfast._compiled.numba_public import compile_call, dispatcher, open_calls
    from holdfast._compiled.numba_public import hold as _hold
    from holdfast._compiled.numba_public import is_stored as _is_stored
else:
    from holdfast._compiled.native_calls import compile_call
    from holdfast._compiled.native_calls import is_stored as _is_stored
    from holdfast._compiled.native_state import hold as _hold
    from holdfast._compiled.numba_private import dispatcher, open_calls

_programs: dict = {}  # (function, type of its arguments) -> a Python function that runs it, its CallGraph
_expected: dict = {}  # the same -> the CallGraph of what is likely to be called next
_one_at_a_time = threading.RLock()


def call(function, *args):
    """Compile `function` for arguments of these types, unless that was done before, and call it."""
    args = _prepared(args)
    return _compiled(function, args)(args)


def hold(function, *values):
    """The function as one of its last argument, a number; the others stay in native memory: see
    `native_state`.

    It must return the new first value and an answer. `first()` of the result is that value.
    """
    values = _prepared(values)
    _type(function, (*values, 0.0))
    with _one_at_a_time:
        graph = CallGraph(function, values)
        if graph.changed:
            _start_again()
        return _explained(graph, _hold, function, values, graph)


def is_ready(function, *args):
    """Whether `call` would find these types compiled already in this process."""
    _, graph = _programs.get((function, _type(function, _prepared(args))), (None, None))
    return graph is not None and graph.is_current()


def is_stored(function, *args):
    """Whether `call` would find these types compiled already, in this process or on disk."""
    args = _prepared(args)
    if is_ready(function, *args):
        return True
    with _one_at_a_time:
        kind = _type(function, args)
        graph = _expected[function, kind] = CallGraph(function, args)
        return _is_stored(function, kind, graph)


def _compiled(function, args):
    """The machine code for arguments of these types, as a Python function of their tuple."""
    kind = _type(function, args)
    with _one_at_a_time:
        program, graph = _programs.get((function, kind), (None, None))
        if graph is None or not graph.is_current():
            graph = _expected.pop((function, kind), None) or CallGraph(function, args)
            if graph.changed:
                _start_again()
                program = None
            if program is None:
                program = _explained(graph, compile_call, function, kind, graph)
            _programs[function, kind] = program, graph
        return program


def _explained(graph, compiling, *args):
    """What `compiling` makes of these. If numba cannot, say why in one sentence instead of pages."""
    open_calls.clear()
    try:
        return compiling(*args)
    except RuntimeWarning:  # one of ours, which the caller has made an error
        raise
    except Exception as problem:
        text = str(problem) or repr(problem)
    failed = open_calls[-1] if open_calls else None
    raise TypeError(explain(text, failed, graph.functions))


def _start_again():
    """A name has come to stand for something else: have numba compile everything again, if it can."""
    if private is not None:
        _programs.clear()
        private.reset()


def _type(function, args):
    """The type of the tuple of these arguments."""
    try:
        return numba.typeof(args)
    except (TypeError, ValueError):
        pass
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
    """A value as the compiler takes it: plain functions, as in `Functions`, become compiled ones."""
    if isinstance(value, FunctionType):
        return dispatcher(value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_prepared(item) for item in value])
    return value
