"""Which columns of a table to use, and how: guessed from its first rows, and said."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.columns import Category, Hashed, Layout, Number, SparseColumns, Time
from holdfast.terminal import visible

ROWS = 10_000  # looked at before anything is decided
_FEW = 32  # values that get a feature each
_GROUPS = 64
_READABLE = 0.9  # of the cells, for the others to be mistakes
_MANY_LOST = 0.1  # of the rows: then missing cells are filled in rather than rows skipped


class Head(NamedTuple):
    """The first rows of a source, all columns, as they came."""

    columns: dict[str, Any]
    rows: int
    faults: dict[int, str]

    @staticmethod
    def of(batches):
        """The first rows of some batches."""
        names = list(batches[0].columns)
        joined = {name: _joined([batch.columns[name] for batch in batches]) for name in names}
        table = pa.table(joined).slice(0, ROWS)
        faults, start = {}, 0
        for batch in batches:
            faults |= {start + i: fault for i, fault in batch.faults.items() if start + i < ROWS}
            start += len(batch.rows)
        columns = {name: cells.plain(table.column(name)) for name in names}
        return Head(columns, table.num_rows, faults)


def _joined(arrays):
    """One column of several parts; as text, where they are of different types."""
    if len({array.type for array in arrays}) > 1:
        arrays = [cells.labels(array) for array in arrays]
    return pa.chunked_array(arrays)


def kind_of(array):
    """What a column holds: number, truth, time, text, empty, or other."""
    kind = array.type
    if array.null_count == len(array) or pa.types.is_null(kind):
        return "empty"
    if kind == pa.map_(pa.int64(), pa.float64()):
        return "sparse"
    if pa.types.is_boolean(kind):
        return "truth"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "time"
    if not cells.is_text(array):
        return "other"
    known = pc.drop_null(array)
    for name, read in (("truth", cells.booleans), ("number", cells.numbers), ("time", cells.times)):
        _, wrong = read(known)
        if len(wrong) <= (1.0 - _READABLE) * len(known):
            return name
    return "text"


def guess_layout(head, names, missing):
    """The layout of these columns, and a sentence about each that is not used or not obvious."""
    said: list[str] = []
    kinds = {name: kind_of(head.columns[name]) for name in names}
    used, notes = [], {}
    for name in names:
        array, kind = head.columns[name], kinds[name]
        if kind == "empty":
            notes[name] = "empty in the first rows: left out"
        elif kind == "sparse" and len(names) == 1:
            width = 1 + (pc.max(cells.plain(array).keys).as_py() or 0)
            sentence = f"{width:,} columns: rows are sparse, and features not centred"
            return Layout((SparseColumns(name, width),)), [sentence]
        elif kind in ("other", "sparse"):
            notes[name] = f"{array.type}, which is no feature: left out"
        elif kind in ("number", "truth"):
            used.append(Number(name, None, kind == "truth"))
        elif kind == "time":
            used.append(Time(name))
            notes[name] = "a time: the hour of the day and the day of the week"
        else:
            values = sorted(pc.unique(pc.drop_null(array)).to_pylist())
            if len(values) <= _FEW:
                used.append(Category(name, tuple(values)))
                notes[name] = f"{len(values)} values: a feature each"
            elif len(values) > 0.5 * (len(array) - array.null_count):
                notes[name] = "text that is different in most rows: left out"
            else:
                used.append(Hashed(name, _GROUPS))
                notes[name] = f"{len(values)} values in the first rows: hashed into {_GROUPS} features"
    said += [f"{visible(name, 80)}: {note}" for name, note in notes.items()]
    layout = Layout(tuple(used))
    lost = _lost(head, layout)
    share = float(lost.mean()) if len(lost) else 0.0
    fill = missing == "fill" or (missing == "auto" and share > _MANY_LOST)
    if share > 0.0:
        what = "filled in, with a feature that says so" if fill else "a round skipped each"
        said.append(f"rows with a missing cell: {100 * share:.3g} % of the first {len(lost):,}: {what}")
    return (Layout(tuple(_filling(head, column) for column in used)) if fill else layout), said


def _lost(head, layout):
    """Which rows have a missing cell, of those that can be read."""
    missing = np.zeros(head.rows, bool)
    for column in layout.columns:
        if isinstance(column, Number | Time):
            missing |= pc.is_null(head.columns[column.name], nan_is_null=True).to_numpy(zero_copy_only=False)
    return np.delete(missing, list(head.faults))


def _filling(head, column):
    if isinstance(column, Time):
        return column._replace(fill=True)
    if isinstance(column, Number):
        values = (cells.booleans if column.truth else cells.numbers)(head.columns[column.name])[0]
        finite = values[np.isfinite(values)]
        return column._replace(middle=float(np.median(finite)) if len(finite) else 0.0)
    return column
