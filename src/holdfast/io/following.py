"""Read a file that grows. It ends when it is rotated: renamed and made again, or truncated."""

import contextlib
import os
import select
import time
from pathlib import Path
from typing import IO

_INTERVAL = 0.2  # seconds between two looks at the file
_HEAD = 4096  # bytes that are compared to notice that a file was written again


def wait() -> None:
    time.sleep(_INTERVAL)


class Followed:
    """The bytes of a file that may grow. `stop` lets `read` return nothing, in whatever thread it waits."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._stopped = file, False

    def stop(self) -> None:
        self._stopped = True

    def close(self) -> None:
        self._file.close()


class FollowedFile(Followed):
    """At the end of the file `read` waits for more, and returns nothing once it was rotated."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(open(path, "rb", buffering=0))  # noqa: SIM115
        self._path, self._head = path, b""
        # When it was written to, before it was rotated.
        self.changed = os.fstat(self._file.fileno()).st_mtime_ns

    def fileno(self) -> int:
        return self._file.fileno()

    def tell(self) -> int:
        return self._file.tell()

    def has_more(self) -> bool:
        """Whether bytes can be read without waiting."""
        return os.fstat(self.fileno()).st_size > self.tell()

    def read(self, count: int) -> bytes:
        renamed = 0  # how often the name was found to be that of another file
        while not self._stopped:
            if self._was_truncated():
                return b""
            data = self._file.read(count)
            if data:
                if self.tell() - len(data) == len(self._head):
                    self._head += data[: max(_HEAD - len(self._head), 0)]
                self.changed = os.fstat(self.fileno()).st_mtime_ns
                return data
            if renamed > 1:  # and nothing was written to it since the last look
                return b""
            renamed += self._was_renamed()
            wait()
        return b""

    def _was_renamed(self) -> bool:
        try:
            found = os.stat(self._path)
        except FileNotFoundError:  # the new file is not there yet
            return False
        return not os.path.samestat(found, os.fstat(self.fileno()))

    def _was_truncated(self) -> bool:
        """Whether the file is shorter than what was read, or begins otherwise."""
        if os.fstat(self.fileno()).st_size < self.tell():
            return True
        return hasattr(os, "pread") and os.pread(self.fileno(), len(self._head), 0) != self._head


class FollowedPipe(Followed):
    """A named pipe has no end: when a writer ends, the next one may come."""

    changed = None

    def __init__(self, path: str | Path) -> None:
        handle = os.open(path, os.O_RDWR)  # also as a writer, so that it does not end
        super().__init__(os.fdopen(handle, "rb", buffering=0))

    def tell(self) -> int:
        return 0

    def has_more(self) -> bool:
        return bool(select.select([self._file], [], [], 0.0)[0])

    def read(self, count: int) -> bytes:
        while not self._stopped:
            if self.has_more():
                return self._file.read(count)
            wait()
        return b""


FOLLOWED = (FollowedFile, FollowedPipe)


def rotated_since(path: str | Path, time_ns: int) -> list[Path]:
    """The files that `path` was renamed to, written to at this time or later; the oldest first.

    Their names begin with its name, such as log.csv.1 and log.csv-20260101.gz.
    """
    found = _neighbours(path, Path(path).name)
    return sorted((place for place in found if found[place] >= time_ns), key=lambda place: found[place])


def candidates(path: str | Path) -> dict[Path, int]:
    """Files that may have been `path` before, with the times of the last changes.

    They are in the same folder, and their names begin with its name up to the first dot.
    """
    return _neighbours(path, Path(path).name.split(".")[0])


def _neighbours(path: str | Path, start: str) -> dict[Path, int]:
    """The other files in the folder of `path` whose names begin so, with the times of their last changes."""
    own, found = Path(path), {}
    for place in sorted(own.parent.iterdir()):
        if place.name.startswith(start) and place.name != own.name and place.is_file():
            with contextlib.suppress(FileNotFoundError):  # it was renamed just now
                found[place] = place.stat().st_mtime_ns
    return found
