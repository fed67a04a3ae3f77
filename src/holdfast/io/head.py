"""The first rows of a source, and what is in their columns."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.io import cells
from holdfast.io.byte_stream import NOT_UTF8, TO_UTF8, SourceError
from holdfast.io.dates import time_form
from holdfast.io.forms import Form, form_of, numbers
from holdfast.io.rows import Batch
from holdfast.terminal import percent, quoted

ROWS = 10_000  # that are read before the guess
_READABLE = 0.9  # share of the cells of a column that must have its type; the others are faults


class Head(NamedTuple):
    """The first rows of a source, with all columns."""

    columns: dict[str, Any]
    rows: int
    faults: dict[int, str]
    decimal: str = "."  # the mark before the decimal places in texts
    dates: str = "auto"  # the order of day, month and year

    @staticmethod
    def of(batches: Sequence[Batch], decimal: str = ".", dates: str = "auto") -> "Head":
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
        return Head(columns, table.num_rows, faults, decimal, dates)

    def kind(self, name: str) -> str:
        """What is in a column: number, truth, time, text, sparse, empty, or other."""
        array = self.columns[name]
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
        as_numbers = functools.partial(cells.numbers, decimal=self.decimal)
        for found, read in (("truth", cells.booleans), ("number", as_numbers)):
            values, wrong = read(known)
            if len(wrong) <= (1.0 - _READABLE) * len(known):
                return found if np.isfinite(values).any() or found == "number" else "empty"
        if form_of(known.to_pylist(), self.decimal) is not None:
            return "number"
        return "text" if time_form("", known) is None else "time"

    def form(self, name: str) -> Form | None:
        """How the numbers of a column are written; None if all are written in the usual way."""
        array, decimal = self.columns[name], self.decimal
        if not cells.is_text(array):
            return None
        known = pc.drop_null(array)
        wrong = cells.numbers(known, decimal)[1]
        form = form_of(known.to_pylist(), decimal) if wrong else None
        if form == Form("", decimal) and all(form.read(known[i].as_py()) is None for i in wrong):
            return None
        return form

    def leading_zeros(self, name: str) -> str:
        """The first cell of a column that is a whole number after zeros, such as 00501; "" without one."""
        array = self.columns[name]
        if not cells.is_text(array):
            return ""
        padded = array.filter(pc.match_substring_regex(array, r"^\s*0\d+\s*$"))
        return padded[0].as_py().strip() if len(padded) else ""

    def unreadable(self, name: str, read: Callable[[Any], cells.Parsed]) -> str:
        """A sentence about the cells of a column that are neither missing nor of its type; "" if all are.

        `read` returns the values, and the positions of these cells.
        """
        array = self.columns[name]
        wrong = read(array)[1] if cells.is_text(array) else []
        if not wrong:
            return ""
        share, cell = percent(len(wrong) / len(array)), quoted(array[wrong[0]], 40)
        return f"{share} of the cells cannot be read, such as {cell}: these rows are skipped"

    def example(self, name: str, form: Form) -> str:
        """How the first cell that is not written in the usual way is read."""
        texts = pc.drop_null(self.columns[name]).to_pylist()
        text = next(text for text in texts if cells.number(text) is None and form.read(text) is not None)
        words = form.words()
        return f"{quoted(text, 40)} is read as {form.read(text) or 0.0:,.12g}" + (
            f": {words}" if words else ""
        )

    def numbers(self, name: str) -> np.ndarray:
        array, form = self.columns[name], self.form(name)
        return (numbers(array, form) if form is not None else cells.numbers(array, self.decimal))[0]

    def time_form(self, name: str) -> tuple[str, str] | None:
        return time_form(name, self.columns[name], self.dates)

    def examples(self, name: str) -> list[str]:
        array = self.columns[name]
        texts = cells.labels(array) if cells.can_be_labels(array.type) else pa.array([], pa.string())
        return pc.unique(pc.drop_null(texts.slice(0, 1_000))).slice(0, 3).to_pylist()

    def missing(self, name: str) -> np.ndarray:
        array = self.columns[name]
        if cells.is_text(array):
            array = pc.if_else(pc.is_in(array, pa.array(cells.NO_NUMBER)), None, array)
        return pc.is_null(array, nan_is_null=True).to_numpy(zero_copy_only=False)


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
    bad = sum(fault.endswith(NOT_UTF8) for batch in batches for fault in batch.faults.values())
    if bad > (1.0 - _READABLE) * rows:
        share = percent(bad / rows)
        raise SourceError(f"{source.name}: {share} of the first {rows:,} rows are {NOT_UTF8}; {TO_UTF8}")
    return raw, batches
