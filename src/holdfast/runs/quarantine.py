"""The rows that a run has skipped, as they are in its source, with the reason: to look at and to release."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io.byte_stream import LineBlock
from holdfast.io.columns import column_kind
from holdfast.io.sources import Source, SourceError, unchanged
from holdfast.runs.audit import with_times
from holdfast.runs.rereading import check_named, find_file, gone, open_place
from holdfast.runs.source_records import SourceRecord
from holdfast.terminal import quoted

if TYPE_CHECKING:
    from holdfast.runs.run import Run

ROW = "skipped_row"
_COMMA = r"^(\s*[-+]?\d*),(\d*(?:[eE][-+]?\d+)?\s*)$"
_COLUMNS = ("reason", "check", "size", "threshold", "times", "column", "value", "detail", "learned")


def write_skipped(run: "Run", write: Callable[[pa.Table], object], named: list[str]) -> dict[str, Any]:
    """Write the skipped rows of a run, table by table. `named` are files that may be its sources.

    A source is found by its content. Rows whose source is gone are left out, unless all are.
    """
    places = run.source_records()
    check_named(run, named)
    files = [find_file(run, place, named) for place in places]
    if not any(files):
        raise gone(places[0].name)
    entries, schema, numbers = Entries(run.read("audit")), None, number_columns(run)
    answer: dict[str, Any] = {"rows": 0, "left_out": []}
    for place, file in zip(places, files, strict=True):
        if file is None:
            answer["left_out"] += _left_out(place, entries)
            continue
        with contextlib.closing(open_place(run, file)) as source:
            for table in quarantine(entries, place, source, numbers):
                schema = schema or table.schema
                write(alike(table, schema, source))
                answer["rows"] += table.num_rows
            names = source.names
    if schema is None:
        write(_without_rows(names))
    return answer


def _left_out(place: SourceRecord, entries: "Entries") -> list[dict[str, Any]]:
    """What is left out because a source is gone; nothing if none of its rows was skipped."""
    rows = entries.take_below(place.last_row + 1)
    if rows is None:
        return []
    first, last = (rows.column("row")[i].as_py() for i in (0, -1))
    return [{"source": place.name, "rows": rows.num_rows, "first": first, "last": last}]


def quarantine(
    entries: "Entries", place: SourceRecord, source: Source, numbers: Collection[str]
) -> Iterator[pa.Table]:
    """The skipped rows of a source, block by block: what the audit says, then all columns of the source.

    `entries` are those of the audit; what is left of them is for the next source. Columns of `numbers` have
    decimal points, whatever the source has, because the sizes beside them have points, too.
    """
    for name in (ROW, *(f"skipped_{name}" for name in _COLUMNS)):
        if name in source.names:
            raise SourceError(f"{source.name} has a column {quoted(name)} of its own: give it another name")
    for block in source.blocks():
        count = block.lines if isinstance(block, LineBlock) else block.data.num_rows
        found = entries.take_below(min(place.base + block.row + count, place.last_row + 1))
        if found is not None:
            rows = found.column("row").to_numpy() - place.base
            columns = unchanged(source, block, source.names, rows)
            if source.decimal != ".":
                columns |= {
                    name: pc.replace_substring_regex(columns[name], _COMMA, r"\1.\2")
                    for name in numbers
                    if name in columns
                }
            yield _table(found, columns)


def number_columns(run: "Run") -> set[str]:
    kinds = {column.name for column in run.layout.columns if column_kind(column) == "number"}
    return kinds | ({run.target.name} if run.regression else set())


def _without_rows(names: Collection[str]) -> pa.Table:
    """The columns of a quarantine, if nothing was skipped."""
    kinds = dict.fromkeys(_COLUMNS, pa.string())
    kinds |= dict.fromkeys(("value", "size", "threshold", "times"), pa.float64())
    empty = pa.schema({"row": pa.int64()} | kinds).empty_table()
    return _table(empty, {name: pa.array([], pa.string()) for name in names})


def _table(found: pa.Table, columns: dict[str, Any]) -> pa.Table:
    about = {ROW: found.column("row")} | {f"skipped_{name}": found.column(name) for name in _COLUMNS}
    return pa.table(about | columns)


def alike(table: pa.Table, schema: pa.Schema, source: Source) -> pa.Table:
    """The table with the columns of an earlier one; those that it lacks are empty."""
    columns = {field.name: pa.nulls(table.num_rows, field.type) for field in schema}
    for name in set(columns) & set(table.column_names):
        try:
            columns[name] = table.column(name).cast(schema.field(name).type)
        except pa.ArrowException:
            raise SourceError(
                f"{source.name}, column {quoted(name)}: {table.schema.field(name).type}, and "
                f"{schema.field(name).type} in an earlier source: their rows cannot be in one file"
            ) from None
    return pa.table(columns)


class Entries:
    """The entries of an audit in the order of the rows, one for each row."""

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables, self._last = tables, 0
        self._waiting: pa.Table | None = None

    def take_below(self, row: int) -> pa.Table | None:
        """The next entries, up to this row; None if there are none."""
        while self._waiting is None or self._waiting.column("row")[-1].as_py() < row:
            more = next(self._tables, None)
            if more is None:
                break
            more = self._once(with_times(more))
            if more.num_rows:
                self._waiting = more if self._waiting is None else pa.concat_tables([self._waiting, more])
        if self._waiting is None:
            return None
        end = int(np.searchsorted(self._waiting.column("row").to_numpy(), row))
        found, rest = self._waiting.slice(0, end), self._waiting.slice(end)
        self._waiting = rest if rest.num_rows else None
        return found if found.num_rows else None

    def _once(self, table: pa.Table) -> pa.Table:
        rows = table.column("row").to_numpy()
        new = np.diff(rows, prepend=self._last) > 0
        self._last = int(rows[-1]) if len(rows) else self._last
        return table.filter(pa.array(new))
