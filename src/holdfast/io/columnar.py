"""Parquet and Arrow: files whose columns have types."""

import abc
import io
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

from holdfast.io.byte_stream import (
    ByteStream,
    Fingerprint,
    Mark,
    SourceError,
    another_source,
    file_sha256,
    fingerprint,
)
from holdfast.io.cells import plain
from holdfast.io.rows import TEXT, Batch
from holdfast.terminal import quoted

_ROWS = 1 << 16
_HEAD = 20  # rows in the fingerprint of a block
NOT_HASHED = ""  # until all rows are read


class RowBlock(NamedTuple):
    """Some rows, and the number of the first."""

    data: pa.RecordBatch
    row: int

    @property
    def lines(self) -> int:
        return self.data.num_rows

    @property
    def mark(self) -> Mark:
        return {
            "offset": 0,
            "row": self.row,
            "begins": fingerprint(_first_rows(self.data)),
            "before": NOT_HASHED,
        }


class Columnar(abc.ABC):
    name: str
    size: int | None = None
    decimal = "."  # texts have no numbers with a decimal comma
    without_header = False
    unfinished = 0  # such files have no lines
    is_file = True  # whether it can be read again
    _read = 0

    def _set_schema(self, schema: pa.Schema) -> None:
        self.names, self._schema = list(schema.names), schema

    def blocks(self, mark: Mark | None = None) -> Iterator[RowBlock]:
        """The blocks from this mark on; raises if other rows are there."""
        found = self._blocks(mark)
        first = [block for _, block in zip(range(1), found, strict=False)] if mark else []
        return itertools.chain(first, found)

    def _blocks(self, mark: Mark | None) -> Iterator[RowBlock]:
        row = mark["row"] if mark else 1
        try:
            batches, skip = self._batches(row - 1)
            for batch in batches:
                batch, skip = batch.slice(min(skip, batch.num_rows)), max(skip - batch.num_rows, 0)
                for start in range(0, batch.num_rows, _ROWS):
                    piece = batch.slice(start, _ROWS)
                    if mark is not None:
                        head = fingerprint(_first_rows(piece), mark["begins"]["bytes"])
                        if head != mark["begins"]:
                            raise another_source(self.name, row)
                    mark = None
                    self._read = row - 1 + piece.num_rows
                    yield RowBlock(piece, row)
                    row += piece.num_rows
        except (pa.ArrowException, OSError) as problem:
            raise SourceError(
                f"{self.name}, row {row:,}: damaged ({_brief(problem)}): get it again"
            ) from None

    def end(self, last: Mark | None) -> tuple[Mark, int]:
        """The mark of the last block with the SHA-256 of the file, and how many rows of it are done."""
        last = last or {"offset": 0, "row": 1, "begins": fingerprint(b"")}
        return last | {"before": self.sha256()}, max(self._read + 1 - last["row"], 0)

    def fingerprint(self, most: int | None = None) -> Fingerprint:
        """The fingerprint of the names and types of the columns."""
        return fingerprint(str(self._schema.remove_metadata()).encode(), most)

    def sample(self, block: RowBlock) -> Batch:
        return self.decode(block, dict.fromkeys(self.names, TEXT))

    def decode(self, block: RowBlock, kinds: Iterable[str]) -> Batch:
        columns = {}
        for name in kinds:
            column = block.data.column(name)
            try:
                column.validate(full=True)  # in a damaged file an offset may point anywhere
                columns[name] = plain(column)
            except (pa.ArrowException, OSError) as problem:
                raise SourceError(
                    f"{self.name}, row {block.row:,}, column {quoted(name)}: damaged ({_brief(problem)}): "
                    "get it again"
                ) from None
        return Batch(columns, np.arange(block.row, block.row + block.data.num_rows), {})

    def decode_kind(self, name: str, kind: str) -> str:
        return TEXT

    def span(self, block: RowBlock) -> tuple[int, int] | None:
        """The rows of the source up to this block, and with it; None if the total is unknown."""
        return (block.row - 1, block.row - 1 + block.data.num_rows) if self.size else None

    def stop(self) -> None:
        return  # such files are not followed

    def has_more(self) -> bool:
        return True

    def rotation(self) -> int | None:
        return None

    @abc.abstractmethod
    def sha256(self) -> str:
        """The SHA-256 of the file, as stored."""

    @abc.abstractmethod
    def close(self) -> None: ...

    @abc.abstractmethod
    def _batches(self, first: int) -> tuple[Iterable[pa.RecordBatch], int]:
        """Batches with all rows from number `first` on, and how many rows they have before it."""


class Parquet(Columnar):
    def __init__(self, path: str | Path) -> None:
        self.name, self._path = str(path), path
        try:
            # The name as bytes, because it need not be UTF-8.
            import pyarrow.parquet as pq  # which imports clients of clouds

            self._file = pq.ParquetFile(pa.OSFile(os.fsencode(path)))
        except (pa.ArrowException, OSError) as problem:
            raise SourceError(f"{path}: no Parquet file ({_brief(problem)})") from None
        self._set_schema(self._file.schema_arrow)
        self.size = self._file.metadata.num_rows or None

    def sha256(self) -> str:
        return file_sha256(self._path)

    def close(self) -> None:
        self._file.close()

    def _batches(self, first: int) -> tuple[Iterable[pa.RecordBatch], int]:
        groups, start = [], 0
        for i in range(self._file.metadata.num_row_groups):
            length = self._file.metadata.row_group(i).num_rows
            if start + length > first:
                groups.append(i)
            else:
                start += length
        found = self._file.iter_batches(batch_size=_ROWS, row_groups=groups) if groups else ()
        return found, first - start


class Arrow(Columnar):
    """An Arrow file, or a stream of record batches, also from a pipe."""

    def __init__(self, stream: ByteStream) -> None:
        self.name, self._stream = stream.name, stream
        self._file: Any = None
        self._reader: Any = None
        self.is_file = stream.is_file
        try:
            if stream.peek(6) == b"ARROW1" and stream.seekable:
                # Not mapped: a mapped file that is cut while it is read ends the process.
                self._file = ipc.open_file(pa.OSFile(os.fsencode(stream.path)))
                self._set_schema(self._file.schema)
                return
            if stream.peek(6) == b"ARROW1":
                raise SourceError(f"{stream.name}: an Arrow file cannot be read from a pipe: name the file")
            self._reader = ipc.open_stream(pa.PythonFile(io.BufferedReader(_Raw(stream)), "r"))
            self._set_schema(self._reader.schema)
        except (pa.ArrowException, OSError) as problem:
            raise SourceError(f"{stream.name}: no Arrow file ({_brief(problem)})") from None

    def sha256(self) -> str:
        return file_sha256(self._stream.path) if self._stream.is_file else NOT_HASHED

    def close(self) -> None:
        self._stream.close()

    def _batches(self, first: int) -> tuple[Iterable[pa.RecordBatch], int]:
        if self._file is None:
            return self._reader, first
        return (self._file.get_batch(i) for i in range(self._file.num_record_batches)), first


class _Raw(io.RawIOBase):
    """The bytes of a stream, for a `BufferedReader`, which reads as many as pyarrow asks for."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _first_rows(rows: pa.RecordBatch) -> bytes:
    """The first rows as bytes; no bytes if they cannot be converted to Python."""
    head = rows.slice(0, _HEAD)
    try:
        head.validate(full=True)  # in a damaged file an offset may point anywhere
        return "".join(map(repr, head.to_pylist())).encode("utf-8", "backslashreplace")
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        return b""


def _brief(problem: Exception) -> str:
    return str(problem).splitlines()[0][:160] if str(problem) else type(problem).__name__
