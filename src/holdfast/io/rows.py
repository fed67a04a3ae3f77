"""Rows: as a source gives them (`Batch`, columns of Arrow), and as numbers (`DenseRows`, `SparseRows`)."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from holdfast.adversaries import Replay
from holdfast.adversaries.replay import SparseReplay
from holdfast.linear_model import LinearModels
from holdfast.terminal import quoted, visible

Farthest = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
# What a column is read as, unless the source has types of its own. A label or key is text, or the exact value
# of a number as text (`holdfast.io.cells.labels`).
NUMBER, TEXT, LABEL, BOOLEAN = "number", "text", "label", "boolean"


class Batch(NamedTuple):
    """Some rows as columns of Arrow.

    A row that cannot be read stays in the batch: its cells are null, and `faults` has the reason. The run
    counts it as skipped.
    """

    columns: dict[str, Any]  # arrays of one length
    rows: np.ndarray  # the number of each row in the source, from 1
    faults: dict[int, str]  # what is wrong, by position in this batch

    @staticmethod
    def from_table(table: Any, rows: np.ndarray, names: Iterable[str]) -> "Batch | None":
        """These columns of a table with these rows; None if it has another number of rows."""
        if table.num_rows != len(rows):
            return None
        return Batch({name: table.column(name).combine_chunks() for name in names}, rows, {})


class WrongCell(str):
    """A sentence about cells that cannot be read. The other cells of their row can be."""

    columns: tuple[str, ...]

    @staticmethod
    def of(column: str, value: Any, what: str) -> "WrongCell":
        found = WrongCell(f"column {quoted(column)}: {quoted(visible(value, 40))} is {what}")
        found.columns = (column,)
        return found


def both_faults(first: str | None, second: str | None) -> str | None:
    """What is wrong with a row that has two faults. One that leaves nothing of the row says it all."""
    if first is None or second is None:
        return first or second
    if not (isinstance(first, WrongCell) and isinstance(second, WrongCell)):
        return second if isinstance(first, WrongCell) else first
    found = WrongCell(f"{first}; {second}")
    found.columns = (*first.columns, *second.columns)
    return found


def unreadable(faults: Mapping[int, str]) -> list[int]:
    """The rows of which nothing can be read; of others only a cell cannot."""
    return [row for row, fault in faults.items() if not isinstance(fault, WrongCell)]


class DenseRows:
    """A matrix of float64; NaN where a cell is missing."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def part(self, start: int, stop: int) -> "DenseRows":
        return DenseRows(self.X[start:stop])

    def take(self, rows: np.ndarray) -> "DenseRows":
        return DenseRows(self.X[rows])

    def missing(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            if not np.isnan(self.X.sum()):  # takes a tenth of the time
                return np.zeros(len(self.X), bool)
        return np.isnan(self.X).any(axis=1)

    def with_nan(self, rows: Any) -> "DenseRows":
        """A copy with NaN in these rows, so that they are skipped."""
        X = self.X.copy()
        X[rows] = np.nan
        return DenseRows(X)

    def with_constant(self) -> "DenseRows":
        return DenseRows(np.column_stack([self.X, np.ones(len(self.X))]))

    def replay(self, y: np.ndarray, loss: Any) -> Replay:
        return Replay(self.X, y, loss)

    def scores(self, p: LinearModels, models: np.ndarray) -> np.ndarray:
        """The sum of the weighted features of each row. One that is not finite counts as its center.

        `models`: the model of each row, or one model for all rows.
        """
        return p.dense_scores(self.X, models)

    def farthest(self, p: LinearModels, models: np.ndarray, clip: float) -> Farthest:
        """The column of each row that is farthest from its center, its value, the distance, and the sum of
        the squares of all distances. A missing cell is at no distance.

        Distances are in units of the scale of the model, and at most `clip`. `p` and `models` as in `scores`.
        """
        Z = np.minimum(np.abs((self.X - p.center[models]) * p.factors[models]), clip)
        Z = np.where(np.isnan(self.X), 0.0, Z)
        rows, places = np.arange(len(self)), Z.argmax(axis=1)
        return places, self.X[rows, places], Z[rows, places], (Z * Z).sum(axis=1)


class SparseRows:
    """Compressed rows: row i has values[starts[i]:starts[i + 1]]. `places` has the column of each value."""

    def __init__(self, values: np.ndarray, places: np.ndarray, starts: np.ndarray, dim: int) -> None:
        self.values, self.places, self.starts, self.dim = values, places, starts, dim

    @staticmethod
    def from_maps(maps: Any, dim: int) -> "SparseRows":
        """Rows from maps of Arrow: index to value. If an index is there twice, its last value counts."""
        starts = maps.offsets.to_numpy().astype(np.int64)
        first, last = starts[0], starts[-1]
        places = maps.keys.to_numpy()[first:last]
        values = maps.items.to_numpy(zero_copy_only=False)[first:last]
        row_of = np.repeat(np.arange(len(maps)), np.diff(starts))
        known = places < dim
        codes = row_of[known] * dim + places[known]
        kept = np.flatnonzero(known)[len(codes) - 1 - np.unique(codes[::-1], return_index=True)[1]]
        counts = np.bincount(row_of[kept], minlength=len(maps))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return SparseRows(values[kept].astype(np.float64), places[kept].astype(np.int64), starts, dim)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def part(self, start: int, stop: int) -> "SparseRows":
        first, last = self.starts[start], self.starts[stop]
        starts = self.starts[start : stop + 1] - first
        return SparseRows(self.values[first:last], self.places[first:last], starts, self.dim)

    def take(self, rows: np.ndarray) -> "SparseRows":
        counts = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        found = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], counts)
        return SparseRows(self.values[found], self.places[found], starts, self.dim)

    def missing(self) -> np.ndarray:
        return np.bincount(self._row_of(), np.isnan(self.values), len(self)) > 0

    def with_nan(self, rows: Any) -> "SparseRows":
        bad = np.zeros(len(self), bool)
        bad[rows] = True
        numbers = np.flatnonzero(bad)
        nan = np.full(len(numbers), np.nan)
        return self._with(numbers, np.zeros(len(numbers), np.int64), nan, ~bad[self._row_of()])

    def with_constant(self) -> "SparseRows":
        rows = np.arange(len(self))
        wider = SparseRows(self.values, self.places, self.starts, self.dim + 1)
        return wider._with(rows, np.full(len(rows), self.dim), np.ones(len(rows)))

    def replay(self, y: np.ndarray, loss: Any) -> SparseReplay:
        return SparseReplay(self.values, self.places, self.starts, self.dim, y, loss)

    def scores(self, p: LinearModels, models: np.ndarray) -> np.ndarray:
        return p.sparse_scores(self.values, self.places, self.starts, models)

    def farthest(self, p: LinearModels, models: np.ndarray, clip: float) -> Farthest:
        """As for dense rows, among the values that a row has."""
        row_of = self._row_of()
        model = models[row_of] if len(models) > 1 else models[0]
        center, factors = p.center[model, self.places], p.factors[model, self.places]
        Z = np.minimum(np.abs((self.values - center) * factors), clip)
        Z = np.where(np.isnan(self.values), 0.0, Z)
        squares, filled = np.bincount(row_of, Z * Z, len(self)), np.diff(self.starts) > 0
        if not filled.any():
            return np.zeros(len(self), np.int64), np.zeros(len(self)), np.zeros(len(self)), squares
        last = np.lexsort((Z, row_of))[self.starts[1:] - 1]  # the farthest of each row that has values
        columns, values, far = (np.where(filled, column[last], 0) for column in (self.places, self.values, Z))
        return columns, values, far, squares

    def _row_of(self) -> np.ndarray:
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def _with(
        self, rows: np.ndarray, places: np.ndarray, values: np.ndarray, kept: Any = slice(None)
    ) -> "SparseRows":
        """The values that are kept, and one more at the end of each of these rows."""
        row_of = np.concatenate([self._row_of()[kept], rows])
        order = np.argsort(row_of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=len(self)))])
        places = np.concatenate([self.places[kept], places])[order]
        return SparseRows(np.concatenate([self.values[kept], values])[order], places, starts, self.dim)
