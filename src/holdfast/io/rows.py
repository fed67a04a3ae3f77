"""Rows: as a source gives them (`Batch`, columns of Arrow), and as numbers (`DenseRows`, `SparseRows`)."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.adversaries import Replay
from holdfast.adversaries.sparsereplay import SparseReplay
from holdfast.terminal import quoted

# What a column is read as, unless the source has types of its own. A label or key is text, or the exact value
# of a number as text (`holdfast.io.cells.labels`).
NUMBER, TEXT, LABEL = "number", "text", "label"
_WIDE = ("center", "factors", "weights")  # parameters with one entry for each feature
_LIMITS = ("knee", "clip")  # parameters of standardised cells


class Batch(NamedTuple):
    """Some rows as columns of Arrow.

    A row that cannot be read stays in the batch: its cells are null, and `faults` has the reason. The run
    counts it as skipped.
    """

    columns: dict[str, Any]  # arrays of one length
    rows: np.ndarray  # the number of each row in the source, from 1
    faults: dict[int, str]  # what is wrong, by position in this batch

    @staticmethod
    def from_table(table, row, count, names):
        """These columns of a table that begins at this row; None if it does not have `count` rows."""
        if table.num_rows != count:
            return None
        columns = {name: table.column(name).combine_chunks() for name in names}
        return Batch(columns, np.arange(row, row + count), {})


def wrong_cell(column, value, what):
    """A sentence about a cell that cannot be read."""
    return f"column {quoted(column)}: {quoted(value, 40)} is {what}"


class DenseRows:
    """A matrix of float64; NaN where a cell is missing."""

    def __init__(self, X):
        self.X = X

    def __len__(self):
        return len(self.X)

    def part(self, start, stop):
        return DenseRows(self.X[start:stop])

    def take(self, rows):
        return DenseRows(self.X[rows])

    def missing(self):
        """Which rows have a missing cell."""
        with np.errstate(all="ignore"):
            if not np.isnan(self.X.sum()):  # takes a tenth of the time
                return np.zeros(len(self.X), bool)
        return np.isnan(self.X).any(axis=1)

    def with_nan(self, rows):
        """A copy with NaN in these rows, so that they are skipped."""
        X = self.X.copy()
        X[rows] = np.nan
        return DenseRows(X)

    def with_constant(self):
        return DenseRows(np.column_stack([self.X, np.ones(len(self.X))]))

    def replay(self, y, loss):
        return Replay(self.X, y, loss)

    def scores(self, p, models):
        """The sum of the weighted features of each row. One that is not finite counts as its center.

        `p` has the parameters of all models, `models` the model of each row, or one model for all rows.
        """
        center, factors, weights = (p[name][models] for name in _WIDE)
        Z = _seen((self.X - center) * factors, *(p[name][models, None] for name in _LIMITS))
        Z = np.where(np.isfinite(self.X), Z, 0.0)
        return np.ascontiguousarray(Z * weights).sum(axis=1)  # no BLAS: its bits depend on the number of rows

    def farthest(self, p, models, clip):
        """The column of each row that is farthest from its center, its value, the distance, and the sum of
        the squares of all distances. NaN where a cell is missing.

        Distances are in units of the scale of the model, and at most `clip`. `p` and `models` as in `scores`.
        """
        Z = np.minimum(np.abs((self.X - p["center"][models]) * p["factors"][models]), clip)
        rows, places = np.arange(len(self)), Z.argmax(axis=1)
        return places, self.X[rows, places], Z[rows, places], (Z * Z).sum(axis=1)


class SparseRows:
    """Compressed rows: row i has values[starts[i]:starts[i + 1]]. `places` has the column of each value."""

    def __init__(self, values, places, starts, dim):
        self.values, self.places, self.starts, self.dim = values, places, starts, dim

    @staticmethod
    def from_maps(maps, dim):
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

    def __len__(self):
        return len(self.starts) - 1

    def part(self, start, stop):
        first, last = self.starts[start], self.starts[stop]
        starts = self.starts[start : stop + 1] - first
        return SparseRows(self.values[first:last], self.places[first:last], starts, self.dim)

    def take(self, rows):
        counts = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        found = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], counts)
        return SparseRows(self.values[found], self.places[found], starts, self.dim)

    def missing(self):
        return self._any(np.isnan(self.values))

    def with_nan(self, rows):
        bad = np.zeros(len(self), bool)
        bad[rows] = True
        numbers = np.flatnonzero(bad)
        nan = np.full(len(numbers), np.nan)
        return self._with(numbers, np.zeros(len(numbers), np.int64), nan, ~bad[self._row_of()])

    def with_constant(self):
        rows = np.arange(len(self))
        wider = SparseRows(self.values, self.places, self.starts, self.dim + 1)
        return wider._with(rows, np.full(len(rows), self.dim), np.ones(len(rows)))

    def replay(self, y, loss):
        return SparseReplay(self.values, self.places, self.starts, self.dim, y, loss)

    def scores(self, p, models):
        row_of = self._row_of()
        model = models[row_of] if len(models) > 1 else models[0]
        center, factors, weights = (p[name][model, self.places] for name in _WIDE)
        limits = tuple(p[name][model] for name in _LIMITS)
        Z = _seen((self.values - center) * factors, *limits)
        Z = np.where(np.isfinite(self.values), Z, 0.0)
        if not p["center"].any():
            return np.bincount(row_of, Z * weights, len(self))
        zeros = _seen(-p["center"] * p["factors"], *(p[name][:, None] for name in _LIMITS))
        absent = (zeros * p["weights"]).sum(axis=1)[models]  # the score of a row of zeros
        return absent + np.bincount(row_of, (Z - zeros[model, self.places]) * weights, len(self))

    def farthest(self, p, models, clip):
        """As for dense rows, among the values that a row has."""
        row_of = self._row_of()
        model = models[row_of] if len(models) > 1 else models[0]
        center, factors = (p[name][model, self.places] for name in ("center", "factors"))
        Z = np.minimum(np.abs((self.values - center) * factors), clip)
        squares, filled = np.bincount(row_of, Z * Z, len(self)), np.diff(self.starts) > 0
        if not filled.any():
            return np.zeros(len(self), np.int64), np.zeros(len(self)), np.zeros(len(self)), squares
        last = np.lexsort((Z, row_of))[self.starts[1:] - 1]  # the farthest of each row that has values
        found = (np.where(filled, column[last], 0) for column in (self.places, self.values, Z))
        return *found, squares

    def _row_of(self):
        """The row of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def _any(self, wrong):
        return np.bincount(self._row_of(), wrong, len(self)) > 0

    def _with(self, rows, places, values, kept=slice(None)):
        """The values that are kept, and one more at the end of each of these rows."""
        row_of = np.concatenate([self._row_of()[kept], rows])
        order = np.argsort(row_of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=len(self)))])
        places = np.concatenate([self.places[kept], places])[order]
        return SparseRows(np.concatenate([self.values[kept], values])[order], places, starts, self.dim)


@np.errstate(all="ignore")
def squashed(Z, knee):
    """Standardised cells of many rows, with the logarithm beyond the knee (`holdfast.vectors.squash`)."""
    far = np.abs(Z) - knee
    return np.where(far > 0.0, np.copysign(knee + np.log1p(np.maximum(far, 0.0)), Z), Z)


def _seen(Z, knee, clip):
    """Standardised cells as the weights see them: with the logarithm beyond the knee, and clipped."""
    if np.min(knee, initial=np.inf) < np.inf:
        Z = squashed(Z, knee)
    return np.clip(Z, -clip, clip)
