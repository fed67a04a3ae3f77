"""Arrays and strings on loan: the compiled game does not count references to what its caller holds anyway.

Numba counts references to every array and string that passes through a NamedTuple, with an atomic operation
each: a filter that costs 5 ns a round then costs 50. What a game is called with is alive until it returns, so
it is handed in without a counter. New arrays that the game makes are counted as ever.
"""

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def borrowed(typing_context, value):
    """The same value, with arrays that are not counted."""

    def generate(context, builder, signature, args):
        return _without_counters(context, builder, signature.args[0], args[0])

    return value(value), generate


def _without_counters(context, builder, kind, value):
    if isinstance(kind, types.Array | types.UnicodeType):
        lent = cgutils.create_struct_proxy(kind)(context, builder, value)
        lent.meminfo = cgutils.get_null_value(lent.meminfo.type)
        lent.parent = cgutils.get_null_value(lent.parent.type)
        return lent._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, item in enumerate(kind):
            lent = _without_counters(context, builder, item, builder.extract_value(value, i))
            value = builder.insert_value(value, lent, i)
        return value
    context.nrt.incref(builder, kind, value)  # anything else is counted as usual
    return value


def returned(value, lent):
    """The result of a compiled call, with the caller's own arrays where it has uncounted ones."""
    owners: dict[int, np.ndarray] = {}
    _collect(lent, owners)
    return _with_owners(value, owners)


def _collect(value, owners):
    if isinstance(value, tuple):
        for item in value:
            _collect(item, owners)
    elif isinstance(value, np.ndarray):
        owners[value.ctypes.data] = value


def _layout(array):
    return array.shape, array.strides, array.dtype


def _with_owners(value, owners):
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_with_owners(item, owners) for item in value])
    if isinstance(value, np.ndarray) and value.base is None and not value.flags.owndata:
        owner = owners.get(value.ctypes.data)
        return owner if owner is not None and _layout(owner) == _layout(value) else value.copy()
    return value
