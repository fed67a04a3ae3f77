"""A state that stays in the compiled world between calls.

Handing a player, its state and a loss to compiled code and back takes a hundred times as long as the round
that is then played. Here they lie in a block of memory as the machine code has them, and a call hands over
an address and a number.
"""

import contextlib
import threading

import numba
import numpy as np
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from holdfast._compiled.borrowing import borrowed, returned
from holdfast._compiled.lesson import OPTIONS, PART
from holdfast._compiled.storing import Cache, has_an_address

_made: dict = {}
_one_at_a_time = threading.RLock()


class Held:
    """`held(number)` calls function(*values, number), which returns the new first value and an answer."""

    def __init__(self, values, kind, functions):
        self.owners = values  # the arrays that the block points to, or did at first
        self.block = np.zeros(_bytes(kind), np.uint8)
        self.address = self.block.ctypes.data
        self.step, self.put, self.look = functions
        self.put(self.address, values)

    def __call__(self, number):
        return self.step(self.address, number)

    def __del__(self):
        self.put(self.address, self.owners)  # lets go of the arrays that the steps have made

    def first(self):
        """The first value, as it is now."""
        return returned(self.look(self.address), self.owners)


def functions_for(function, kind, fingerprint):
    """Compiled code that plays a step on values of this kind, puts them into a block, and reads them."""
    with _one_at_a_time:
        if (function, kind, fingerprint) not in _made:
            _made[function, kind, fingerprint] = _make(function, kind, fingerprint)
        return _made[function, kind, fingerprint]


def _bytes(kind):
    context = cpu_target.target_context
    return context.get_abi_sizeof(context.get_value_type(kind))


def _make(function, kind, fingerprint):
    read, write = _reader(kind), _writer(kind)
    inner = numba.njit(function, **PART)

    def step(address, number):
        values = read(address)
        first, answer = inner(*values, number)
        write(address, (first, *values[1:]))
        return answer

    def put(address, values):
        write(address, borrowed(values))

    def look(address):
        return read(address)[0]

    compiled = [numba.njit(each, **OPTIONS) for each in (step, put, look)]
    if has_an_address(kind):
        with contextlib.suppress(RuntimeError):  # no folder to write to
            for each in compiled:
                each._cache = Cache(each.py_func)
                each._cache.fingerprint = f"{fingerprint} {kind}"
    return compiled


def _reader(kind):
    @intrinsic
    def read(typing_context, address):
        def generate(context, builder, signature, args):
            value = builder.load(_place(context, builder, kind, args[0]))
            context.nrt.incref(builder, kind, value)
            return value

        return kind(types.intp), generate

    return read


def _writer(kind):
    @intrinsic
    def write(typing_context, address, value):
        def generate(context, builder, signature, args):
            place = _place(context, builder, kind, args[0])
            old = builder.load(place)  # at first all zeros: arrays without a counter
            context.nrt.incref(builder, kind, args[1])
            builder.store(args[1], place)
            context.nrt.decref(builder, kind, old)
            return context.get_dummy_value()

        return types.void(types.intp, kind), generate

    return write


def _place(context, builder, kind, address):
    return builder.inttoptr(address, context.get_value_type(kind).as_pointer())
