"""Where compiled functions are stored. This file does not import numba.

The folder is `HOLDFAST_CACHE_DIR`, else `NUMBA_CACHE_DIR/holdfast`, if one of these variables is set.
Otherwise it is `__pycache__` beside the compiler or, if that cannot be written to, the user's cache folder;
files are read from both. A folder or file that others can write to is not used.
"""

import contextlib
import os
import pathlib
import sys

SUFFIX = ".nbc"


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
