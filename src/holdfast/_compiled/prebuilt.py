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

from holdfast._compiled.argument_types import AnyFunction, Arguments, signature
from holdfast._compiled.memory_layout import arrays_in, from_words, kind_of, words
from holdfast._compiled.programs import Program

_PACKAGE = pathlib.Path(__file__).parents[1]
FOLDER = _PACKAGE / "_prebuilt"
_LOG = logging.getLogger("holdfast")
_FAST = ("AVX", "AVX2", "FMA3", "F16C", "LZCNT", "BMI", "BMI2", "MOVBE")  # of x86-64-v3; numpy knows some


class Library(NamedTuple):
    """A loaded library and its programs (`index.json`) by key, or the reason why there is none."""

    code: Any
    programs: dict[str, dict[str, Any]]
    reason: str


_known: dict[Any, Program | None] = {}  # by function and signature


def find(function: AnyFunction, args: Arguments) -> Program | None:
    """The machine code of a function for arguments of these types; None if there is none."""
    types = signature(args) if library().programs else None
    if types is None:
        return None
    if (function, types) not in _known:
        _known[function, types] = _program(function, args)
    return _known[function, types]


def _program(function: AnyFunction, args: Arguments) -> Program | None:
    found = library()
    entry = found.programs.get(key_of(function, args))
    if entry is None or not can_be_written(args, entry["written"]):
        return None
    code, release = getattr(found.code, entry["symbol"]), getattr(found.code, entry["release"])
    return Program(code, release, from_words(entry["result"]))


def can_be_written(args: Arguments, written: list[bool]) -> bool:
    """Whether arrays to which machine code may write are not read-only: that would end the process."""
    arrays = arrays_in(args)
    return all(array.flags.writeable or not each for array, each in zip(arrays, written, strict=True))


def key_of(function: AnyFunction, args: Arguments) -> str:
    """A digest of a function and the types of its arguments; "" if they have no layout."""
    try:
        text = json.dumps([function.__module__, function.__qualname__, words(kind_of(args))])
    except TypeError:
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@functools.cache
def library() -> Library:
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
        about = index["libraries"][usable(index["libraries"])]
        path = folder / pathlib.PurePath(about["file"]).name  # in this folder, whatever is written there
        if path.stat().st_size != about["bytes"]:  # to load a part of a library ends the process
            raise OSError(f"{path.name} is damaged")
        return Library(ctypes.CDLL(str(path)), dict(index["programs"]), "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        return Library(None, {}, f"they cannot be loaded ({problem!r})")


def digest_of(names: Iterable[str]) -> str:
    """A digest of source files of the package."""
    parts = []
    for name in names:
        with open(f"{_PACKAGE}/{name}", "rb", buffering=0) as file:
            data = file.read().replace(b"\r\n", b"\n")
        parts += [f"{name} {len(data)}\n".encode(), data]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def usable(levels: Iterable[str]) -> str:
    """The best of these levels for this processor."""
    if level() == "any" and "any" not in levels:
        raise OSError("they were made for newer processors")
    return level() if level() in levels else "any"


def level() -> str:
    """ "fast" for processors of x86-64-v3 or newer and for all of ARM, else "any"."""
    from numpy._core._multiarray_umath import __cpu_features__ as has  # type: ignore[import-not-found]

    return "fast" if has.get("ASIMD") or all(has.get(name, True) for name in _FAST) else "any"
