"""Which rows of a run are meant: by number, time, the value of a column, or a file that lists them."""

import datetime
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
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
    last, pairs = last_row(run.sources), []
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part)
        first, end = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not 1 <= first <= end:
            raise RunError(f"--rows has numbers and ranges, such as 120-180,999: got {quoted(part)}")
        pairs.append((first, min(end, last)))
    return rows_in(pairs)


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


def by_time(run: Run, files: Files, column: str, begin: str, end: str) -> np.ndarray:
    """The rows with a time, or a number, from `begin` to `end`, both included. A date is its whole day."""
    low, high, read = _limits(begin, end)

    def test(array: Any) -> np.ndarray:
        try:
            found, _ = read(array)
        except (pa.ArrowException, AttributeError, KeyError):
            raise SourceError(
                f"column {quoted(column)} is {array.type}, which cannot be compared with {quoted(begin)}"
            ) from None
        with np.errstate(invalid="ignore"):
            return np.asarray((found >= low) & (found < high), bool)

    return rows_with(run, files, column, test)


def _limits(begin: str, end: str) -> tuple[float, float, Callable[[Any], cells.Parsed]]:
    """From where, to below where, and how to read a column."""
    numbers = [cells.number(text) for text in (begin, end)]
    if None not in numbers:
        low, high = (float(number or 0.0) for number in numbers)
        after = np.nextafter(high, np.inf)
        read: Callable[[Any], cells.Parsed] = cells.numbers
    else:
        found, wrong = cells.times(pa.array([begin, end]))
        if wrong:
            raise RunError(
                f"--between has two times, such as 2026-03-01 or 2026-03-01T12:00, or two numbers: got "
                f"{quoted((begin, end)[wrong[0]])}"
            )
        low, high = found.tolist()
        day = re.fullmatch(r"\s*\d{4}-?\d\d-?\d\d\s*", end) is not None
        after = high + datetime.timedelta(days=1).total_seconds() if day else np.nextafter(high, np.inf)
        read = cells.times
    if not low < after:
        raise RunError(f"--between has the earlier end first: got {quoted(begin)} and {quoted(end)}")
    return low, float(after), read
