"""Store compiled functions on disk, so that the next process need not compile them. This needs no numba.

The name of a file is a digest of everything it was made from: types, code, constants, versions and
processor. So no file is ever out of date, and several processes can write at the same time. A damaged file
is ignored and written again.

The folder is `HOLDFAST_CACHE_DIR`, else `NUMBA_CACHE_DIR/holdfast`, if one of these variables is set.
Otherwise it is `__pycache__` beside the compiler or, if that cannot be written to, the user's cache folder;
files are read from both. A folder or file that others can write to is not used.
"""

import contextlib
import errno
import hashlib
import os
import pathlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

SUFFIX = ".nbc"
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


# -- where they are


def folders() -> list[pathlib.Path]:
    """The folders that may contain compiled functions, in the order in which they are tried."""
    if os.environ.get("HOLDFAST_CACHE_DIR"):
        return [pathlib.Path(os.environ["HOLDFAST_CACHE_DIR"])]
    if os.environ.get("NUMBA_CACHE_DIR"):
        return [pathlib.Path(os.environ["NUMBA_CACHE_DIR"], "holdfast")]
    usual = [pathlib.Path(__file__).parent / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # a user without a home directory
        usual.append(_user_folder() / "holdfast")
    return usual


def is_empty() -> bool:
    """Whether no folder has a compiled function."""
    return not any(file for folder in folders() for file in folder.glob(f"*{SUFFIX}"))


def writable() -> pathlib.Path | None:
    """The first folder that can be written to, made if it is not there; None if there is none."""
    for folder in folders():
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK) and is_trusted(folder):
                return folder
    return None


def is_trusted(path: pathlib.Path) -> bool:
    """Whether a file or folder belongs to this user or to the administrator, and others cannot write to it.

    What is stored is run, so anyone who could write there could run anything. A group of this user's own is
    not others.
    """
    if not hasattr(os, "geteuid"):  # Windows
        return True
    about = path.stat()
    shared = 0o002 if about.st_gid == os.getegid() else 0o022
    return about.st_uid in (0, os.geteuid()) and not about.st_mode & shared


def _user_folder() -> pathlib.Path:
    if sys.platform == "win32":
        return pathlib.Path(os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return pathlib.Path.home() / "Library" / "Caches"
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
