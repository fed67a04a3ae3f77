"""Scalers for the peers: scikit-learn's two, and one that forgets.

Each keeps its figures in `Moments` and changes them in place.
"""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rule

_EPS = float(np.finfo(np.float64).eps)


class Moments(NamedTuple):
    """The center and variance of each column, and the width that it is divided by."""

    mean: np.ndarray
    variance: np.ndarray
    width: np.ndarray

    @staticmethod
    def empty(dim):
        return Moments(np.zeros(dim), np.zeros(dim), np.ones(dim))

    def of(self, x):
        return (x - self.mean) / self.width


@rule
class Running:
    """`StandardScaler.partial_fit`: mean and standard deviation of all rows so far."""

    def fitted(self, X):
        return Moments.empty(X.shape[1])

    def absorb(self, moments, n, x):
        """Update the figures with the n-th row; a column that never varied is divided by 1."""
        for i in range(len(x)):
            total, squares = moments.mean[i] * (n - 1.0), moments.variance[i] * (n - 1.0)
            if n > 1.0:
                squares += (n - 1.0) / n * (total / (n - 1.0) - x[i]) ** 2
            moments.mean[i] = (total + x[i]) / n
            moments.variance[i] = squares / n
            rounding = n * _EPS * moments.variance[i] + (n * moments.mean[i] * _EPS) ** 2
            moments.width[i] = math.sqrt(moments.variance[i]) if moments.variance[i] > rounding else 1.0


@rule
class FadingScale:
    """Mean and standard deviation with weights that halve every `half_life` rounds."""

    half_life: float

    def fitted(self, X):
        return Moments.empty(X.shape[1])

    def absorb(self, moments, n, x):
        """Update the figures with the n-th row; a column without variance is divided by 1."""
        rate = max(1.0 / n, 1.0 - math.pow(0.5, 1.0 / self.half_life))
        for i in range(len(x)):
            deviation = x[i] - moments.mean[i]
            moments.mean[i] += rate * deviation
            moments.variance[i] = (1.0 - rate) * (moments.variance[i] + rate * deviation * deviation)
            rounding = (1e3 * moments.mean[i] * _EPS) ** 2
            moments.width[i] = math.sqrt(moments.variance[i]) if moments.variance[i] > rounding else 1.0


@rule
class Still:
    """`RobustScaler`, fitted to the first rows: median and quartiles, never changed."""

    def fitted(self, X):
        low, middle, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        width = high - low
        return Moments(middle, np.zeros(X.shape[1]), np.where(width > 10.0 * _EPS, width, 1.0))

    def absorb(self, moments, n, x):
        pass
