"""Store compiled functions on disk, so that the next process need not compile them. This needs no numba.

The name of a file is a digest of everything it was made from: types, code, constants, versions and
processor. So no file is ever out of date, and several processes can write at the same time. A damaged file
is ignored and written again.

`holdfast._compiled.cache_folder` says where they are.
"""

import contextlib
import errno
import hashlib
import os
import pathlib
import re
import warnings
from collections.abc import Callable
from typing import Any

from holdfast._compiled.cache_folder import SUFFIX, folders, is_trusted

_MAX_FILES = 500  # of some 0.4 MB each


class Store:
    """The file of one compiled function; `parts` are all that it was made from."""

    def __init__(self, name: str, parts: Any) -> None:
        word = re.sub(r"\W", "", name)  # Windows allows no "<lambda>" in the name of a file
        digest = hashlib.sha256(repr((name, parts)).encode()).hexdigest()
        self.file = f"{word}-{digest[:32]}{SUFFIX}"

    def exists(self) -> bool:
        return any((folder / self.file).exists() for folder in folders())

    def load(self, made: Callable[[bytes], Any]) -> Any:
        """What `made` makes from the bytes on disk, or None."""
        data = self._read()
        if data is None:
            return None
        try:
            return made(data)
        except Exception as problem:  # the bytes are not damaged, so this would happen every time
            _warn_once(f"what was stored in {self.file} cannot be loaded ({problem!r})")
            return None

    def save(self, data: bytes) -> None:
        """Write the bytes to the first folder that allows it."""
        problems = []
        for folder in folders():
            try:
                _write_to(folder, self.file, hashlib.sha256(data).digest() + data)
                return
            except OSError as problem:
                problems.append(f"{folder}: {problem.strerror or problem}")
        _warn_once(f"nothing can be written to {'; '.join(problems)}")

    def _read(self) -> bytes | None:
        for folder in folders():
            with contextlib.suppress(OSError):
                stored = (folder / self.file).read_bytes()
                if not (is_trusted(folder) and is_trusted(folder / self.file)):
                    continue
                if hashlib.sha256(stored[32:]).digest() == stored[:32]:
                    return stored[32:]
        return None


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
