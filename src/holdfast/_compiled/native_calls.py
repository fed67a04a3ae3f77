"""Calls of compiled functions on the private path: without reference counts, and with a disk cache.

Numba counts references to every array and string in a NamedTuple, with an atomic operation each: a filter
that takes 5 ns a round then takes 50. The caller of a game keeps its arguments alive until the game returns,
so they are passed without a counter. References to new arrays are counted as usual.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from holdfast._compiled import numba_private
from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.disk_cache import Store
from holdfast._compiled.numba_private import has_counter, incref, without_counters

if TYPE_CHECKING:
    from holdfast._compiled.method_registration import CallGraph


def compile_call(function: AnyFunction, kind: Any, graph: "CallGraph") -> Callable[[Arguments], Any]:
    """Compile `function`. The result is a Python function of the tuple of its arguments, of type `kind`."""
    inner = numba.njit(function, **numba_private.HELPER)

    def entry(args: Any) -> Any:
        return inner(*uncounted(args))

    run = numba_private.compile_entry(numba.njit(entry, nogil=True), (kind,), _store(function, kind, graph))

    def call(args: Arguments) -> Any:
        return with_owners(run(args), owners_of(args))

    return call


def is_stored(function: AnyFunction, kind: Any, graph: "CallGraph") -> bool:
    """Whether the compiled function is on disk."""
    return _store(function, kind, graph).exists()


def _store(function: AnyFunction, kind: Any, graph: "CallGraph") -> Store:
    store = Store(function.__name__, (kind,), kind, graph.fingerprint)
    # Another process cannot load a function whose module it cannot import.
    store.is_shared &= all(each.__module__ in sys.modules for each in graph.functions)
    return store


@intrinsic
def uncounted(typing_context: Any, value: Any) -> Any:
    """The same value, with arrays and strings that have no reference counter."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _incref_others(context, builder, signature.args[0], args[0])
        return without_counters(context, builder, signature.args[0], args[0])

    return value(value), generate


def _incref_others(context: Any, builder: Any, kind: Any, value: Any) -> None:
    """Count one more reference to all that keeps its counter: what is neither an array nor a string."""
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            _incref_others(context, builder, item, builder.extract_value(value, i))
    elif not isinstance(kind, types.Array | types.UnicodeType):
        incref(context, builder, kind, value)


@intrinsic
def is_counted(typing_context: Any, value: Any) -> Any:
    """Whether an array in the value has a reference counter: whether it is a new array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return has_counter(context, builder, signature.args[0], args[0])

    return types.boolean(value), generate


def owners_of(arguments: Any) -> dict[int, np.ndarray]:
    """The arrays of the arguments, by address."""
    owners: dict[int, np.ndarray] = {}
    _collect(arguments, owners)
    return owners


def with_owners(value: Any, owners: dict[int, np.ndarray]) -> Any:
    """The result of a compiled call, with each array without a counter replaced.

    An array of the arguments becomes the same Python object; any other becomes a copy.
    """
    return _replaced(value, owners)


def _collect(value: Any, owners: dict[int, np.ndarray]) -> None:
    if isinstance(value, tuple):
        for item in value:
            _collect(item, owners)
    elif isinstance(value, np.ndarray):
        owners[value.ctypes.data] = value


def _replaced(value: Any, owners: dict[int, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        if value.base is not None or value.flags.owndata:
            return value
        owner = owners.get(value.ctypes.data)
        return owner if owner is not None and _layout(owner) == _layout(value) else value.copy()
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_replaced(item, owners) for item in value])
    return value


def _layout(array: np.ndarray) -> Arguments:
    return array.shape, array.strides, array.dtype
