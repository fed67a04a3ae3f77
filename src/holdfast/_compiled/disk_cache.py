"""Store compiled functions on disk, so that the next process need not compile them.

The name of a file is a digest of everything it was made from: types, code, constants, versions and
processor. So no file is ever out of date, and several processes can write at the same time. A damaged file
is ignored and written again.

`holdfast._compiled.cache_folder` says where they are.
"""

import contextlib
import errno
import hashlib
import operator
import os
import pathlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba import types

from holdfast._compiled.cache_folder import SUFFIX, folders, is_trusted
from holdfast._compiled.numba_private import processor

_MAX_FILES = 500  # of some 0.4 MB each


class Store:
    """The file of one compiled function for one list of types."""

    def __init__(self, name: str, kinds: tuple[Any, ...], made_of: Any, fingerprint: str) -> None:
        self.kinds, self.is_shared = kinds, can_be_imported(made_of)
        parts = (name, kinds, made_of, fingerprint, processor(), sys.implementation.cache_tag)
        word = re.sub(r"\W", "", name)  # Windows allows no "<lambda>" in the name of a file
        self.file = f"{word}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}{SUFFIX}"

    def exists(self) -> bool:
        return self.is_shared and any((folder / self.file).exists() for folder in folders())

    def load(self, rebuild: Callable[[bytes], Any]) -> Any:
        """The function that `rebuild` makes from the bytes on disk, or None."""
        data = self._read() if self.is_shared else None
        if data is None:
            return None
        try:
            return rebuild(data)
        except Exception as problem:  # the bytes are not damaged, so this would happen every time
            _warn_once(f"numba {numba.__version__} does not load what it stored in {self.file} ({problem!r})")
            return None

    def save(self, returned: Any, pack: Callable[[], bytes]) -> None:
        """Write the bytes that `pack` returns, if other processes can import the type `returned`."""
        if self.is_shared and can_be_imported(returned):
            _write(self.file, pack())

    def _read(self) -> bytes | None:
        for folder in folders():
            with contextlib.suppress(OSError):
                stored = (folder / self.file).read_bytes()
                if not (is_trusted(folder) and is_trusted(folder / self.file)):
                    continue
                if hashlib.sha256(stored[32:]).digest() == stored[:32]:
                    return stored[32:]
        return None


def _write(file: str, data: bytes) -> None:
    problems = []
    for folder in folders():
        try:
            _write_to(folder, file, hashlib.sha256(data).digest() + data)
            return
        except OSError as problem:
            problems.append(f"{folder}: {problem.strerror or problem}")
    _warn_once(f"nothing can be written to {'; '.join(problems)}")


def _write_to(folder: pathlib.Path, file: str, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not is_trusted(folder):
        raise PermissionError(errno.EPERM, "others can write to it, or it is theirs")
    unfinished = folder / f"{file}.{os.getpid()}"
    try:
        unfinished.write_bytes(data)
        unfinished.replace(folder / file)  # so that other processes see all of it or nothing
    finally:
        unfinished.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another process removes them at the same time
        _remove_oldest(folder)


def _remove_oldest(folder: pathlib.Path) -> None:
    files = sorted(folder.glob(f"*{SUFFIX}*"), key=os.path.getmtime)
    for file in files[:-_MAX_FILES]:
        file.unlink(missing_ok=True)


_warned: list[str] = []


def _warn_once(reason: str) -> None:
    if not _warned:
        _warned.append(reason)
        warnings.warn(
            f"compiled games are not kept on disk, so every process compiles them again: {reason}. "
            "Set HOLDFAST_CACHE_DIR (or NUMBA_CACHE_DIR) to a folder that can be written to",
            RuntimeWarning,
            stacklevel=2,
        )


def can_be_imported(kind: Any) -> bool:
    """Whether another process can import all classes in a type."""
    if isinstance(kind, types.Dispatcher):
        return False  # a function passed as a value
    if isinstance(kind, types.BaseNamedTuple) and not _is_importable(kind.instance_class):
        return False
    return all(map(can_be_imported, kind)) if isinstance(kind, types.BaseTuple) else True


def _is_importable(cls: type) -> bool:
    if cls.__module__ == "__main__" or "<locals>" in cls.__qualname__:
        return False
    try:
        return operator.attrgetter(cls.__qualname__)(sys.modules[cls.__module__]) is cls
    except (KeyError, AttributeError):
        return False
