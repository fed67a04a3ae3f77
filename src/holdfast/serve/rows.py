"""Rows of JSON as features: the texts that the log gets, and the numbers that the reader of the log makes.

A served row is learned from as a line of a CSV file. What `predict` sees must be the same bits, so both come
from the same texts.
"""

import math
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast.io import cells
from holdfast.io.columns import Category, Column, Hashed, Layout, Number, SparseColumns, Target
from holdfast.io.rows import Batch, DenseRows
from holdfast.terminal import Refusal, quoted

Cell = str | float | int | bool | None
Encode = Callable[[str, np.ndarray], bool]  # write a text into features; whether the cell is usual


class ServedRow(NamedTuple):
    """A row as the texts of its cells, in the order of the layout, and as features.

    `plain` says that no cell is missing or wrong, so that nothing has to be said about it.
    """

    texts: list[str]
    x: np.ndarray
    plain: bool


class RowReader:
    def __init__(self, layout: Layout, most_columns: int, longest: int) -> None:
        if layout.is_sparse():
            raise Refusal(
                "this run has learned from sparse rows of svmlight, which have no names: it cannot be served"
            )
        self.layout, self._longest, self._most = layout, longest, most_columns
        self._width = layout.feature_count()
        self._plans: list[tuple[str, bool, int, int, Encode]] = []
        place = 0
        for column in layout.columns:
            width = len(column.features())
            self._plans.append((column.name, _is_number(column), place, place + width, encoder(column)))
            place += width
        self._names = {column.name for column in layout.columns}

    def read(self, row: Mapping[str, Cell]) -> ServedRow:
        """A row; raises Refusal if it cannot be one."""
        if len(row) > self._most:
            raise Refusal(
                f"a row has {len(row):,} columns, and the limit is {self._most:,}: leave out those that are "
                "not needed"
            )
        if self._names.isdisjoint(row):
            raise Refusal(
                "a row has none of the columns of the model: it needs "
                + _listed([column.name for column in self.layout.columns])
            )
        x, plain, texts = np.empty(self._width), True, []
        for name, number, start, stop, encode in self._plans:
            value = row.get(name)
            if number and type(value) is float:
                if not math.isfinite(value):
                    raise Refusal(
                        f"column {quoted(name)}: the number is not finite; null means a missing cell"
                    )
                texts.append(repr(value))
                x[start] = value
                if stop - start == 2:
                    x[start + 1] = 0.0
                continue
            text = cell_text(name, value, number, self._longest)
            texts.append(text)
            plain &= encode(text, x[start:stop])
        return ServedRow(texts, x, plain)

    def batch(self, rows: list[ServedRow]) -> tuple[DenseRows, dict[int, str]]:
        """Rows as the reader of the log sees them, and what is wrong with each."""
        columns = {}
        for i, column in enumerate(self.layout.columns):
            texts = pa.array([row.texts[i] for row in rows], pa.string())
            columns[column.name] = cells.without_missing(texts)
        found, faults = self.layout.rows(
            Batch(columns, np.arange(len(rows)), {}), 0, len(rows), forgiving=True
        )
        assert isinstance(found, DenseRows)
        return found, faults


def cell_text(name: str, value: Cell, number: bool, longest: int) -> str:
    """The text of a value of JSON, as a CSV file has it; raises Refusal if it has none."""
    if value is None:
        return ""
    if isinstance(value, str):
        if len(value) > longest:
            raise Refusal(
                f"column {quoted(name)}: a text of {len(value):,} characters, and the limit is {longest:,}"
            )
        if not value.isprintable() and any(mark in value for mark in "\n\r\0"):
            raise Refusal(f"column {quoted(name)}: a cell cannot contain a line end or a zero byte")
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise Refusal(
            f"column {quoted(name)}: the number is not finite, or too large for a float64; null means a "
            "missing cell"
        )
    return repr(found) if number else str(cells.label(value))


def encoder(column: Column) -> Encode:
    """How the text of a cell becomes features, as `Column.write` does it for many."""
    if isinstance(column, Number) and _is_number(column):
        return _number_encoder(column)
    if isinstance(column, Category):
        places = {value: i for i, value in enumerate(column.values)}
        return lambda text, x: _one_hot(text, x, places.get(text, -1))
    if isinstance(column, Hashed):
        return lambda text, x: _one_hot(text, x, zlib.crc32(text.encode()) % column.groups)

    assert not isinstance(column, SparseColumns)

    def encode(text: str, x: np.ndarray) -> bool:
        wrong, _ = column.write(cells.without_missing(pa.array([text], pa.string())), x[None, :])
        return not wrong and not bool(np.isnan(x).any())

    return encode


def _number_encoder(column: Number) -> Encode:
    def encode(text: str, x: np.ndarray) -> bool:
        found = cells.number(text)
        value = math.nan if found is None else found
        missing = math.isnan(value)
        x[0] = value
        if column.middle is not None:
            x[0] = column.middle if missing else value
            x[1] = missing
        return found is not None and (not missing or column.middle is not None) and not math.isinf(value)

    return encode


def _one_hot(text: str, x: np.ndarray, place: int) -> bool:
    """Write the feature of a value; return whether the value is missing or known."""
    x[:] = 0.0
    missing = text.strip() in cells.MISSING
    if not missing and place >= 0:
        x[place] = 1.0
    return missing or place >= 0


def _is_number(column: Column) -> bool:
    return isinstance(column, Number) and column.form is None and not column.truth


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(quoted, names[:10])) + more


def target_text(target: Target, value: Any, longest: int) -> str:
    """The text of a target; raises Refusal if the run cannot learn from it."""
    text = cell_text(target.name, value, target.regression and target.form is None, longest)
    if text.strip() in cells.NO_NUMBER:
        raise Refusal("the target is missing: a label without a value says nothing")
    if target.regression:
        found = cells.number(text) if target.form is None else target.form.read(text)
        if found is None or not math.isfinite(found):
            raise Refusal(f"the target {quoted(text)} is not a finite number")
    elif text not in target.labels:
        raise Refusal(f"the target {quoted(text)} is none of the labels {_listed(list(target.labels))}")
    return text


def target_number(target: Target, text: str) -> float:
    if not target.regression:
        return float(target.labels.index(text))
    found = cells.number(text) if target.form is None else target.form.read(text)
    assert found is not None
    return found
