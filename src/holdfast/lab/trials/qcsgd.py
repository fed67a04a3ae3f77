"""QC-SGD: stochastic gradient descent, clipped at a rolling quantile of the gradients' lengths."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import add, dot, largest

_ROOM = 100  # lengths in the buffer


class QCSGDState(NamedTuple):
    """Weights, constant, and the lengths of the last gradients."""

    w: np.ndarray
    constant: float
    lengths: np.ndarray


@rule
class QCSGD:
    """Quantile-clipped SGD with a rolling quantile and a constant step.

    Restated from Merad and Gaïffas, "Robust stochastic optimization via gradient quantile clipping" (TMLR
    2024, arXiv 2309.17316): a gradient longer than the `quantile` of the last lengths is shortened to it.

    Guarantee: in the paper, for rounds that are i.i.d. with a share of outliers; with standardised columns
    and an unclipped scaler, as here, none.
    """

    loss: Any
    step: float
    quantile: float

    def init(self, dim):
        return QCSGDState(np.zeros(dim), 0.0, np.zeros(_ROOM))

    def is_finite(self, state):
        return abs(state.constant) < math.inf and largest(state.w) < math.inf

    def output(self, state, x):
        return dot(state.w, x) + state.constant

    def learn(self, state, t, x, y):
        slope = self.loss.slope(self.output(state, x), y)
        length = abs(slope) * math.sqrt(dot(x, x) + 1.0)
        state.lengths[int(t - 1.0) % _ROOM] = length
        seen = int(min(t, float(_ROOM)))
        limit = np.sort(state.lengths[:seen])[min(int(self.quantile * seen), seen - 1)]
        if not length <= limit:
            slope *= limit / length
        change = -self.step * slope
        add(state.w, change, x)
        return QCSGDState(state.w, state.constant + change, state.lengths)
