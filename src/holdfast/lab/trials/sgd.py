"""scikit-learn's StandardScaler and SGD, one row at a time: the same arithmetic, a thousand times as fast.

`tests/trials/test_sgd.py` compares it with scikit-learn itself. One row takes `partial_fit` most of a
millisecond, which for all streams and seeds would be a day.
"""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import add, dot, largest, scale_by

_ALPHA = 1e-4  # the strength of the penalty, as scikit-learn has it
_EPS = float(np.finfo(np.float64).eps)
_STEEPEST = 1e12
FED = 50  # the first rounds only feed the scaler


class Scale(NamedTuple):
    """Where the features are, how they vary, and what they are divided by."""

    mean: np.ndarray
    variance: np.ndarray
    width: np.ndarray

    @staticmethod
    def empty(dim):
        return Scale(np.zeros(dim), np.zeros(dim), np.ones(dim))

    def of(self, x):
        return (x - self.mean) / self.width


@rule
class Running:
    """`StandardScaler.partial_fit`."""

    def fitted(self, X):
        return Scale.empty(X.shape[1])

    def absorb(self, scale, n, x):
        """Let the n-th row move the figures; a feature that never varied is divided by 1."""
        for i in range(len(x)):
            total, squares = scale.mean[i] * (n - 1.0), scale.variance[i] * (n - 1.0)
            if n > 1.0:
                squares += (n - 1.0) / n * (total / (n - 1.0) - x[i]) ** 2
            scale.mean[i] = (total + x[i]) / n
            scale.variance[i] = squares / n
            rounding = n * _EPS * scale.variance[i] + (n * scale.mean[i] * _EPS) ** 2
            scale.width[i] = math.sqrt(scale.variance[i]) if scale.variance[i] > rounding else 1.0


@rule
class Still:
    """`RobustScaler`, fitted beforehand."""

    def fitted(self, X):
        low, middle, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        width = high - low
        return Scale(middle, np.zeros(X.shape[1]), np.where(width > 10.0 * _EPS, width, 1.0))

    def absorb(self, scale, n, x):
        pass


@rule
class Optimal:
    """The steps of `SGDClassifier`."""

    def at(self, t):
        return 1.0 / (_ALPHA * (1000.0 + t - 1.0))


@rule
class InverseScaling:
    """The steps of `SGDRegressor`."""

    def at(self, t):
        return 0.01 / math.pow(t, 0.25)


@rule
class Squared:
    """`squared_error`"""

    def slope(self, z, y):
        return z - y


@rule
class Huber:
    """`huber`, with its epsilon of 0.1; of a NaN it makes a slope all the same."""

    def slope(self, z, y):
        r = z - y
        if abs(r) <= 0.1:
            return r
        return 0.1 if r > 0.0 else -0.1


@rule
class Hinge:
    """`hinge`: 0 for a NaN."""

    def slope(self, z, y):
        return -y if z * y <= 1.0 else 0.0


@rule
class ModifiedHuber:
    """`modified_huber`: the squared hinge, but a line where the margin is below -1."""

    def slope(self, z, y):
        margin = z * y
        if margin >= 1.0:
            return 0.0
        return -2.0 * y * (1.0 - margin) if margin >= -1.0 else -4.0 * y


def one_pass(X, y, scaler, features, target_scaler, targets, loss, step, predictions):
    """Predict each round with what is known before it; then move the scales, then the weights.

    Where a weight is no longer finite scikit-learn raises. Returns how many rounds were played.
    """
    w, constant = np.zeros(X.shape[1]), 0.0
    for t in range(len(y)):
        if not (abs(constant) < math.inf and largest(w) < math.inf):
            return t
        n, goal = t + 1.0, y[t : t + 1]
        z = dot(w, features.of(X[t])) + constant
        predictions[t] = targets.mean[0] + targets.width[0] * z
        scaler.absorb(features, n, X[t])
        target_scaler.absorb(targets, n, goal)
        if t >= FED:
            x, aim = features.of(X[t]), targets.of(goal)[0]
            slope = loss.slope(dot(w, x) + constant, aim)
            eta = step.at(n - FED)
            if slope < -_STEEPEST:
                slope = -_STEEPEST
            elif slope > _STEEPEST:
                slope = _STEEPEST
            change = -eta * slope
            scale_by(w, max(0.0, 1.0 - eta * _ALPHA))
            add(w, change, x)
            constant += change
    return len(y)
