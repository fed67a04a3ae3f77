"""Rows of numbers, with all their zeros or without: what a run asks of either."""

import numpy as np

from holdfast.adversaries import Replay
from holdfast.adversaries.sparsereplay import SparseReplay


class DenseRows:
    """A matrix of float64; NaN where a cell is missing."""

    def __init__(self, X):
        self.X = X

    def __len__(self):
        return len(self.X)

    def part(self, start, stop):
        return DenseRows(self.X[start:stop])

    def missing(self):
        """Which rows lack a cell."""
        return np.isnan(self.X).any(axis=1)

    def spoiled(self, rows):
        """The same with NaN in these rows, so that nobody learns from them."""
        X = self.X.copy()
        X[rows] = np.nan
        return DenseRows(X)

    def with_constant(self):
        return DenseRows(np.column_stack([self.X, np.ones(len(self.X))]))

    def replay(self, y, loss):
        return Replay(self.X, y, loss)

    def scores(self, p, which):
        """The sum of weighted features for each row, 0 where they are not all finite, with parameters `p`.

        `which` tells whose parameters are a row's; one place, if they are the same for all.
        """
        center, factors, weights, clip = (p[name][which] for name in ("center", "factors", "weights", "clip"))
        Z = np.clip((self.X - center) * factors, -clip[:, None], clip[:, None])
        sums = Z @ weights[0] if len(which) == 1 else (Z * weights).sum(axis=1)
        return np.where(np.isfinite(self.X).all(axis=1), sums, 0.0)


class SparseRows:
    """Compressed rows: those of row i are values[starts[i]:starts[i + 1]], in the columns `places`."""

    def __init__(self, values, places, starts, dim):
        self.values, self.places, self.starts, self.dim = values, places, starts, dim

    def __len__(self):
        return len(self.starts) - 1

    def part(self, start, stop):
        first, last = self.starts[start], self.starts[stop]
        starts = self.starts[start : stop + 1] - first
        return SparseRows(self.values[first:last], self.places[first:last], starts, self.dim)

    def missing(self):
        return self._any(np.isnan(self.values))

    def spoiled(self, rows):
        bad = np.zeros(len(self), bool)
        bad[rows] = True
        left = ~bad[self._owners()]
        nothing = np.flatnonzero(bad)
        return self._with(nothing, np.zeros(len(nothing), np.int64), np.full(len(nothing), np.nan), left)

    def with_constant(self):
        rows = np.arange(len(self))
        wider = SparseRows(self.values, self.places, self.starts, self.dim + 1)
        return wider._with(rows, np.full(len(rows), self.dim), np.ones(len(rows)))

    def replay(self, y, loss):
        return SparseReplay(self.values, self.places, self.starts, self.dim, y, loss)

    def scores(self, p, which):
        owners = self._owners()
        whose = which[owners] if len(which) > 1 else which[0]
        center, factors, weights = (p[name][whose, self.places] for name in ("center", "factors", "weights"))
        clip = p["clip"][whose]
        Z = np.clip((self.values - center) * factors, -clip, clip)
        sums = np.bincount(owners, Z * weights, len(self))
        return np.where(self._any(~np.isfinite(self.values)), 0.0, sums)

    def _owners(self):
        """The row of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def _any(self, wrong):
        return np.bincount(self._owners(), wrong, len(self)) > 0

    def _with(self, rows, places, values, left=slice(None)):
        """One more value in each of these rows, behind those that are left."""
        owners = np.concatenate([self._owners()[left], rows])
        order = np.argsort(owners, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(self)))])
        places = np.concatenate([self.places[left], places])[order]
        return SparseRows(np.concatenate([self.values[left], values])[order], places, starts, self.dim)
