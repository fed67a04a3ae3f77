"""Write values into memory as machine code lays them out, and read them back, without numba.

A tuple is a C struct of its items. An array is a struct of {owner, parent, number of items, bytes of an item,
address, shape, strides}, and owner and parent are NULL: Python keeps the array alive. A float or an int takes
8 bytes and a bool one. A function takes the place of a pointer that is never read.

The type of a value is its `kind`: a name of `_NUMBERS`; "str"; for an array ("array", dtype, dimensions,
order, is aligned); for a tuple (class, kinds of the items). `words` writes a kind in JSON.
"""

import ctypes
import functools
import importlib
import itertools
import operator
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from holdfast._compiled.argument_types import is_function, signature

_HEAD = 5  # numbers of an array before its shape
# Codes for `struct`, and bytes.
_NUMBERS = {"float": ("d", 8), "int": ("q", 8), "bool": ("?", 1), "none": ("q", 8), "function": ("q", 8)}
_NUMBERS |= {"float32": ("f", 4), "int32": ("i", 4), "uint32": ("I", 4), "uint64": ("Q", 8)}
_NUMBERS |= {"int16": ("h", 2), "uint16": ("H", 2), "int8": ("b", 1), "uint8": ("B", 1)}
_ABSENT = ("none", "function")
Kind = Any
Leaves = tuple[Any, ...]  # the numbers of a value


class Layout:
    """The layout of all values of one kind."""

    def __init__(self, kind: Kind) -> None:
        codes, self.size, self._alignment, _, self._arrays = _described(kind)
        self._struct = struct.Struct("=" + codes)
        self._kind, self._add_leaves = kind, _adder(kind)
        # Makes a value from the numbers of `read` and the arrays in it.
        self.with_arrays = _maker(kind, itertools.count(), itertools.count())
        self.has_arrays = bool(self._arrays)
        self.places = _getter([i for first, ndim, _ in self._arrays for i in _place_of(first, ndim)])
        self.owners = _getter([first for first, *_ in self._arrays])

    def write(self, memory: Any, value: Any, start: int = 0) -> None:
        leaves: list[Any] = []
        self._add_leaves(value, leaves)
        self._struct.pack_into(memory, start, *leaves)

    def read(self, memory: Any, start: int = 0) -> Leaves:
        """The numbers in a row; those above for each array."""
        return self._struct.unpack_from(memory, start)

    def rebuilt(self, leaves: Leaves, owners: dict[Any, np.ndarray]) -> Any:
        """A value, from the numbers of `read`.

        An array of `owners` (`by_place`) is the same object again; any other is a copy of what is in memory.
        """
        return self.with_arrays(leaves, [_array(leaves, owners, *each) for each in self._arrays])

    def offset_of(self, i: int) -> tuple[int, "Layout"]:
        """Where the i-th item of a tuple is, and its layout."""
        end, layout = 0, layout_of_kind(self._kind[1][i])
        for item in self._kind[1][:i]:
            _, size, alignment, *_ = _described(item)
            end += -end % alignment + size
        return end + -end % layout._alignment, layout

    def parts(self, start: int) -> list[tuple[int, "Layout"]]:
        """Where each item of a tuple is, if it begins there, and its layout; or the value itself."""
        if not _is_tuple(self._kind):
            return [(start, self)]
        found = [self.offset_of(i) for i in range(len(self._kind[1]))]
        return [(start + offset, layout) for offset, layout in found]

    def without_last(self) -> "Layout":
        cls, items = self._kind
        return layout_of_kind((cls, items[:-1]))


_layouts: dict[Any, Layout] = {}  # by signature


def layout_of(value: Any) -> Layout:
    """The layout of a value; raises TypeError if there is none."""
    key = signature(value)
    if key is None:
        raise TypeError("this value has no type that machine code knows")
    if key not in _layouts:
        _layouts[key] = layout_of_kind(kind_of(value))
    return _layouts[key]


@functools.cache
def layout_of_kind(kind: Kind) -> Layout:
    return Layout(kind)


def kind_of(value: Any) -> Kind:
    """The kind of a value; read-only arrays are as others. Raises TypeError if there is none."""
    if isinstance(value, tuple):
        return type(value), tuple([kind_of(item) for item in value])
    if isinstance(value, np.ndarray):
        flags = value.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"  # as numba names them
        return "array", value.dtype.str, value.ndim, order, flags.aligned
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, float):
        return "float"
    if isinstance(value, int | np.int64):
        return "int" if value < 1 << 63 else "uint64"
    if isinstance(value, np.generic) and value.dtype.name in _NUMBERS:
        return value.dtype.name
    if isinstance(value, str | None):
        return "none" if value is None else "str"
    if is_function(value):
        return "function"
    raise TypeError(f"machine code has no layout for {type(value).__qualname__}")


def words(kind: Kind) -> Any:
    """A kind in words that are the same in every process, and that JSON can hold."""
    if _is_tuple(kind):
        cls, items = kind
        return [cls.__module__, cls.__qualname__, [words(item) for item in items]]
    return list(kind) if isinstance(kind, tuple) else kind


def from_words(text: Any, find: Callable[[str, str], type] | None = None) -> Kind:
    """The kind of these words. `find` looks up a class by its module and name; the default imports it."""
    if isinstance(text, list) and isinstance(text[-1], list):
        module, name, items = text
        cls = (find or imported)(module, name)
        return cls, tuple([from_words(item, find) for item in items])
    return tuple(text) if isinstance(text, list) else text


def imported(module: str, name: str) -> type:
    found: type = operator.attrgetter(name)(importlib.import_module(module))
    return found


def _is_tuple(kind: Kind) -> bool:
    return isinstance(kind, tuple) and len(kind) == 2


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, tuple) and len(kind) == 5


@functools.cache
def _described(kind: Kind) -> tuple[str, int, int, int, list[tuple[int, int, Any]]]:
    """Codes for `struct`, the size, the alignment, and the number of leaves.

    For each array: the number of its first leaf, its dimensions and its dtype.
    """
    if _is_array(kind):
        count = _HEAD + 2 * kind[2]
        return "q" * count, 8 * count, 8, count, [(0, kind[2], np.dtype(kind[1]))]
    if _is_tuple(kind):
        codes, size, widest, count, arrays = "", 0, 1, 0, list[tuple[int, int, Any]]()
        for item in kind[1]:
            inner, length, alignment, leaves, some = _described(item)
            gap = -size % alignment
            codes, size, widest = codes + "x" * gap + inner, size + gap + length, max(widest, alignment)
            arrays += [(count + first, *shape) for first, *shape in some]
            count += leaves
        gap = -size % widest
        return codes + "x" * gap, size + gap, widest, count, arrays
    if kind == "str":  # address, length, bytes of a character, is it ASCII, hash, owner, parent
        return "qqiiqqq", 48, 8, 7, []
    code, size = _NUMBERS[kind]
    return code, size, size, 1, []


# Of each kind a function is made of those of its parts. It runs three times as fast as a walk over the kind.


def _adder(kind: Kind) -> Callable[[Any, list[Any]], None]:
    """A function that adds the numbers of a value to a list."""
    if _is_array(kind):
        return lambda value, leaves: leaves.extend(_numbers_of(value))
    if kind == "str":
        return lambda value, leaves: leaves.extend(_text(value))
    if kind in _ABSENT:
        return lambda value, leaves: leaves.append(0)
    if not _is_tuple(kind):
        return lambda value, leaves: leaves.append(value)
    adders = [_adder(item) for item in kind[1]]

    def add(value: Any, leaves: list[Any]) -> None:
        for adder, item in zip(adders, value, strict=True):
            adder(item, leaves)

    return add


def _maker(kind: Kind, leaves: Iterator[int], arrays: Iterator[int]) -> Callable[[Leaves, list[Any]], Any]:
    """A function that makes a value from its numbers and arrays, whose places are the next of these."""
    if _is_tuple(kind):
        cls, items = kind
        makers = [_maker(item, leaves, arrays) for item in items]
        return lambda found, owners: tuple.__new__(cls, [maker(found, owners) for maker in makers])
    first, *_ = itertools.islice(leaves, _described(kind)[3])
    if _is_array(kind):
        place = next(arrays)
        return lambda found, owners: owners[place]
    if kind == "str":
        return lambda found, owners: _text_at(*found[first : first + 3])
    return lambda found, owners: None if kind == "none" else found[first]


def _getter(places: list[int]) -> Callable[[Leaves], Leaves]:
    if len(places) == 1:
        (place,) = places
        return lambda leaves: (leaves[place],)
    return operator.itemgetter(*places) if places else lambda leaves: ()


def _place_of(first: int, ndim: int) -> range:
    """The leaves of an array that say where it is: address, shape and strides."""
    return range(first + _HEAD - 1, first + _HEAD + 2 * ndim)


def _array(leaves: Leaves, owners: dict[Any, np.ndarray], first: int, ndim: int, dtype: Any) -> np.ndarray:
    place = (*(leaves[i] for i in _place_of(first, ndim)), dtype)
    owner = owners.get(place)
    return _copied(place, ndim) if owner is None else owner


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


def arrays_in(value: Any) -> list[np.ndarray]:
    """The arrays in a value, in the order of their leaves."""
    if isinstance(value, tuple):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def _numbers_of(array: np.ndarray) -> tuple[int, ...]:
    return 0, 0, array.size, array.itemsize, address(array), *array.shape, *array.strides


def address(array: np.ndarray) -> int:
    """Where an array begins; 0 if it is empty, because to ask takes half a microsecond."""
    place: int = array.__array_interface__["data"][0] if array.size else 0
    return place


_known_text: dict[tuple[int, int], str] = {}  # by the address of its characters, and their number


@functools.cache
def _text(value: str) -> tuple[int, ...]:
    """The numbers of a string. Its characters are kept for ever: rules have few different ones."""
    width = 1 if value.isascii() else 4
    characters = np.frombuffer(value.encode("ascii" if width == 1 else "utf-32-le") + b"\0" * 4, np.uint8)
    _kept.append(characters)
    place = address(characters)
    _known_text[place, len(value)] = value
    return place, len(value), width, int(width == 1), -1, 0, 0


_kept: list[np.ndarray] = []
_ENCODINGS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}  # by the bytes of a character


def _text_at(place: int, length: int, width: int) -> str:
    known = _known_text.get((place, length))
    if known is not None:
        return known
    return ctypes.string_at(place, length * width).decode(_ENCODINGS[width])
