"""Write values into memory as machine code lays them out, and read them back, without numba.

A tuple is a C struct of its items. An array is a struct of {owner, parent, number of items, bytes of an item,
address, shape, strides}, and owner and parent are NULL: Python keeps the array alive. A float or an int takes
8 bytes and a bool one.
"""

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast._compiled.argument_types import array_type, signature

_HEAD = 5  # numbers of an array before its shape


class Layout:
    """The layout of all values that have the type of an example."""

    def __init__(self, example: Any) -> None:
        codes, self.size, _, paths = _described(example, "value")
        self._struct = struct.Struct("=" + codes)
        self._leaves: Callable[[Any], tuple[Any, ...]] = _evaluated(f"lambda value: ({''.join(paths)})")

    def write(self, memory: Any, value: Any) -> None:
        self._struct.pack_into(memory, 0, *self._leaves(value))

    def read(self, memory: Any) -> tuple[Any, ...]:
        """The numbers in a row; those above for each array."""
        return self._struct.unpack_from(memory, 0)


_layouts: dict[Any, Layout] = {}


def layout_of(value: Any) -> Layout:
    key = signature(value)
    if key is None:
        raise TypeError("this value has no type that machine code knows")
    if key not in _layouts:
        _layouts[key] = Layout(value)
    return _layouts[key]


def _described(value: Any, path: str) -> tuple[str, int, int, list[str]]:
    """Codes for `struct`, the size, the alignment, and an expression for each number."""
    if isinstance(value, np.ndarray):
        paths = ["0,", "0,", f"{path}.size,", f"{path}.itemsize,", f"address({path}),"]
        paths += [f"*{path}.shape,", f"*{path}.strides,"]
        count = _HEAD + 2 * value.ndim
        return "q" * count, 8 * count, 8, paths
    if isinstance(value, tuple):
        codes, size, widest, paths = "", 0, 1, list[str]()
        for i, item in enumerate(value):
            inner, length, alignment, more = _described(item, f"{path}[{i}]")
            gap = -size % alignment
            codes, size, widest = codes + "x" * gap + inner, size + gap + length, max(widest, alignment)
            paths += more
        gap = -size % widest
        return codes + "x" * gap, size + gap, widest, paths
    if isinstance(value, bool | np.bool_):
        return "?", 1, 1, [f"{path},"]
    if isinstance(value, int | float | np.int64):
        return "d" if isinstance(value, float) else "q", 8, 8, [f"{path},"]
    raise TypeError(f"machine code has no layout for {type(value).__qualname__}")


def rebuilt(example: Any, leaves: tuple[Any, ...], owners: dict[Any, np.ndarray]) -> Any:
    """A value like the example, from the numbers of `Layout.read`.

    An array of `owners` (`by_place`) is the same object again; any other is a copy of what is in memory.
    """
    value, _ = _rebuilt(example, leaves, 0, owners)
    return value


def _rebuilt(example: Any, leaves: tuple[Any, ...], i: int, owners: dict[Any, np.ndarray]) -> tuple[Any, int]:
    if isinstance(example, tuple):
        items = []
        for item in example:
            made, i = _rebuilt(item, leaves, i, owners)
            items.append(made)
        return tuple.__new__(type(example), items), i
    if not isinstance(example, np.ndarray):
        return leaves[i], i + 1
    end = i + _HEAD + 2 * example.ndim
    place = (leaves[i + 4], *leaves[i + _HEAD : end], example.dtype)
    owner = owners.get(place)
    return (_copied(place, example.ndim) if owner is None else owner), end


def _copied(place: tuple[Any, ...], ndim: int) -> np.ndarray:
    address, shape, strides, dtype = place[0], place[1 : 1 + ndim], place[1 + ndim : -1], place[-1]
    if 0 in shape:
        return np.zeros(shape, dtype)
    length = dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    memory = (ctypes.c_char * length).from_address(address)
    return np.ndarray(shape, dtype, memory, strides=strides).copy()


def by_place(value: Any) -> dict[Any, np.ndarray]:
    """The arrays in a value, by address, shape, strides and type."""
    if isinstance(value, tuple):
        return {place: array for item in value for place, array in by_place(item).items()}
    if isinstance(value, np.ndarray):
        return {(address(value), *value.shape, *value.strides, value.dtype): value}
    return {}


def address(array: np.ndarray) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def type_text(value: Any) -> Any:
    """The type of a value in words that are the same in every process; read-only arrays are as others."""
    if isinstance(value, tuple):
        kind = type(value)
        return [kind.__module__, kind.__qualname__, [type_text(item) for item in value]]
    if isinstance(value, np.ndarray):
        known = array_type(value)
        return [value.dtype.str, known.ndim, known.layout, known.aligned]
    for name, kinds in (("bool", bool | np.bool_), ("float", float), ("int", int | np.int64)):
        if isinstance(value, kinds):
            return name
    raise TypeError(f"machine code has no layout for {type(value).__qualname__}")


@functools.lru_cache
def _evaluated(source: str) -> Any:
    return eval(source, {"address": address})
