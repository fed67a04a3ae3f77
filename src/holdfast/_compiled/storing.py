"""What was compiled once is found on disk by the next process."""

import contextlib
import hashlib
import operator
import os
import pathlib
import sys

from numba.core import types
from numba.core.caching import FunctionCache

_MOST = 500  # files, of some 0.4 MB each


class Cache(FunctionCache):
    """Numba's disk cache, with a file for each digest of types and code in place of an index.

    Numba looks only at the outermost function's file and serves stale machine code when a method in
    another file changes. Its index holds the argument types themselves, so that every program would have
    to be able to import every user's rule, and two processes that save at once can leave it pointing at
    each other's code. A file named by what it was made from has none of these faults. If it cannot be
    read, for whatever reason, the game is compiled anew.
    """

    fingerprint = ""

    def holds(self, sig, codegen, fingerprint):
        """Whether there is a file for these types and this code."""
        self.fingerprint = fingerprint
        return (pathlib.Path(self.cache_path) / self._file(sig, codegen)).exists()

    def load_overload(self, sig, target_context):
        target_context.refresh()
        if all(map(has_an_address, sig)):
            with contextlib.suppress(Exception):
                data = self._cache_file._load_data(self._file(sig, target_context.codegen()))
                return self._impl.rebuild(target_context, data)
        return None

    def save_overload(self, sig, data):
        if (
            all(map(has_an_address, (*sig, data.signature.return_type)))
            and not data.library.has_dynamic_globals
        ):
            with contextlib.suppress(OSError):
                self._cache_file._save_data(self._file(sig, data.codegen), self._impl.reduce(data))
                _forget_the_oldest(pathlib.Path(self.cache_path))

    def _file(self, sig, codegen):
        digest = hashlib.sha256(f"{sig} {codegen.magic_tuple()} {self.fingerprint}".encode())
        return f"{self._impl.filename_base}.{digest.hexdigest()[:32]}.nbc"


def _forget_the_oldest(folder):
    files = sorted(folder.glob("*.nbc"), key=os.path.getmtime)
    for file in files[:-_MOST]:
        file.unlink(missing_ok=True)


def has_an_address(kind):
    """Whether another process can find the classes that a type is made of."""
    if isinstance(kind, types.Dispatcher):
        return False  # a function handed in as a value
    if isinstance(kind, types.BaseNamedTuple) and not _is_found(kind.instance_class):
        return False
    return all(map(has_an_address, kind)) if isinstance(kind, types.BaseTuple) else True


def _is_found(cls):
    if cls.__module__ == "__main__" or "<locals>" in cls.__qualname__:
        return False
    try:
        return operator.attrgetter(cls.__qualname__)(sys.modules[cls.__module__]) is cls
    except (KeyError, AttributeError):
        return False
