"""Open a file or a pipe, and read its rows in pieces, so that memory does not grow with its length."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.byte_stream import BOM, ByteStream, SourceError, no_column
from holdfast.io.columnar import Arrow, Columnar, Parquet
from holdfast.io.columns import Layout, Number, Target
from holdfast.io.delimited import Delimited, first_cells
from holdfast.io.jsonlines import JsonLines
from holdfast.io.rows import LABEL, NUMBER, TEXT, DenseRows, SparseRows
from holdfast.io.schema import types_of
from holdfast.io.svmlight import SvmLight
from holdfast.io.unpacking import SUFFIXES as PACKED
from holdfast.terminal import quoted, visible

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight")
DECIMALS = {"auto": None, "point": ".", "comma": ","}
SUFFIXES = {f".{form}": form for form in FORMATS} | {
    ".tab": "tsv",
    ".ndjson": "jsonl",
    ".pq": "parquet",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
}
_OTHER_ENCODINGS = {  # and the first bytes of each; those of UTF-32 begin with those of UTF-16
    "UTF-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff"),
    "UTF-16": (b"\xff\xfe", b"\xfe\xff"),
}
Source = Delimited | Columnar
_ENTRIES = 1 << 21  # of a piece
_SPARSE_ROWS = 1 << 16  # of a piece


class Reading(NamedTuple):
    """How to read sources, where their names and contents do not show it."""

    format: str | None = None
    header: bool = True  # whether the first line of a text has the names of the columns
    decimal: str = "auto"  # the mark before the decimal places: auto, point or comma
    schema: str | None = None  # types by column (`holdfast.io.schema`)


def open_source(
    path: str | Path,
    whole_lines: bool = False,
    eager: bool = False,
    *,
    reading: Reading = Reading(),  # noqa: B008  (it is immutable)
    follow: bool = False,
    names: Sequence[str] | None = None,
) -> Source:
    """The rows of a file, or of standard input if `path` is "-": `names`, `blocks`, `sample` and `decode`.

    The first bytes decide the format, then the name of the file, then the first line. `names` are those of
    the columns, if the first line does not have them. The others are those of `ByteStream`; `unfinished` is
    then the length of a last line that was left out. If `eager`, JSON objects have the columns of the first
    lines.
    """
    stream = ByteStream(path, whole_lines, eager, follow)
    try:
        form = reading.format or _format(stream)
        return _checked(_opened(stream, form, reading, names), stream.name)
    except BaseException:
        stream.close()
        raise


def is_columnar(stream: ByteStream, reading: Reading) -> bool:
    return (reading.format or _format(stream)) in ("parquet", "arrow")


def _opened(stream: ByteStream, form: str | None, reading: Reading, names: Sequence[str] | None) -> Source:
    if form in ("parquet", "arrow") and stream.follow and stream.is_file:
        raise SourceError(f"{stream.name}: {form} does not grow by lines: learn from it without --follow")
    if form == "parquet":
        if not stream.seekable:
            raise SourceError(f"{stream.name}: Parquet cannot be read from a pipe: name the file")
        stream.close()
        return Parquet(stream.path)
    if form == "arrow":
        return Arrow(stream)
    for encoding, marks in _OTHER_ENCODINGS.items():
        if stream.peek(4).startswith(marks):
            raise SourceError(
                f"{stream.name} is {encoding}: convert it first, such as with iconv -f {encoding} -t UTF-8"
            )
    if form == "jsonl":
        return JsonLines(stream)
    if form == "svmlight":
        return SvmLight(stream)
    delimiter = "\t" if form == "tsv" else _delimiter(stream, form, reading.header)
    if not reading.header and names is None:
        names = _given_names(stream, delimiter, reading)
    return Delimited(stream, delimiter, names, _decimal(stream, delimiter, reading.decimal))


def _given_names(stream: ByteStream, delimiter: str, reading: Reading) -> list[str]:
    """The names of the columns of a text without a header: those of the schema, or 1, 2, ..."""
    width = len(first_cells(stream.first_lines()[0] if stream.head else b"", delimiter, stream.name))
    names = list(types_of(reading.schema)) or [str(i + 1) for i in range(width)]
    if len(names) != width:
        raise SourceError(
            f"{stream.name} has {width} columns, and the schema {len(names)}: without a header line it must "
            "have all of them, in order"
        )
    return names


def _decimal(stream: ByteStream, delimiter: str, wanted: str) -> str:
    """The mark before the decimal places: a comma if cells look so, and another mark separates them."""
    if (mark_of_user := DECIMALS[wanted]) is not None:
        return mark_of_user
    if delimiter == ",":
        return "."
    mark = re.escape(delimiter.encode())
    cells_with = [
        len(re.findall(rb'(?:^|[%s"])[-+]?\d+%s\d+(?=$|[%s"\r])' % (mark, point, mark), stream.head, re.M))
        for point in (rb"\.", b",")
    ]
    return "," if cells_with[1] > cells_with[0] else "."


def _format(stream: ByteStream) -> str | None:
    head = stream.peek(4096)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return "arrow"
    names = [suffix for suffix in Path(stream.path).suffixes if suffix.lower() not in PACKED]
    if names and names[-1].lower() in SUFFIXES:
        return SUFFIXES[names[-1].lower()]
    line = head.removeprefix(BOM).lstrip().partition(b"\n")[0]
    if re.match(rb"\{|\[\s*(\{|$)", line):
        return "jsonl"
    if re.match(rb"[-+.\deE]+(\s+\d+:[-+.\deE]+)+\s*(#.*)?$", line):
        return "svmlight"
    return None


def _delimiter(stream: ByteStream, form: str | None, header: bool) -> str:
    """A comma for .csv, if the first line has one; otherwise what the first line has most of.

    If the first line is a row, its commas may be decimal ones: a mark that all lines have equally often is
    preferred.
    """
    lines = stream.peek(4096).split(b"\n")
    if not header:
        for mark in ("\t", ";", "|"):
            counts = {line.count(mark.encode()) for line in lines[: max(len(lines) - 1, 1)]}
            if len(counts) == 1 and counts != {0}:
                return mark
    if form == "csv" and b"," in lines[0]:
        return ","
    return max((",", "\t", ";", "|"), key=lambda mark: lines[0].count(mark.encode()))


def _checked(source: Source, name: str) -> Source:
    twice = [column for column, count in Counter(source.names).items() if count > 1]
    if twice:
        places = [str(i + 1) for i, column in enumerate(source.names) if column == twice[0]]
        raise SourceError(
            f"{name}: column {quoted(twice[0])} is there more than once (columns {' and '.join(places)}): "
            "give each a name of its own"
        )
    return source


class Piece(NamedTuple):
    """Some rows as numbers, and their position in the source."""

    features: DenseRows | SparseRows
    y: np.ndarray  # numbers, or indices of labels; NaN where missing
    keys: Any  # the key of each row, as text of Arrow; None without a key column
    rows: np.ndarray
    faults: dict[int, str]
    mark: Any  # of the block that they are in
    first: int  # the position of the first row in its block
    read: tuple[float, float] | None  # bytes of the source before these rows, and with them
    also: dict[str, Any]  # other columns that were asked for, as in the source
    place: int = 0  # of the source in the run
    record: Any = None  # of the source, as of the last row (`holdfast.runs.source_records`)
    places: np.ndarray | None = None  # of the rows in the block, from `first` on; None if all are there
    times: Any = None  # the cells of `Layout.time`, as Arrow has them; None without such a column
    recorded: Any = None  # what their games answered before (`holdfast.runs.recorded`)

    def done(self, count: int) -> int:
        """How many rows of the block are over after the first `count` of this piece, at least one."""
        return self.first + (count if self.places is None else int(self.places[count - 1]) + 1)

    def only(self, chosen: np.ndarray) -> "Piece":
        """The rows with these indices, which increase."""
        keys = None if self.keys is None else self.keys.take(pa.array(chosen))
        faults = {i: self.faults[old] for i, old in enumerate(chosen.tolist()) if old in self.faults}
        also = {name: column.take(pa.array(chosen)) for name, column in self.also.items()}
        return self._replace(
            features=self.features.take(chosen),
            y=self.y[chosen],
            keys=keys,
            rows=self.rows[chosen],
            faults=faults,
            also=also,
            times=None if self.times is None else self.times.take(pa.array(chosen)),
            recorded=None if self.recorded is None else self.recorded.take(chosen),
            places=chosen if self.places is None else self.places[chosen],
        )


def pieces(
    source: Source,
    blocks: Iterable[Any],
    layout: Layout,
    target: Target | None,
    key: str | None = None,
    skip: int = 0,
    also: Sequence[str] = (),
) -> Iterator[Piece]:
    """The rows of these blocks in pieces, without the first `skip`. If `target` is None, none is read.

    Without a target they are to be predicted: then a wrong cell counts as missing.

    `also` are columns that each piece has as they are in the source: text, or with the type of the file.
    """
    kinds, time = column_kinds(source, layout, target, key), layout.time()
    step = _SPARSE_ROWS if layout.is_sparse() else max(_ENTRIES // max(layout.feature_count(), 1), 1)
    for block in blocks:
        batch = source.decode(block, kinds)
        span = source.span(block)
        others = unchanged(source, block, also, batch.rows) if also else {}
        for name in also:
            if name not in others:
                raise SourceError(f"{source.name}, column {quoted(name)}: no CSV file can have such values")
        for start in range(skip, len(batch.rows), step):
            stop = min(start + step, len(batch.rows))
            share = (span[1] - span[0]) / len(batch.rows) if span else 0.0
            read = (span[0] + share * start, span[0] + share * stop) if span else None
            features, faults = layout.rows(batch, start, stop, forgiving=target is None)
            y = np.full(stop - start, np.nan)
            if target is not None:
                y, more = target.read(batch, start, stop)
                faults = more | faults
            keys = None
            if key is not None:
                keys = keys_of(batch.columns[key].slice(start, stop - start), key, source.name)
            some = {name: column.slice(start, stop - start) for name, column in others.items()}
            rows = batch.rows[start:stop]
            times = None if time is None else batch.columns[time.name].slice(start, stop - start)
            yield Piece(features, y, keys, rows, faults, block.mark, start, read, some, times=times)
        skip = max(skip - len(batch.rows), 0)
    if skip:
        raise SourceError(
            f"{source.name} ends {skip:,} rows before the place where the run stopped: go on with the same "
            "source, or learn from this one into another folder with --to"
        )


def unchanged(source: Source, block: Any, names: Iterable[str], rows: np.ndarray) -> dict[str, Any]:
    """These columns of a block as they are, for the rows of these numbers. CSV and JSON lines have text.

    Without columns of lists and the like, which no CSV file can have.
    """
    batch = source.decode(block, {name: source.decode_kind(name, TEXT) for name in names})
    columns = {name: column for name, column in batch.columns.items() if cells.can_be_labels(column.type)}
    if np.array_equal(batch.rows, rows):
        return columns
    places = pc.index_in(pa.array(rows), pa.array(batch.rows))
    return {name: column.take(places) for name, column in columns.items()}


def column_kinds(
    source: Source, layout: Layout, target: Target | None = None, key: str | None = None
) -> dict[str, str]:
    """As which kind to decode each column that is used; raises if the source does not have it."""
    kinds = {
        column.name: NUMBER
        if isinstance(column, Number) and not column.truth and column.form is None
        else TEXT
        for column in layout.columns
    }
    if target is not None:
        kinds[target.name] = LABEL if target.labels else NUMBER if target.form is None else TEXT
    kinds |= {key: LABEL} if key is not None else {}
    names = set(source.names)
    for name in kinds:
        if name not in names:
            raise no_column(source, name, ", which the run has learned from")
    return {name: source.decode_kind(name, kind) for name, kind in kinds.items()}


def keys_of(array: cells.Array, name: str, where: str) -> Any:
    """The key of each row as text; empty where it is missing."""
    if not cells.can_be_labels(array.type):
        raise SourceError(
            f"{where}, column {quoted(name)}: {visible(array.type, 80)} cannot be a key; text, numbers, "
            "truth values and times can"
        )
    return pc.fill_null(cells.labels(array), "")
