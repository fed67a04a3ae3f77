"""The folder of a run: files appear whole or not at all."""

import contextlib
import json
import os
from pathlib import Path

import pyarrow.parquet as pq

from holdfast.terminal import as_json

_PART = "part-{:06d}.parquet"


class RunError(ValueError):
    """What is wrong with a run, with the remedy."""


def read_table(path, columns=None):
    """A table of Parquet. pyarrow would want a name that is UTF-8."""
    with path.open("rb") as file:
        return pq.ParquetFile(file).read(columns)


class Folder:
    """A folder in which a file is replaced in one step, and tables grow by numbered parts.

    A part counts from the moment a checkpoint names its number: what a killed process wrote beyond that is
    written again.
    """

    def __init__(self, path):
        self.path = Path(path)
        self._lock = None

    def create(self):
        self.path.mkdir(parents=True, exist_ok=True)

    def lock(self):
        """Let no other process learn into this folder."""
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        self._lock = open(self.path / "lock", "w")  # noqa: SIM115
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{self.path}: another process is learning into this folder") from None

    def close(self):
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def write(self, name, data):
        """A file, in one step."""
        data = data.encode() if isinstance(data, str) else data
        with self._appearing(self.path / name) as temporary, temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def write_json(self, name, found):
        self.write(name, as_json(found, indent=2) + "\n")

    def read_json(self, name):
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"{self.path} is no run of holdfast: there is no {name} in it") from None
        except ValueError as problem:
            raise RunError(f"{self.path / name} is damaged: {problem}") from None

    def has(self, name):
        return (self.path / name).exists()

    def write_part(self, name, number, table):
        """One more part of a table."""
        (self.path / name).mkdir(exist_ok=True)
        self.write_table(f"{name}/{_PART.format(number)}", table)

    def write_table(self, name, table):
        """A table, in one step."""
        texts = [column for column in ("key", "label") if column in table.column_names]
        encodings = {"row": "DELTA_BINARY_PACKED"} if "row" in table.column_names else None
        with self._appearing(self.path / name) as temporary, temporary.open("wb") as file:
            # To an open file: pyarrow would want a name that is UTF-8.
            pq.write_table(table, file, use_dictionary=texts, compression="none", column_encoding=encodings)
            file.flush()
            os.fsync(file.fileno())

    def parts(self, name, count):
        """The files of the parts numbered below `count`, in order."""
        paths = (self.path / name / _PART.format(number) for number in range(count))
        return [path for path in paths if path.exists()]

    def read_parts(self, name, count, columns=None):
        """The tables of the parts numbered below `count`, one by one: all may not fit into memory."""
        for path in self.parts(name, count):
            yield read_table(path, columns)

    def forget_parts(self, name, count):
        """Remove parts that no checkpoint counts, and what a killed process left half written."""
        for path in (self.path / name).glob("*") if (self.path / name).is_dir() else ():
            if path.name.startswith(".") or path.name >= _PART.format(count):
                path.unlink()

    @contextlib.contextmanager
    def _appearing(self, path):
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            yield temporary
            os.replace(temporary, path)
        except BaseException as problem:
            with contextlib.suppress(OSError):
                temporary.unlink()
            if isinstance(problem, OSError):
                problem.filename = str(path)  # the name that people know, where there is one at all
            raise
        with contextlib.suppress(OSError):  # some systems cannot
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
