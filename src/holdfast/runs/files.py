"""Files of a run, read and written so that no link is followed and no half-written file is left."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from holdfast.terminal import Refusal, as_json

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # do not wait for the writer of a FIFO
_BINARY = getattr(os, "O_BINARY", 0)
_LONGEST = 200  # bytes of a name in that of its temporary file; most systems allow 255 in all
REMEDY = "restore it from a copy, or learn again into another folder with --to"


class RunError(Refusal):
    """What is wrong with a run, with the remedy."""


def damaged(path: str | Path, why: object) -> RunError:
    """The error for a file whose content is not what a run wrote."""
    return RunError(f"{path} is damaged: {why}; {REMEDY}")


def is_link(path: str | Path) -> RunError:
    return RunError(
        f"{path} is a symbolic link, and a run neither reads nor writes through links: put the file itself "
        "there, or choose another folder with --to"
    )


@contextlib.contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """While the content of a file is read: every mistake in it is reported as a damaged file."""
    try:
        yield
    except Refusal:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as problem:
        raise damaged(path, problem) from None


def of_another_layout(path: str | Path, what: str) -> RunError:
    """The error for a file whose numbers have another meaning in this version."""
    return RunError(
        f"{path}: {what} have another layout than in this version of holdfast: another version wrote them, "
        f"or one with other settings; learn again into another folder with --to"
    )


@contextlib.contextmanager
def new_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A new file to write to, flushed to the disk at the end, and removed if there was an error."""
    with open(path, "xb") as file:  # raises if the name is taken, also by a link
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise


@contextlib.contextmanager
def atomic_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A temporary file to write to. At the end it replaces `path` in one step, unless there was an error."""
    path = Path(path)
    check_replaceable(path)
    start = f".{os.fsdecode(os.fsencode(path.name)[:_LONGEST])}.holdfast-"
    temporary = path.with_name(f"{start}{secrets.token_hex(8)}")
    try:
        _remove_unused(path.parent, start)
        with new_file(temporary) as file:
            locked(file)
            yield file
        os.replace(temporary, path)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(problem, OSError) and problem.errno is not None:
            problem.filename = str(path)  # the name that the user gave; pyarrow gives none
        raise
    sync(path.parent)


def check_replaceable(path: str | Path) -> None:
    """Raise if a file cannot replace what has this name, or what a link of this name leads to.

    To replace a device would remove it for all programs, and root may.
    """
    if not Path(path).name or os.path.isdir(path):
        raise RunError(f"{path} is a folder: name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise RunError(f"{path} is a device or a pipe, and would be replaced: name a file")


def _remove_unused(folder: Path, start: str) -> None:
    """Remove the temporary files of processes that were killed: those that nothing locks."""
    for path in folder.iterdir():
        if path.name.startswith(start):
            with (
                contextlib.suppress(OSError, RunError),
                os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file,
            ):
                if locked(file):
                    os.unlink(path)


def locked(file: IO[bytes]) -> bool | None:
    """Lock an open file; False if another process has locked it, None if this system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_plain(path: str | Path, flags: int) -> int:
    """The handle of a plain file; raises if it is anything else, such as a link."""
    try:
        handle = os.open(path, flags | _NO_LINK | _NO_WAIT | _BINARY, 0o666)
    except OSError as problem:
        if problem.errno == errno.ELOOP or os.path.islink(path):
            raise is_link(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise RunError(f"{path} is not a file: move it away, or choose another folder with --to")
    return handle


def read_plain(path: str | Path) -> bytes:
    try:
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as problem:
        raise RunError(f"{path} cannot be read: {problem.strerror or problem}") from None


def sync(folder: str | Path) -> None:
    """Flush the names in a folder to the disk."""
    with contextlib.suppress(OSError):  # some systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def to_json(found: Any) -> str:
    return as_json(found, indent=2) + "\n"


# -- the parts of tables, in Parquet


def read_table(data: bytes, schema: pa.Schema) -> pa.Table:
    """The table of one part; raises if it has other columns or a null."""
    import pyarrow.parquet as pq  # which imports clients of clouds: not for commands that need no tables

    try:
        # Not `pq.read_table`, which always reads in threads of Arrow. One that still holds
        # `data` when the process exits aborts it (apache/arrow#34314).
        table = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise ValueError(str(problem).splitlines()[0][:160]) from None
    if table.schema.remove_metadata() != schema or any(column.null_count for column in table.columns):
        raise ValueError("its columns are not those that a run writes")
    return table


def table_bytes(table: pa.Table) -> pa.Buffer:
    import pyarrow.parquet as pq

    texts = [column for column in ("key", "label") if column in table.column_names]
    encodings = {"row": "DELTA_BINARY_PACKED"} if "row" in table.column_names else None
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=texts, compression="none", column_encoding=encodings)
    return sink.getvalue()
