"""A state that stays in native memory between calls, for `Player(compiled=True)`.

Converting a player, its state and a loss from Python objects to machine values and back takes a hundred times
as long as a round. Here they are stored in a block of bytes, in the layout of the machine code. A call passes
the block and one number.
"""

import threading

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from holdfast._compiled import numba_private
from holdfast._compiled.disk_cache import Store
from holdfast._compiled.no_refcount import uncounted, with_owners
from holdfast._compiled.numba_private import compile_entry, data_and_length, decref, incref

_BLOCK = types.Array(types.uint8, 1, "C")
_compiled: dict = {}
_lock = threading.RLock()


class NativeState:
    """`state(number)` calls function(*values, number), which returns the new first value and an answer."""

    def __init__(self, values, kind, functions):
        self.owners = values  # keeps alive the arrays that the block points to at the start
        self.block = np.zeros(numba_private.size_of(kind), np.uint8)
        self.step, self.write, self.read_first = functions
        self.write(self.block, values)

    def __call__(self, number):
        return self.step(self.block, number)

    def __del__(self):
        self.write(self.block, self.owners)  # releases the arrays that the steps have created

    def first(self):
        """The current first value."""
        return with_owners(self.read_first(self.block), self.owners)


def bind_state(function, values, graph):
    """A `NativeState` of these values; `graph` is the call graph of the function."""
    kind = types.Tuple([numba.typeof(value) for value in values])
    key = function, kind, graph.fingerprint()
    with _lock:
        if key not in _compiled:
            _compiled[key] = _compile(*key)
        return NativeState(values, kind, _compiled[key])


def _compile(function, kind, fingerprint):
    """Three compiled functions: play a step in a block, write values to it, read the first value."""
    load, store = _loader(kind), _storer(kind)
    inner = numba.njit(function, **numba_private.HELPER)

    def step(block, number):
        values = load(block)
        first, answer = inner(*values, number)
        store(block, (first, *values[1:]))
        return answer

    def write(block, values):
        store(block, uncounted(values))

    def read_first(block):
        return load(block)[0]

    return [
        compile_entry(numba.njit(each, nogil=True), kinds, Store(each.__name__, kinds, kind, fingerprint))
        for each, kinds in ((step, (_BLOCK, types.float64)), (write, (_BLOCK, kind)), (read_first, (_BLOCK,)))
    ]


def _loader(kind):
    @intrinsic
    def load(typing_context, block):
        def generate(context, builder, signature, args):
            value = builder.load(_place(context, builder, kind, args[0]))
            incref(context, builder, kind, value)
            return value

        return kind(_BLOCK), generate

    return load


def _storer(kind):
    @intrinsic
    def store(typing_context, block, value):
        def generate(context, builder, signature, args):
            place = _place(context, builder, kind, args[0])
            old = builder.load(place)  # all zeros at the start: arrays without a counter
            incref(context, builder, kind, args[1])
            builder.store(args[1], place)
            decref(context, builder, kind, old)
            return numba_private.nothing(context)

        return types.void(_BLOCK, kind), generate

    return store


def _place(context, builder, kind, block):
    data, _ = data_and_length(context, builder, _BLOCK, block)
    return builder.bitcast(data, context.get_value_type(kind).as_pointer())
