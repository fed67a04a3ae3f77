"""Which rows of a run are meant: by number, time, the value of a column, or a file that lists them."""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.columns import Time
from holdfast.io.dates import CLOCK, NAMES, ORDERS, seconds, time_form
from holdfast.io.rows import NUMBER
from holdfast.io.sources import Reading, SourceError, open_source
from holdfast.runs.files import RunError
from holdfast.runs.ledger import rows_in
from holdfast.runs.quarantine import ROW
from holdfast.runs.rereading import rows_with
from holdfast.runs.run import Run
from holdfast.runs.source_records import last_row
from holdfast.terminal import quoted

Files = Sequence[str | Path | None]


def by_number(run: Run, text: str) -> np.ndarray:
    """The rows in a text such as 120-180,999."""
    last = last_row(run.sources)
    return rows_in([(first, min(end, last)) for first, end in ranges(text)])


def ranges(text: str) -> list[tuple[int, int]]:
    """The first and the last row of each part of a text such as 120-180,999."""
    pairs = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part)
        first, end = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not 1 <= first <= end:
            raise RunError(f"rows are numbers and ranges, such as 120-180,999: got {quoted(part)}")
        pairs.append((first, end))
    return pairs


def by_file(path: str, reading: Reading) -> np.ndarray:
    """The rows that a file lists in its column `skipped_row`, as audit --skipped writes them."""
    source = open_source(path, reading=reading)
    try:
        if ROW not in source.names:
            raise SourceError(
                f"{source.name} has no column '{ROW}': name a file that audit --skipped has written, or one "
                "with this column"
            )
        found, kinds = [], {ROW: source.decode_kind(ROW, NUMBER)}
        blocks: Any = source.blocks()
        for block in blocks:
            rows, wrong = cells.numbers(source.decode(block, kinds).columns[ROW])
            if wrong or not (rows >= 1.0).all() or (rows % 1.0).any():
                raise SourceError(f"{source.name}: '{ROW}' has a cell that is not the number of a row")
            found.append(rows.astype(np.int64))
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))
    finally:
        source.close()


def by_value(run: Run, files: Files, column: str, value: str) -> np.ndarray:
    """The rows whose cell of this column is this text, as keys and labels are compared."""

    def test(array: Any) -> np.ndarray:
        if not cells.can_be_labels(array.type):
            raise SourceError(f"column {quoted(column)} cannot be compared: it is {array.type}")
        texts = pc.fill_null(cells.labels(array), "")
        return np.asarray(pc.equal(texts, pa.scalar(value)).to_numpy(zero_copy_only=False), bool)

    return rows_with(run, files, column, test)


def by_key(run: Run, key: str) -> np.ndarray:
    """The rows of a key, as the run has recorded them."""
    tables = (table.filter(pc.field("key") == key) for table in run.read("sizes", ["row", "key"]))
    return np.concatenate([np.zeros(0, np.int64), *(table.column("row").to_numpy() for table in tables)])


def by_time(run: Run, files: Files, column: str, begin: str, end: str) -> np.ndarray:
    """The rows with a time, or a number, from `begin` to `end`, both included. A date is its whole day.

    Times are read in the form that the run has found in this column, else in that of its first cells.
    """
    numbers = [cells.number(text) for text in (begin, end)]
    form = next((one.form for one in run.layout.columns if isinstance(one, Time) and one.name == column), "")
    limits: tuple[float, float] | None = None

    def test(array: Any) -> np.ndarray:
        nonlocal form, limits
        try:
            if None not in numbers:
                found, _ = cells.numbers(array)
                limits = limits or _numbers(begin, end)
            else:
                form = form or _form(run, column, array)
                limits = limits or _times(begin, end, form)
                found, _ = seconds(array, form)
        except (pa.ArrowException, AttributeError, KeyError):
            raise SourceError(
                f"column {quoted(column)} is {array.type}, which cannot be compared with {quoted(begin)}"
            ) from None
        with np.errstate(invalid="ignore"):
            return np.asarray((found >= limits[0]) & (found < limits[1]), bool)

    return rows_with(run, files, column, test)


def _form(run: Run, column: str, array: Any) -> str:
    """The form of the times in a column that the run does not use as one."""
    found = time_form(column, array, run.settings.dates)
    if found is None:
        raise SourceError(f"column {quoted(column)} has no times: --between with numbers compares numbers")
    form, doubt = found
    if doubt:
        raise SourceError(
            f"column {quoted(column)} has dates whose order of day and month is not clear, and the run does "
            "not use it: name the rows with --rows or --from"
        )
    return form


def _numbers(begin: str, end: str) -> tuple[float, float]:
    low, high = (cells.number(text) or 0.0 for text in (begin, end))
    return _in_order(low, float(np.nextafter(high, np.inf)), begin, end)


def _times(begin: str, end: str, form: str) -> tuple[float, float]:
    """From where, to below where, in seconds. They are ISO, or of the form of the column."""
    low, high = (_seconds(text, form) for text in (begin, end))
    is_day = re.fullmatch(r"[^:T]+", end.strip()) is not None
    day = datetime.timedelta(days=1).total_seconds()
    return _in_order(low, high + day if is_day else float(np.nextafter(high, np.inf)), begin, end)


def _seconds(text: str, form: str) -> float:
    found, wrong = cells.times(pa.array([text]))
    if wrong and form in (*ORDERS, NAMES, CLOCK):
        found, wrong = seconds(pa.array([text]), form)
    if wrong or not np.isfinite(found[0]):
        raise RunError(
            "--between has two times, such as 2026-03-01 or 2026-03-01T12:00, or two numbers: got "
            f"{quoted(text)}"
        )
    return float(found[0])


def _in_order(low: float, after: float, begin: str, end: str) -> tuple[float, float]:
    if not low < after:
        raise RunError(f"--between has the earlier end first: got {quoted(begin)} and {quoted(end)}")
    return low, after
