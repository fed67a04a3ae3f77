"""Comma or tab separated values. A row is a line, or several lines if a quoted cell contains line ends."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from holdfast.io.byte_stream import (
    BOM,
    NOT_UTF8,
    TO_UTF8,
    ByteStream,
    Fingerprint,
    LineBlock,
    Mark,
    SourceError,
    fingerprint,
)
from holdfast.io.cells import MISSING, NO_NUMBER, number, without_missing
from holdfast.io.quotes import first_lines, outside_quotes
from holdfast.io.rows import BOOLEAN, LABEL, NUMBER, TEXT, Batch, WrongCell, both_faults
from holdfast.terminal import quoted

_FEW = 512  # lines that are parsed one by one if pyarrow cannot read them together
_NULLS = [blank + text for text in NO_NUMBER for blank in ("", " ", "  ")]  # of columns of numbers
_BYTES = re.compile("[\udc80-\udcff]")  # that are not UTF-8, as surrogateescape decodes them
_PARTS = 16  # a block that pyarrow cannot read is cut into this many
Kinds = Mapping[str, str]  # as what each column is read
TYPES = {NUMBER: pa.float64(), TEXT: pa.string(), LABEL: pa.string(), BOOLEAN: pa.bool_()}
csv.field_size_limit(1 << 28)  # characters, as many as a line may have; its own limit is 131,072


class Delimited:
    """The rows of a text. The names of the columns are in its first line, or given.

    pyarrow reads a whole block. If it cannot, the block is cut into smaller ones, and the smallest are parsed
    line by line. There, a quote that is not closed within 100 lines loses one row, not the rest of the file.
    """

    quoted = True  # whether a row can have several lines
    _read: int | None = 0  # bytes of a packed file, up to the last block
    decimal = "."  # the mark before the decimal places
    without_header = False  # whether the names of the columns are not in the text

    def __init__(
        self, stream: ByteStream, delimiter: str, names: Sequence[str] | None = None, decimal: str = "."
    ) -> None:
        self._set_stream(stream)
        self.delimiter, self.decimal = delimiter, decimal
        self.without_header = bool(names)
        self.names = list(names) if names else self._read_names()

    def _set_stream(self, stream: ByteStream) -> None:
        self.stream, self.name, self.size, self.is_file = stream, stream.name, stream.size, stream.is_file
        self.close, self.stop = stream.close, stream.stop
        self.rotation, self.has_more = stream.rotation, stream.has_more

    def _begin(self, stream: ByteStream, expected: str) -> list[bytes]:
        """Take this stream; return its first lines. Raises if it is empty."""
        self._set_stream(stream)
        lines = stream.first_lines()
        if not lines:
            raise SourceError(f"{stream.name} is empty: expected {expected}")
        return lines

    def _read_names(self) -> list[str]:
        stream = self.stream
        header = stream.line()
        if header is None:
            raise SourceError(f"{stream.name} is empty: expected a header line with the names of the columns")
        if not header.removeprefix(BOM).strip():
            raise SourceError(f"{stream.name}: its first line is empty: expected the names of the columns")
        return _named([cell.strip() for cell in first_cells(header, self.delimiter, stream.name)])

    def blocks(self, mark: Mark | None = None) -> Iterator[LineBlock]:
        if mark is not None:
            self.stream.continue_at(mark)
        return self.stream.blocks(mark["row"] if mark else 1, self._is_row if self.quoted else None)

    def _is_row(self, line: bytes) -> bool:
        """Whether a line looks like a whole row: as many cells as there are columns, and a number."""
        cells = line.decode("utf-8", "replace").rstrip("\r").split(self.delimiter)
        some = any(number(cell, self.decimal) is not None for cell in cells if cell)
        return some and len(cells) == len(self.names)

    def end(self, last: Mark | None) -> tuple[Mark, int]:
        """The mark of the end, and how many rows of the block that begins there are done."""
        return self.stream.end(), 0

    def fingerprint(self, most: int | None = None) -> Fingerprint:
        """The fingerprint of the first bytes, by which a source is recognised when it has grown."""
        return fingerprint(self.stream.head, most)

    def span(self, block: LineBlock) -> tuple[int, int] | None:
        """Where this block begins and ends in the file, in bytes; None if the length is unknown.

        Of a packed file only the bytes that were read so far are known.
        """
        if self.stream.seekable:
            return block.offset, block.offset + len(block.data)
        begin, self._read = self._read, self.stream.progress()
        return None if begin is None or self._read is None else (begin, self._read)

    @property
    def unfinished(self) -> int:
        return self.stream.unfinished

    def sample(self, block: LineBlock) -> Batch:
        return self.decode(block, dict.fromkeys(self.names, TEXT))

    def decode(self, block: LineBlock, kinds: Kinds) -> Batch:
        parts = list(self._parts(block.data, block.row, block.lines, kinds))
        faults: dict[int, str] = {}
        start = 0
        for part in parts:
            faults |= {start + place: fault for place, fault in part.faults.items()}
            start += len(part.rows)
        columns = {name: pa.chunked_array([part.columns[name] for part in parts]) for name in kinds}
        rows = np.concatenate([part.rows for part in parts])
        return Batch({name: column.combine_chunks() for name, column in columns.items()}, rows, faults)

    def decode_kind(self, name: str, kind: str) -> str:
        """As which kind to decode a column that is needed as `kind`."""
        return NUMBER if kind == NUMBER else TEXT

    def _parts(self, data: bytes, row: int, count: int, kinds: Kinds) -> Iterator[Batch]:
        whole = self._parse_block(data, row, count, kinds)
        if whole is not None:
            yield whole
        elif count <= _FEW:
            yield self._parse_lines(data.split(b"\n")[:count], row, kinds)
        else:
            lines = data.split(b"\n")[:count]
            step, start = max(-(-count // _PARTS), _FEW), 0
            while start < count:
                stop = outside_quotes(lines, start, start + step)
                some = lines[start:stop]
                yield from self._parts(b"\n".join(some) + b"\n", row + start, len(some), kinds)
                start = stop

    def _parse_block(self, data: bytes, row: int, count: int, kinds: Kinds) -> Batch | None:
        """The rows as pyarrow reads them; None if it fails or the number of rows is wrong."""
        quoted = b'"' in data
        if quoted and data.count(b'"') % 2:
            return None
        types = {name: TYPES[kind] for name, kind in kinds.items()}
        try:
            table = pacsv.read_csv(
                pa.BufferReader(pa.py_buffer(data)),
                pacsv.ReadOptions(column_names=self.names, block_size=1 << 20),
                pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=quoted),
                pacsv.ConvertOptions(
                    column_types=types,
                    decimal_point=self.decimal,
                    include_columns=list(kinds),
                    null_values=_NULLS,
                    strings_can_be_null=False,  # a dash may be a label: `without_missing` says which are
                ),
            )
        except pa.ArrowInvalid:
            return None
        for i, name in enumerate(table.column_names):
            if kinds[name] != NUMBER:
                table = table.set_column(i, name, without_missing(table.column(i)))
        several = quoted and table.num_rows != count  # lines in a row
        return Batch.from_table(table, row + (first_lines(data) if several else np.arange(count)), kinds)

    def _parse_lines(self, lines: Sequence[bytes], row: int, kinds: Kinds) -> Batch:
        rows: list[int] = []
        faults: dict[int, str] = {}
        cells: dict[str, list[Any]] = {name: [] for name in kinds}
        next_line = 0
        for i, line in enumerate(lines):
            if i < next_line or not line.strip():
                continue
            values, fault, next_line = self._parse_row(lines, i)
            for name, kind in kinds.items():
                value, wrong = self._cell(name, (values or {}).get(name), kind)
                fault = both_faults(fault, wrong)
                cells[name].append(value)
            if fault:
                faults[len(rows)] = fault
            rows.append(row + i)
        columns = {name: pa.array(cells[name], TYPES[kind]) for name, kind in kinds.items()}
        return Batch(columns, np.array(rows, np.int64), faults)

    def _cell(self, name: str, value: Any, kind: str) -> tuple[Any, str | None]:
        """A cell as this kind, and what is wrong with it."""
        if value is None or value.strip() in MISSING:
            return None, None
        if kind == NUMBER:
            found = number(value, self.decimal)
            return found, WrongCell.of(name, value, "not a number") if found is None else None
        return (None, f"column {quoted(name)}: {NOT_UTF8}") if _BYTES.search(value) else (value, None)

    def _parse_row(self, lines: Sequence[bytes], i: int) -> tuple[dict[str, Any] | None, str | None, int]:
        """The cells of the row that begins at line i, what is wrong with it, and the line after it."""
        values, fault = self._cells(lines[i])
        if fault and lines[i].count(b'"') % 2:
            stop = outside_quotes(lines, i, i + 1)
            longer, wrong = self._cells(b"\n".join(lines[i:stop]))
            if not wrong:
                return longer, None, stop
        return values, fault, i + 1

    def _cells(self, line: bytes) -> tuple[dict[str, Any] | None, str | None]:
        text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
        try:
            cells = next(csv.reader([text], delimiter=self.delimiter, strict=True))
        except (csv.Error, StopIteration):
            return None, "a quote that does not end, or a line end inside a row"
        if len(cells) != len(self.names):
            return None, f"{len(cells)} cells, where the header has {len(self.names)}"
        return dict(zip(self.names, cells, strict=True)), None


def _named(names: list[str]) -> list[str]:
    """The names of the columns. Of several without one, those after the first get their place."""
    first = names.index("") if "" in names else -1
    return [f"Unnamed: {i}" if not name and i != first else name for i, name in enumerate(names)]


def first_cells(line: bytes, delimiter: str, name: str) -> list[str]:
    try:
        text = line.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise SourceError(f"{name}: the header is {NOT_UTF8}; {TO_UTF8}") from None
    if "\0" in text:
        raise SourceError(f"{name}: the header is not UTF-8 text: is it another kind of file?")
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        raise SourceError(
            f"{name}: the header has a quote that does not end, or no names, or lines end with CR alone: "
            "convert these, as with tr '\\r' '\\n'"
        ) from None
