"""Compiled games do not count references to their arguments.

Numba counts references to every array and string in a NamedTuple, with an atomic operation each: a filter
that takes 5 ns a round then takes 50. The caller of a game keeps its arguments alive until the game returns,
so they are passed without a counter. References to new arrays are counted as usual.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from holdfast._compiled.numba_private import has_counter, incref, without_counters


@intrinsic
def uncounted(typing_context, value):
    """The same value, with arrays and strings that have no reference counter."""

    def generate(context, builder, signature, args):
        _incref_others(context, builder, signature.args[0], args[0])
        return without_counters(context, builder, signature.args[0], args[0])

    return value(value), generate


def _incref_others(context, builder, kind, value):
    """Count one more reference to all that keeps its counter: what is neither an array nor a string."""
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            _incref_others(context, builder, item, builder.extract_value(value, i))
    elif not isinstance(kind, types.Array | types.UnicodeType):
        incref(context, builder, kind, value)


@intrinsic
def is_counted(typing_context, value):
    """Whether an array in the value has a reference counter: whether it is a new array."""

    def generate(context, builder, signature, args):
        return has_counter(context, builder, signature.args[0], args[0])

    return types.boolean(value), generate


def owners_of(arguments):
    """The arrays of the arguments, by address."""
    owners: dict[int, np.ndarray] = {}
    _collect(arguments, owners)
    return owners


def with_owners(value, owners):
    """The result of a compiled call, with each array without a counter replaced.

    An array of the arguments becomes the same Python object; any other becomes a copy.
    """
    return _replaced(value, owners)


def _collect(value, owners):
    if isinstance(value, tuple):
        for item in value:
            _collect(item, owners)
    elif isinstance(value, np.ndarray):
        owners[value.ctypes.data] = value


def _replaced(value, owners):
    if isinstance(value, np.ndarray):
        if value.base is not None or value.flags.owndata:
            return value
        owner = owners.get(value.ctypes.data)
        return owner if owner is not None and _layout(owner) == _layout(value) else value.copy()
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_replaced(item, owners) for item in value])
    return value


def _layout(array):
    return array.shape, array.strides, array.dtype
