"""scikit-learn's SGD, one row at a time: the same arithmetic, a thousand times as fast.

`tests/lab/trials/test_sgd.py` compares it with scikit-learn. `partial_fit` takes most of a millisecond for a
row, which for all streams and seeds would be a day.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import add, dot, largest, scale_by

_ALPHA = 1e-4  # the strength of the penalty in scikit-learn
_STEEPEST = 1e12


class SGDState(NamedTuple):
    """The weights, and the constant."""

    w: np.ndarray
    constant: float


@rule
class SGD:
    """`SGDRegressor` or `SGDClassifier`, by its loss and its steps."""

    loss: Any
    step: Any

    def init(self, dim):
        return SGDState(np.zeros(dim), 0.0)

    def is_finite(self, state):
        return abs(state.constant) < math.inf and largest(state.w) < math.inf

    def output(self, state, x):
        return dot(state.w, x) + state.constant

    def learn(self, state, t, x, y):
        slope = self.loss.slope(self.output(state, x), y)
        eta = self.step.at(t)
        if slope < -_STEEPEST:
            slope = -_STEEPEST
        elif slope > _STEEPEST:
            slope = _STEEPEST
        change = -eta * slope
        scale_by(state.w, max(0.0, 1.0 - eta * _ALPHA))
        add(state.w, change, x)
        return SGDState(state.w, state.constant + change)


@rule
class OptimalStep:
    """The steps of `SGDClassifier`."""

    def at(self, t):
        return 1.0 / (_ALPHA * (1000.0 + t - 1.0))


@rule
class InverseScalingStep:
    """The steps of `SGDRegressor`."""

    def at(self, t):
        return 0.01 / math.pow(t, 0.25)


@rule
class ConstantStep:
    """`learning_rate="constant"`."""

    eta: float

    def at(self, t):
        return self.eta


@rule
class SquaredSlope:
    """The derivative of `squared_error`."""

    def slope(self, z, y):
        return z - y


@rule
class HuberSlope:
    """The derivative of `huber`, by default with scikit-learn's epsilon. For NaN it is not NaN, as there."""

    epsilon: float = 0.1

    def slope(self, z, y):
        r = z - y
        if abs(r) <= self.epsilon:
            return r
        return self.epsilon if r > 0.0 else -self.epsilon


@rule
class HingeSlope:
    """The derivative of `hinge`; 0 for NaN."""

    def slope(self, z, y):
        return -y if z * y <= 1.0 else 0.0


@rule
class LogSlope:
    """The derivative of `log_loss`."""

    def slope(self, z, y):
        return -y / (1.0 + math.exp(min(y * z, 500.0)))


@rule
class ModifiedHuberSlope:
    """The derivative of `modified_huber`: the squared hinge, but a line where the margin is below -1."""

    def slope(self, z, y):
        margin = z * y
        if margin >= 1.0:
            return 0.0
        return -2.0 * y * (1.0 - margin) if margin >= -1.0 else -4.0 * y
