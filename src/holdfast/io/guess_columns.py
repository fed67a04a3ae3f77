"""Guess from the first rows of a table which columns to use as features, and how."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.byte_stream import SourceError, no_column
from holdfast.io.columns import Category, Column, Hashed, Layout, Number, SparseColumns, Time, column_kind
from holdfast.io.rows import Batch
from holdfast.io.schema import DROP, check_fit, types_of
from holdfast.terminal import quoted, visible

ROWS = 10_000  # that are read before the guess
_FEW = 32  # so few values get a feature each
_GROUPS = 64  # features for more values
_READABLE = 0.9  # share of the cells of a column that must have its type; the others are faults
_MANY_MISSING = 0.1  # share of the rows; with more, missing cells are filled in


class Head(NamedTuple):
    """The first rows of a source, with all columns."""

    columns: dict[str, Any]
    rows: int
    faults: dict[int, str]
    decimal: str = "."  # the mark before the decimal places in texts

    @staticmethod
    def of(batches: Sequence[Batch], decimal: str = ".") -> "Head":
        """The first `ROWS` rows of some batches."""
        names = list(batches[0].columns)
        joined = {name: _joined([batch.columns[name] for batch in batches]) for name in names}
        table = pa.table(joined).slice(0, ROWS)
        faults: dict[int, str] = {}
        start = 0
        for batch in batches:
            faults |= {start + i: fault for i, fault in batch.faults.items() if start + i < ROWS}
            start += len(batch.rows)
        columns = {name: cells.plain(table.column(name)) for name in names}
        return Head(columns, table.num_rows, faults, decimal)

    def kind(self, name: str) -> str:
        """What is in a column: number, truth, time, text, sparse, empty, or other."""
        return kind_of(self.columns[name], self.decimal)

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64, NaN where it has no number."""
        return cells.numbers(self.columns[name], self.decimal)[0]


def _joined(arrays: Sequence[cells.Array]) -> pa.ChunkedArray:
    """The parts of a column as one; as text if their types differ."""
    if len({array.type for array in arrays}) > 1:
        arrays = [cells.labels(array) for array in arrays]
    return pa.chunked_array(arrays)


def first_blocks(
    source: Any, blocks: Iterable[Any], has_more: Callable[[], bool] = lambda: True
) -> tuple[list[Any], list[Batch]]:
    """Blocks with at least `ROWS` rows, if the source has so many before it has to wait; and their rows."""
    raw: list[Any] = []
    batches: list[Batch] = []
    rows = 0
    for block in blocks:
        raw.append(block)
        batches.append(source.sample(block))
        rows += len(batches[-1].rows)
        if rows >= ROWS or (rows and not has_more()):
            break
    if not rows:
        what = "only a row without a line end, which may be unfinished" if source.unfinished else "no rows"
        raise SourceError(f"{source.name} has the names of columns, but {what}")
    return raw, batches


def feature_columns(source: Any, settings: Any) -> list[str]:
    """The names of the columns to predict from; raises if the settings name a column that is not there."""
    keys = [] if settings.key is None else [settings.key]
    for name in (settings.target, *settings.features, *settings.drop, *keys, *types_of(settings.schema)):
        if name not in source.names:
            raise no_column(source, name)
    if settings.key == settings.target:
        raise SourceError(f"--key and --target name the same column {quoted(settings.key)}")
    names = list(settings.features) or [name for name in source.names if name not in settings.drop]
    return [name for name in names if name not in (settings.target, settings.key)]


def kind_of(array: cells.Array, decimal: str = ".") -> str:
    """What is in a column: number, truth, time, text, sparse, empty, or other."""
    t, kind = pa.types, array.type
    if array.null_count == len(array) or t.is_null(kind):
        return "empty"
    if kind == pa.map_(pa.int64(), pa.float64()):
        return "sparse"
    if t.is_boolean(kind):
        return "truth"
    if t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind):
        return "number"
    if t.is_timestamp(kind) or t.is_date(kind):
        return "time"
    if not cells.is_text(array):
        return "other"
    known = pc.drop_null(array)
    numbers = functools.partial(cells.numbers, decimal=decimal)
    for name, read in (("truth", cells.booleans), ("number", numbers), ("time", cells.times)):
        _, wrong = read(known)
        if len(wrong) <= (1.0 - _READABLE) * len(known):
            return name
    return "text"


def guess_layout(
    head: Head, names: Sequence[str], missing: str, types: Mapping[str, str] | None = None
) -> tuple[Layout, list[str]]:
    """The layout of these columns, and a sentence about each one that is left out or encoded.

    `types` has the types of columns that are not guessed.
    """
    layout, notes = guess_encoding(head, names, types or {})
    if layout.is_sparse():
        return layout, list(notes.values())
    said = [f"{visible(name, 80)}: {note}" for name, note in notes.items()]
    lost = _rows_with_missing(head, layout)
    share = float(lost.mean()) if len(lost) else 0.0
    fill = missing == "impute" or (missing == "auto" and share > _MANY_MISSING)
    if share > 0.0:
        what = "filled in, with a feature that says so" if fill else "skipped"
        said.append(f"rows with a missing cell: {100 * share:.3g} % of the first {len(lost):,}: {what}")
    if fill:
        layout = Layout(tuple(_with_filling(head, column) for column in layout.columns))
    return layout, said


def guess_encoding(
    head: Head, names: Sequence[str], types: Mapping[str, str]
) -> tuple[Layout, dict[str, str]]:
    """The layout of these columns before missing cells are filled in, and notes by column."""
    used: list[Column] = []
    notes: dict[str, str] = {}
    for name in names:
        found = head.kind(name)
        kind = types.get(name, found)
        check_fit(name, kind, found)
        column, note = _encoded(head, name, kind, found, len(names) == 1)
        used += [column] if column is not None else []
        notes |= {name: note} if note else {}
    return Layout(tuple(used)), notes


def _encoded(head: Head, name: str, kind: str, found: str, alone: bool) -> tuple[Column | None, str]:
    """A column as features, None if it is left out; and a note. `kind` is `found`, or what the user says."""
    array = head.columns[name]
    if kind == DROP:
        return None, "left out"
    if kind == "empty":
        return None, "empty in the first rows: left out"
    if kind == "sparse" and alone:
        width = 1 + (pc.max(cells.plain(array).keys).as_py() or 0)
        return SparseColumns(name, width), f"{width:,} columns: rows are sparse, and features not centred"
    if kind in ("other", "sparse"):
        return None, f"{array.type}, which cannot be a feature: left out"
    if kind in ("number", "truth"):
        return Number(name, None, kind == "truth"), ""
    if kind == "time":
        return Time(name), "a time: the hour of the day and the day of the week"
    values = sorted(pc.unique(pc.drop_null(cells.labels(array))).to_pylist())
    if kind == "category" or (kind != "hashed" and len(values) <= _FEW):
        return Category(name, tuple(values)), f"{len(values)} values: a feature each"
    if kind != "hashed" and len(values) > 0.5 * (len(array) - array.null_count):
        return None, "text that is different in most rows: left out"
    return Hashed(name, _GROUPS), f"{len(values)} values in the first rows: hashed into {_GROUPS} features"


def types_in(layout: Layout, names: Iterable[str]) -> dict[str, str]:
    """The type of each of these columns, as in a schema file."""
    kinds = {column.name: column_kind(column) for column in layout.columns}
    return {name: kinds.get(name, DROP) for name in names}


def _rows_with_missing(head: Head, layout: Layout) -> np.ndarray:
    """For each row that can be read, whether it has a missing cell."""
    missing = np.zeros(head.rows, bool)
    for column in layout.columns:
        if isinstance(column, Number | Time):
            missing |= pc.is_null(head.columns[column.name], nan_is_null=True).to_numpy(zero_copy_only=False)
    return np.delete(missing, list(head.faults))


def _with_filling(head: Head, column: Column) -> Column:
    """The column, with what replaces a missing cell."""
    if isinstance(column, Time):
        return column._replace(fill=True)
    if isinstance(column, Number):
        values = cells.booleans(head.columns[column.name])[0] if column.truth else head.numbers(column.name)
        finite = values[np.isfinite(values)]
        return column._replace(middle=float(np.median(finite)) if len(finite) else 0.0)
    return column
