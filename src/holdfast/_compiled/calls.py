"""Run a function as machine code: from the package, of this process, from the disk, or compiled by numba.

numba is imported only to compile. It is not installed with holdfast alone: `pip install 'holdfast[compile]'`.
"""

import functools
import importlib.util
import logging
import os
import sys
import threading
from typing import Any, Literal

from holdfast._compiled import prebuilt
from holdfast._compiled.argument_types import AnyFunction, Arguments, BoundState, signature
from holdfast._compiled.call_graph import CallGraph
from holdfast._compiled.disk_cache import Store
from holdfast._compiled.error_messages import raise_untyped
from holdfast._compiled.memory_layout import arrays_in, imported, kind_of, words
from holdfast._compiled.programs import Program

SWITCH = "HOLDFAST_PUBLIC_NUMBA"
Form = Literal["call", "state"]

# All by form, function and signature of arguments: what runs it, and its CallGraph; a CallGraph that
# `is_stored` has made, for the next call.
_programs: dict[Any, tuple[Any, CallGraph]] = {}
_call_graphs: dict[Any, CallGraph] = {}
_lock = threading.RLock()
_LOG = logging.getLogger("holdfast")


def call(function: AnyFunction, *args: Any) -> Any:
    """Call `function` compiled for arguments of these types."""
    return _program("call", function, args).call(args)


def prepare(function: AnyFunction, *args: Any) -> None:
    """Compile `function` for arguments of these types, and store it on disk, without calling it."""
    _program("call", function, args)


def bind_state(function: AnyFunction, *args: Any) -> BoundState:
    """A function of one argument, which calls `function(*values, argument)`: `args` are the values and an
    argument of the type that all arguments will have.

    The values stay in native memory. `function` must return the new first value and an answer. `first()` of
    the result is that value.
    """
    bound: BoundState = _program("state", function, args).bind(args)
    return bound


def is_ready(form: Form, function: AnyFunction, args: Arguments) -> bool:
    """Whether this process has loaded or compiled it for arguments of these types."""
    found = _programs.get(_key(form, function, args))
    return found is not None and found[1].is_current()


def is_stored(form: Form, function: AnyFunction, args: Arguments) -> bool:
    """Whether it need not be compiled: it is in the package, in this process or on disk."""
    if prebuilt.find(function, args) is not None or is_ready(form, function, args):
        return True
    with _lock:
        graph = _call_graphs[_key(form, function, args)] = CallGraph(function, args)
        store = _store(form, function, args, graph)
        return store is not None and store.exists()


def has_others() -> bool:
    """Whether this process has loaded or compiled any function that is not in the package."""
    return bool(_programs)


def can_compile(is_long: bool) -> bool:
    """Whether numba is there. If not, and a long game is about to be slow, the log says so once."""
    if not has_numba() and is_long:
        _say_once()
    return has_numba()


@functools.cache
def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _say_once() -> None:
    _LOG.warning(
        "this game was not compiled with holdfast, so it runs in Python: the same results, but many times "
        "slower. pip install 'holdfast[compile]' lets holdfast compile it"
    )


def _program(form: Form, function: AnyFunction, args: Arguments) -> Any:
    """A `Program` for arguments of these types, or on the public path of numba one of `numba_public`."""
    found_in_package = prebuilt.find(function, args)
    if found_in_package is not None:
        return found_in_package
    key = _key(form, function, args)
    found = _programs.get(key)
    if found is not None and found[1].is_current():
        return found[0]
    with _lock:
        graph = _call_graphs.pop(key, None) or CallGraph(function, args)
        if graph.changed:
            _forget(graph)
        found = _programs.get(key)
        program = found[0] if found else _made(form, function, args, graph)
        _programs[key] = program, graph
        return program


def _forget(graph: CallGraph) -> None:
    """Compile everything again, if numba can: a global name now refers to another value."""
    loaded = sys.modules.get("holdfast._compiled.compiler")
    if loaded is None or loaded.forget():
        graph.accept_changes()
        _programs.clear()


def _key(form: Form, function: AnyFunction, args: Arguments) -> Any:
    types = signature(args)
    if types is None:
        raise_untyped(function, args, lambda value: signature(value) is not None)
    return form, function, types


def _made(form: Form, function: AnyFunction, args: Arguments, graph: CallGraph) -> Any:
    store = _store(form, function, args, graph)
    program = None if store is None else store.load(lambda packed: _loaded(packed, graph))
    if program is not None:
        return program
    made = compiler().compiled(form, function, args, graph)
    if not hasattr(made, "is_portable"):  # on the public path of numba
        return made
    if store is not None and made.is_portable:
        store.save(made.packed())
    return made.load()


def _loaded(packed: bytes, graph: CallGraph) -> Program:
    from holdfast._compiled.object_files import ObjectFile

    classes = {(cls.__module__, cls.__qualname__): cls for cls in graph.classes}
    find = lambda module, name: classes.get((module, name)) or imported(module, name)  # noqa: E731
    return ObjectFile.unpacked(packed, find).load()


def _store(form: Form, function: AnyFunction, args: Arguments, graph: CallGraph) -> Store | None:
    """The place on disk; None if there is none."""
    names = {(cls.__module__, cls.__qualname__) for cls in graph.classes}
    if is_public() or len(names) < len(graph.classes):  # two classes of one name could be confused
        return None
    try:
        from holdfast._compiled.object_files import processor
    except ImportError:  # without llvmlite nothing can be loaded
        return None
    written = [array.flags.writeable for array in arrays_in(args)]
    return Store(function.__name__, (form, words(kind_of(args)), written, graph.fingerprint, processor()))


def is_public() -> bool:
    """Whether only the public API of numba is used."""
    return os.environ.get(SWITCH, "") not in ("", "0")


def compiler() -> Any:
    """The module `compiler`, which imports numba."""
    try:
        from holdfast._compiled import compiler
    except ModuleNotFoundError as problem:
        if problem.name not in ("numba", "llvmlite"):
            raise
        raise ImportError(
            "this was not compiled with holdfast, so compiled=True needs numba: "
            "pip install 'holdfast[compile]', or leave out compiled=True"
        ) from None
    return compiler
