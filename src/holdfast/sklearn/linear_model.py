"""A fitted linear model: the weights, and the scale of features and target."""

import functools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from holdfast.io.rows import DenseRows, SparseRows, squashed
from holdfast.sklearn.cells import filled, has_missing
from holdfast.vectors import rescaled

_BATCH = 2**20  # entries of a matrix that are standardised together
_FEW = 2**12  # entries, of all models together


class FittedModel(NamedTuple):
    """Weights of standardised features, and of the constant; the scale of features and target."""

    weights: np.ndarray
    constant: float
    center: np.ndarray
    factors: np.ndarray
    clip: float
    y_center: float
    y_spread: float
    y_low: float
    y_high: float
    missing: float  # the largest share of the cells of a row that may be missing: they count as the center
    knee: float = np.inf  # features are linear up to here, then logarithmic (`holdfast.vectors.squash`)

    def coefficients(self):
        return rescaled(self.y_spread * self.weights, self.factors)

    def intercept(self):
        shift = self.weights @ (self.factors * self.center)
        return self.y_center + self.y_spread * (self.constant - shift)

    @np.errstate(all="ignore")
    def predict(self, X):
        """A number for every row. Cells that are missing or infinite count as the center of their column.

        If rows with missing cells are skipped, their prediction is that of the constant.
        """
        X = filled(X, self.center, self.missing)
        step, only = max(_BATCH // max(X.shape[1], 1), 1), np.zeros(1, int)
        names = ("center", "factors", "weights", "knee", "clip")
        p = {name: np.asarray([getattr(self, name)]) for name in names}
        scores = [_rows(X[part]).scores(p, only) for part in gen_batches(X.shape[0], step)]
        z = np.concatenate(scores) + self.constant
        if self.missing == 0.0:
            z[has_missing(X)] = np.nan
        y = self.y_center + self.y_spread * np.where(np.isnan(z), self.constant, z)
        return np.clip(y, self.y_low, self.y_high)


class Models(list):
    """The fitted models of an estimator."""

    def predict(self, X):
        """The predictions of every model, a column each."""
        if sp.issparse(X) or len(self) * X.size > _FEW or not np.isfinite(X).all():
            return np.column_stack([model.predict(X) for model in self])
        return self._predict_few(X)

    @np.errstate(all="ignore")
    def _predict_few(self, X):
        """All models together, which saves time for a few finite rows: the bits of `FittedModel.predict`."""
        weights, center, factors, clip, constant, y_center, y_spread, low, high = self._stacked
        Z = (X - center) * factors
        if self[0].knee < np.inf:
            Z = squashed(Z, self[0].knee)
        np.minimum(np.maximum(Z, -clip, out=Z), clip, out=Z)
        z = (Z * weights[:, None]).sum(axis=2).T + constant
        y = y_center + y_spread * np.where(np.isnan(z), constant, z)
        return np.minimum(np.maximum(y, low, out=y), high, out=y)

    @functools.cached_property
    def _stacked(self):
        columns = {name: np.array([getattr(model, name) for model in self]) for name in FittedModel._fields}
        wide = (columns[name][:, None] for name in ("center", "factors"))
        names = ("constant", "y_center", "y_spread", "y_low", "y_high")
        return (
            columns["weights"],
            *wide,
            columns["clip"][:, None, None],
            *(columns[name] for name in names),
        )


def _rows(X):
    return SparseRows(X.data, X.indices, X.indptr, X.shape[1]) if sp.issparse(X) else DenseRows(X)
