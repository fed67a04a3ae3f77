"""What was compiled once is found on disk by the next process.

A file is named by a digest of all it was made from: types, code, constants, versions and processor. So no
file is ever out of date, and processes that write at once do no harm. A damaged file is ignored and written
again.

The files are in `HOLDFAST_CACHE_DIR` if that is set, else in `holdfast` inside `NUMBA_CACHE_DIR` if that is
set, else in `__pycache__` beside this file, or where that cannot be written to, in the user's folder for such
files. Files are read from all of these folders that apply, and written to the first that allows it.
"""

import contextlib
import hashlib
import operator
import os
import pathlib
import re
import sys
import warnings

import numba
from numba import types

from holdfast._compiled.numba_private import processor

_MOST = 500  # files, of some 0.4 MB each
_SUFFIX = ".nbc"


class Store:
    """The place on disk of one compiled function for one list of types."""

    def __init__(self, name, kinds, made_of, fingerprint):
        self.is_shared = can_be_imported(made_of)
        parts = (name, kinds, made_of, fingerprint, processor(), sys.implementation.cache_tag)
        word = re.sub(r"\W", "", name)  # "<lambda>" is no name for a file on Windows
        self.file = f"{word}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}{_SUFFIX}"

    def exists(self):
        return self.is_shared and any((folder / self.file).exists() for folder in folders())

    def load(self, rebuild):
        """What `rebuild` makes of the bytes on disk, or None."""
        data = self._read() if self.is_shared else None
        if data is None:
            return None
        try:
            return rebuild(data)
        except Exception as problem:  # the bytes are those that were written, so this will happen every time
            _warn_once(f"numba {numba.__version__} does not load what it stored in {self.file} ({problem!r})")
            return None

    def save(self, returned, pack):
        """Write the bytes that `pack` gives, if other processes know the type of what is returned."""
        if self.is_shared and can_be_imported(returned):
            _write(self.file, pack())

    def _read(self):
        for folder in folders():
            with contextlib.suppress(OSError):
                stored = (folder / self.file).read_bytes()
                if hashlib.sha256(stored[32:]).digest() == stored[:32]:
                    return stored[32:]
        return None


def folders():
    """Where compiled functions may be, the first choice first."""
    if os.environ.get("HOLDFAST_CACHE_DIR"):
        return [pathlib.Path(os.environ["HOLDFAST_CACHE_DIR"])]
    if os.environ.get("NUMBA_CACHE_DIR"):
        return [pathlib.Path(os.environ["NUMBA_CACHE_DIR"], "holdfast")]
    usual = [pathlib.Path(__file__).parent / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # a user without a home
        usual.append(_user_folder() / "holdfast")
    return usual


def _user_folder():
    if sys.platform == "win32":
        return pathlib.Path(os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return pathlib.Path.home() / "Library" / "Caches"
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")


def _write(file, data):
    problems = []
    for folder in folders():
        try:
            _write_to(folder, file, hashlib.sha256(data).digest() + data)
            return
        except OSError as problem:
            problems.append(f"{folder}: {problem.strerror or problem}")
    _warn_once(f"nothing can be written to {'; '.join(problems)}")


def _write_to(folder, file, data):
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{file}.{os.getpid()}"
    try:
        unfinished.write_bytes(data)
        unfinished.replace(folder / file)  # so that other processes see all of it or nothing
    finally:
        unfinished.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another process removes them at the same time
        _remove_oldest(folder)


def _remove_oldest(folder):
    files = sorted(folder.glob(f"*{_SUFFIX}*"), key=os.path.getmtime)
    for file in files[:-_MOST]:
        file.unlink(missing_ok=True)


_warned: list = []


def _warn_once(reason):
    if not _warned:
        _warned.append(reason)
        warnings.warn(
            f"compiled games are not kept on disk, so every process compiles them again: {reason}. "
            "Set HOLDFAST_CACHE_DIR (or NUMBA_CACHE_DIR) to a folder that can be written to",
            RuntimeWarning,
            stacklevel=2,
        )


def can_be_imported(kind):
    """Whether another process can import the classes that a type is made of."""
    if isinstance(kind, types.Dispatcher):
        return False  # a function passed as a value
    if isinstance(kind, types.BaseNamedTuple) and not _is_found(kind.instance_class):
        return False
    return all(map(can_be_imported, kind)) if isinstance(kind, types.BaseTuple) else True


def _is_found(cls):
    if cls.__module__ == "__main__" or "<locals>" in cls.__qualname__:
        return False
    try:
        return operator.attrgetter(cls.__qualname__)(sys.modules[cls.__module__]) is cls
    except (KeyError, AttributeError):
        return False
