"""Games that were compiled when the package was built, called without numba.

The folder `_prebuilt` of the package has a library for each level of processors and `index.json`: the symbol
of each game, and a digest of the sources that all were made from. If a source has changed, if the library is
for another system or if there is none, nothing of it is used, and the log says so in a line. A library is
loaded from nowhere else. `HOLDFAST_PREBUILT=0` turns it off.
"""

import ctypes
import functools
import hashlib
import json
import logging
import os
import pathlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from holdfast._compiled.argument_types import AnyFunction, Arguments, BoundState, signature
from holdfast._compiled.memory_layout import by_place, layout_of, rebuilt, type_text

_PACKAGE = pathlib.Path(__file__).parents[1]
FOLDER = _PACKAGE / "_prebuilt"
_LOG = logging.getLogger("holdfast")
_FAST = ("AVX", "AVX2", "FMA3", "F16C", "LZCNT", "BMI", "BMI2", "MOVBE")  # of x86-64-v3; numpy knows some


class Library(NamedTuple):
    """A loaded library and its symbols, or the reason why there is none."""

    code: Any
    symbols: dict[str, str]
    reason: str


_known: dict[Any, Any] = {}  # function and signature -> its machine code, or None


def find(function: AnyFunction, args: Arguments) -> Any:
    """The machine code of a function for arguments of these types; None if there is none."""
    types = signature(args)
    if types is None:
        return None
    if (function, types) not in _known:
        found = library()
        symbol = found.symbols.get(key_of(function, args)) if found.symbols else None
        code = getattr(found.code, symbol) if symbol else None
        if code is not None:
            code.argtypes, code.restype = [ctypes.c_void_p] * 5, ctypes.c_int32
        _known[function, types] = code
    return _known[function, types]


def bind(function: AnyFunction, *args: Any) -> BoundState | None:
    """Like `calls.bind_state`, with prebuilt machine code; None if there is none for these types."""
    code = find(function, args)
    return None if code is None else PrebuiltState(code, args[:-1])


def key_of(function: AnyFunction, args: Arguments) -> str:
    """A digest of a function and the types of its arguments; "" if they have no layout."""
    try:
        text = json.dumps([function.__module__, function.__qualname__, type_text(args)])
    except TypeError:
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@functools.cache
def library() -> Library:
    """The library for this processor."""
    found = _loaded(FOLDER)
    if found.code is None:
        _LOG.info("no prebuilt games: %s", found.reason)
    return found


def _loaded(folder: pathlib.Path) -> Library:
    if os.environ.get("HOLDFAST_PREBUILT") == "0":
        return Library(None, {}, "HOLDFAST_PREBUILT=0")
    if not (folder / "index.json").exists():
        return Library(None, {}, "this installation was made without them")
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        if digest_of(index["sources"]) != index["digest"]:
            return Library(None, {}, "the sources have changed since they were compiled")
        code = ctypes.CDLL(str(folder / index["libraries"][level()]))
        code.holdfast_release.argtypes, code.holdfast_release.restype = [ctypes.c_void_p], None
        return Library(code, dict(index["symbols"]), "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        return Library(None, {}, f"they cannot be loaded ({problem!r})")


def digest_of(names: Iterable[str]) -> str:
    """A digest of source files of the package."""
    digest = hashlib.sha256()
    for name in names:
        data = (_PACKAGE / name).read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def level() -> str:
    """ "fast" for processors of x86-64-v3 or newer and for all of ARM, else "any"."""
    from numpy._core._multiarray_umath import __cpu_features__ as has  # type: ignore[import-not-found]

    return "fast" if has.get("ASIMD") or all(has.get(name, True) for name in _FAST) else "any"


class PrebuiltState:
    """`state(argument)` calls function(*values, argument): it returns the new first value and an answer.

    The answer is two whole numbers, as that of `holdfast.continuing.play_batch`.
    """

    def __init__(self, code: Any, values: Arguments) -> None:
        self._code = code
        self._layout, self._first = layout_of(values), layout_of(values[0])
        self._block = np.zeros(max(self._layout.size, 1), np.uint8)
        self._batch = np.zeros(0, np.uint8)
        self._answer = np.zeros(5, np.int64)  # two for numba, then the answer, then: is there a new array
        self._own(values)

    def _own(self, values: Arguments) -> None:
        self._values, self._owners = values, by_place(values)
        self._layout.write(self._block, values)

    def __call__(self, argument: Any) -> Any:
        layout = layout_of(argument)
        if len(self._batch) < layout.size:
            self._batch = np.zeros(layout.size, np.uint8)
        layout.write(self._batch, argument)
        place = self._answer.ctypes.data
        status = self._code(place, place + 8, self._block.ctypes.data, self._batch.ctypes.data, place + 16)
        if status:
            raise RuntimeError(f"a prebuilt game has failed with status {status}")
        if self._answer[4]:
            self._take_new_arrays()
        return int(self._answer[2]), int(self._answer[3])

    def first(self) -> Any:
        """The current first value."""
        return rebuilt(self._values[0], self._first.read(self._block), self._owners)

    def _take_new_arrays(self) -> None:
        """Copy arrays that machine code has made, and release them there."""
        first = self.first()
        for owner in _owners_in(self._values[0], list(self._first.read(self._block))):
            library().code.holdfast_release(owner)
        self._own((first, *self._values[1:]))


def _owners_in(example: Any, leaves: list[Any]) -> list[int]:
    """The owners of arrays that are not NULL; takes the numbers of the example out of `leaves`."""
    if isinstance(example, tuple):
        return [owner for item in example for owner in _owners_in(item, leaves)]
    if not isinstance(example, np.ndarray):
        del leaves[0]
        return []
    owner = leaves[0]
    del leaves[: 5 + 2 * example.ndim]
    return [owner] if owner else []
