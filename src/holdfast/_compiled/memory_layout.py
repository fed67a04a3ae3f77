"""Write values into memory as machine code lays them out, and read them back, without numba.

A tuple is a C struct of its items. An array is a struct of {owner, parent, number of items, bytes of an item,
address, shape, strides}, and owner and parent are NULL: Python keeps the array alive. A float or an int takes
8 bytes and a bool one. `type_text` names a type in words that JSON can hold; a `Layout` is made of them.
"""

import ctypes
import functools
import importlib
import itertools
import json
import operator
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from holdfast._compiled.argument_types import signature

_HEAD = 5  # numbers of an array before its shape
# Codes for `struct`, and bytes. None takes the place of a pointer.
_NUMBERS = {"float": ("d", 8), "int": ("q", 8), "bool": ("?", 1), "none": ("q", 8)}


class Layout:
    """The layout of all values of one type, which is given as `type_text` names it."""

    def __init__(self, text: Any) -> None:
        codes, self.size, self._alignment, paths = _described(text, "value")
        self._struct = struct.Struct("=" + codes)
        self._leaves: Callable[[Any], tuple[Any, ...]] = _evaluated(f"lambda value: ({''.join(paths)})")
        self._arrays = list(_arrays_in(text, itertools.count()))
        self._text = text
        self.has_arrays = bool(self._arrays)
        self.places = _getter([i for first, ndim, _ in self._arrays for i in _place_of(first, ndim)])
        self.owners = _getter([first for first, *_ in self._arrays])

    def write(self, memory: Any, value: Any, start: int = 0) -> None:
        self._struct.pack_into(memory, start, *self._leaves(value))

    def read(self, memory: Any, start: int = 0) -> tuple[Any, ...]:
        """The numbers in a row; those above for each array."""
        return self._struct.unpack_from(memory, start)

    def rebuilt(self, leaves: tuple[Any, ...], owners: dict[Any, np.ndarray]) -> Any:
        """A value, from the numbers of `read`.

        An array of `owners` (`by_place`) is the same object again; any other is a copy of what is in memory.
        """
        return self.with_arrays(leaves, [_array(leaves, owners, *each) for each in self._arrays])

    def with_arrays(self, leaves: tuple[Any, ...], arrays: list[np.ndarray]) -> Any:
        """A value, from the numbers of `read` and the arrays in it."""
        make, kinds = self._maker
        return make(leaves, arrays, kinds)

    @functools.cached_property
    def _maker(self) -> tuple[Callable[..., Any], list[type]]:
        """A function of leaves, arrays and classes that makes a value, and the classes."""
        kinds: list[type] = []
        source = _source(self._text, itertools.count(), itertools.count(), kinds)
        return _evaluated(f"lambda leaves, arrays, kinds: {source}"), kinds

    def offset_of(self, i: int) -> tuple[int, "Layout"]:
        """Where the i-th item of a tuple is, and its layout."""
        end, items = 0, self._text[2]
        for item in items[:i]:
            layout = layout_of_text(item)
            end += -end % layout._alignment + layout.size
        layout = layout_of_text(items[i])
        return end + -end % layout._alignment, layout


_layouts: dict[Any, Layout] = {}  # by signature


def layout_of(value: Any) -> Layout:
    """The layout of a value; raises TypeError if there is none."""
    key = signature(value)
    if key is None:
        raise TypeError("this value has no type that machine code knows")
    if key not in _layouts:
        _layouts[key] = layout_of_text(type_text(value))
    return _layouts[key]


def layout_of_text(text: Any) -> Layout:
    return _layout_of_json(json.dumps(text))


@functools.cache
def _layout_of_json(text: str) -> Layout:
    return Layout(json.loads(text))


def type_text(value: Any) -> Any:
    """The type of a value in words that are the same in every process; read-only arrays are as others."""
    if isinstance(value, tuple):
        kind = type(value)
        return [kind.__module__, kind.__qualname__, [type_text(item) for item in value]]
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"  # as numba names them
        return ["array", value.dtype.str, value.ndim, layout, flags.aligned]
    for name, kinds in (("bool", bool | np.bool_), ("float", float), ("int", int | np.int64)):
        if isinstance(value, kinds):
            return name
    if isinstance(value, str | None):
        return "none" if value is None else "str"
    raise TypeError(f"machine code has no layout for {type(value).__qualname__}")


def _is_array(text: Any) -> bool:
    return isinstance(text, list) and text[0] == "array" and len(text) == 5


def _described(text: Any, path: str) -> tuple[str, int, int, list[str]]:
    """Codes for `struct`, the size, the alignment, and an expression for each number."""
    if _is_array(text):
        paths = ["0,", "0,", f"{path}.size,", f"{path}.itemsize,", f"address({path}),"]
        paths += [f"*{path}.shape,", f"*{path}.strides,"]
        count = _HEAD + 2 * text[2]
        return "q" * count, 8 * count, 8, paths
    if isinstance(text, list):
        codes, size, widest, paths = "", 0, 1, list[str]()
        for i, item in enumerate(text[2]):
            inner, length, alignment, more = _described(item, f"{path}[{i}]")
            gap = -size % alignment
            codes, size, widest = codes + "x" * gap + inner, size + gap + length, max(widest, alignment)
            paths += more
        gap = -size % widest
        return codes + "x" * gap, size + gap, widest, paths
    if text == "str":  # address, length, bytes of a character, is it ASCII, hash, owner, parent
        return "qqiiqqq", 48, 8, [f"*text({path}),"]
    code, size = _NUMBERS[text]
    return code, size, size, ["0," if text == "none" else f"{path},"]


def _arrays_in(text: Any, leaves: Iterator[int]) -> Iterator[tuple[int, int, Any]]:
    """For each array: the number of its first leaf, its dimensions and its dtype."""
    if _is_array(text):
        first = next(leaves)
        for _ in range(_HEAD + 2 * text[2] - 1):
            next(leaves)
        yield first, text[2], np.dtype(text[1])
    elif isinstance(text, list):
        for item in text[2]:
            yield from _arrays_in(item, leaves)
    else:
        for _ in range(7 if text == "str" else 1):
            next(leaves)


def _source(text: Any, leaves: Iterator[int], arrays: Iterator[int], kinds: list[Any]) -> str:
    """The source of an expression that makes a value.

    Like `collections.namedtuple`, this writes source, which runs ten times as fast as a walk over the tuples.
    """
    if _is_array(text):
        for _ in range(_HEAD + 2 * text[2]):
            next(leaves)
        return f"arrays[{next(arrays)}]"
    if isinstance(text, list):
        module, name, items = text
        kinds.append(operator.attrgetter(name)(importlib.import_module(module)))
        number = len(kinds) - 1
        inner = "".join(_source(item, leaves, arrays, kinds) + ", " for item in items)
        return f"new(kinds[{number}], ({inner}))"
    if text == "str":
        first, *_ = itertools.islice(leaves, 7)
        return f"known_text[leaves[{first}]]"
    number = next(leaves)
    return "None" if text == "none" else f"leaves[{number}]"


def _getter(places: list[int]) -> Callable[[Any], tuple[Any, ...]]:
    if len(places) == 1:
        (place,) = places
        return lambda leaves: (leaves[place],)
    return operator.itemgetter(*places) if places else lambda leaves: ()


def _place_of(first: int, ndim: int) -> range:
    """The leaves of an array that say where it is: address, shape and strides."""
    return range(first + _HEAD - 1, first + _HEAD + 2 * ndim)


def _array(
    leaves: tuple[Any, ...], owners: dict[Any, np.ndarray], first: int, ndim: int, dtype: Any
) -> np.ndarray:
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


def address(array: np.ndarray) -> int:
    """Where an array begins; 0 if it is empty, because to ask takes half a microsecond."""
    place: int = array.__array_interface__["data"][0] if array.size else 0
    return place


_known_text: dict[int, str] = {}  # by the address of its characters


@functools.cache
def _text(value: str) -> tuple[int, ...]:
    """The numbers of a string. Its characters are kept for ever: rules have few different ones."""
    width = 1 if value.isascii() else 4
    characters = np.frombuffer(value.encode("ascii" if width == 1 else "utf-32-le") + b"\0" * 4, np.uint8)
    _kept.append(characters)
    place = address(characters)
    _known_text[place] = value
    return place, len(value), width, int(width == 1), -1, 0, 0


_kept: list[np.ndarray] = []


@functools.lru_cache
def _evaluated(source: str) -> Any:
    scope = {"address": address, "text": _text, "new": tuple.__new__, "known_text": _known_text}
    return eval(source, scope)
