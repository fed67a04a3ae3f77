"""A fitted linear model: the weights, and the scale of features and target."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

_BATCH = 2**20  # entries of a matrix that are standardised together


class FittedModel(NamedTuple):
    """Weights and constant. Without a scale of the features, `factors` and `center` are None."""

    weights: np.ndarray
    constant: float
    center: np.ndarray | None
    factors: np.ndarray | None
    clip: float
    y_center: float
    y_spread: float
    y_low: float
    y_high: float

    def coefficients(self):
        return self.y_spread * self.weights * (1.0 if self.factors is None else self.factors)

    def intercept(self):
        shift = 0.0 if self.center is None else self.weights @ (self.factors * self.center)
        return self.y_center + self.y_spread * (self.constant - shift)

    @np.errstate(all="ignore")
    def predict(self, X):
        """A number for every row. A row with NaN or infinity gets the prediction of the constant."""
        step = max(_BATCH // max(X.shape[1], 1), 1)
        parts = [self._standardise(X[part]) @ self.weights for part in gen_batches(X.shape[0], step)]
        z = np.concatenate(parts) + self.constant
        y = self.y_center + self.y_spread * np.where(np.isnan(z), self.constant, z)
        return np.clip(y, self.y_low, self.y_high)

    def _standardise(self, X):
        """The rows as the weights need them; zeros in rows with NaN or infinity."""
        if not sp.issparse(X):
            known = np.isfinite(X).all(axis=1)
            Z = np.where(known[:, None], X, 0.0)
            if self.factors is not None:
                Z = np.clip((Z - self.center) * self.factors, -self.clip, self.clip)
                Z[~known] = 0.0
            return Z
        unknown = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[~np.isfinite(X.data)]
        values = X.data.astype(np.float64)
        if self.factors is not None:
            values = np.clip(values * self.factors[X.indices], -self.clip, self.clip)
        for row in np.unique(unknown):
            values[X.indptr[row] : X.indptr[row + 1]] = 0.0
        return sp.csr_array((values, X.indices, X.indptr), X.shape)
