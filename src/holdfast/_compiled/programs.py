"""Machine code of a function, called through pointers, without numba.

All such functions are int game(nothing, error, arguments, result). They read a tuple of arguments from one
place and write a tuple to another (`memory_layout`): whether there are new arrays in it, and the result. They
return 0, or the number of an error.

A function of a `State` returns a new first value and an answer. It writes: whether there are new arrays, the
answer, 0, the first value. So the arguments can begin where the result ends: the new value replaces the old.
"""

import ctypes
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast._compiled.argument_types import Arguments
from holdfast._compiled.memory_layout import Kind, arrays_in, by_place, layout_of, layout_of_kind

_ANSWER, _FIRST = 1, 3  # in what a function of a `State` writes
_GAME = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_RAISED = 1  # the status of an exception that numba has stored


class Program:
    """The machine code of a function for arguments of some types.

    Parameters
    ----------
    code : a function of ctypes
    release : a function of ctypes
        Gives back an array that `code` has made, by its owner.
    result : the kind of what it writes (`memory_layout`)
    """

    def __init__(self, code: Any, release: Any, result: Kind) -> None:
        code.argtypes, code.restype = [ctypes.c_void_p] * 4, ctypes.c_int32
        release.argtypes, release.restype = [ctypes.c_void_p], None
        self.code, self.release, self.result = code, release, layout_of_kind(result)

    @staticmethod
    def at(code: int, release: int, result: Kind) -> "Program":
        return Program(_GAME(code), _RELEASE(release), result)

    def call(self, args: Arguments) -> Any:
        """The result of the function. Arrays of the arguments in it are the same objects."""
        layout = layout_of(args)
        start = layout.size + -layout.size % 8
        memory = np.zeros(start + self.result.size, np.uint8)
        layout.write(memory, args)
        place = memory.ctypes.data
        run(self.code, place, place + start)
        leaves = self.result.read(memory, start)
        is_new, value = self.result.rebuilt(leaves, by_place(args))
        if is_new:
            self.free(self.result.owners(leaves))
        return value

    def bind(self, args: Arguments) -> "State":
        """The function of one argument; its values, and an argument, are `args`."""
        return State(self, args)

    def free(self, owners: tuple[int, ...]) -> None:
        for owner in owners:
            if owner:
                self.release(owner)


class State:
    """`state(argument)` calls function(*values, argument): it returns the new first value and an answer.

    The values stay in native memory. All arguments must have the type of the last of `args`.
    """

    def __init__(self, program: Program, args: Arguments) -> None:
        self._program, self._code = program, program.code
        start, self._first = program.result.offset_of(_FIRST)
        self._at, self._answer = program.result.offset_of(_ANSWER)
        layout, self._values = layout_of(args), start
        self._layout = layout.without_last()
        offset, argument = layout.offset_of(len(args) - 1)
        self._parts = argument.parts(start + offset)
        self._last: Arguments = (None,) * len(self._parts)
        self._memory = np.zeros(max(start + layout.size, program.result.size), np.uint8)
        self._result: int = self._memory.ctypes.data
        self._is_new = memoryview(self._memory)[:8].cast("q")  # type: ignore[arg-type]
        self._now = self._memory[start : start + self._first.size]
        self._own(args[:-1])

    def _own(self, values: Arguments) -> None:
        """Write the values, and keep the arrays that they point to."""
        self._kept, self._owners = values, by_place(values)
        self._arrays = arrays_in(values[0])
        self._layout.write(self._memory, values, self._values)
        self._places = self._first.places(self._first.read(self._memory, self._values))
        self._known = self._now.tobytes(), values[0]

    def __call__(self, argument: Any) -> Any:
        items = argument if isinstance(argument, tuple) else (argument,)
        before, self._last = self._last, (None,) * len(items)
        for item, last, (place, layout) in zip(items, before, self._parts, strict=True):
            if item is not last:  # or its numbers are still there
                layout.write(self._memory, item, place)
        self._last = items
        run(self._code, self._result + self._values, self._result)
        leaves = self._answer.read(self._memory, self._at)
        owners = self._owners | by_place(argument) if self._answer.has_arrays else self._owners
        answer = self._answer.rebuilt(leaves, owners)
        if self._is_new[0]:
            self._take_new_arrays(leaves)
        return answer

    def first(self) -> Any:
        now = self._now.tobytes()
        if now != self._known[0]:  # not only the numbers in its arrays have changed
            leaves = self._first.read(now)
            if self._first.places(leaves) == self._places:
                self._known = now, self._first.with_arrays(leaves, self._arrays)
            else:
                return self._first.rebuilt(leaves, self._owners)
        return self._known[1]

    def _take_new_arrays(self, answer: tuple[Any, ...]) -> None:
        """Copy arrays that machine code has made, and release them there."""
        owners = self._first.owners(self._first.read(self._memory, self._values))
        self._own((self.first(), *self._kept[1:]))
        self._program.free(owners + self._answer.owners(answer))


def run(code: Callable[..., int], arguments: int, result: int) -> None:
    """Call machine code; raise what it raises."""
    error = ctypes.c_void_p()
    status = code(_nothing_at, ctypes.addressof(error), arguments, result)
    if status:
        raise _exception(status, error.value)


_nothing = ctypes.c_void_p()
_nothing_at = ctypes.addressof(_nothing)  # numba writes NULL to it


class _Raised(ctypes.Structure):
    """An exception as numba stores it: pickled, with text that is known before it runs."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_int32),
        ("digest", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p),
        ("parts", ctypes.c_int32),
    )


def _exception(status: int, place: int | None) -> Exception:
    if status == _RAISED and place:
        raised = _Raised.from_address(place)
        if raised.parts == 0:
            kind, args, _ = pickle.loads(ctypes.string_at(raised.data, raised.length))
            if isinstance(kind, type) and issubclass(kind, Exception):
                return kind(*(args or ()))
    return RuntimeError(f"compiled code has failed with status {status}")
