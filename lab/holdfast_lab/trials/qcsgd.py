"""QC-SGD: stochastic gradient descent, clipped at a rolling quantile of the gradients' lengths."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import add, dot

_ROOM = 100  # lengths in the buffer


class QCSGDState(NamedTuple):
    """The weights, the lengths of the last gradients, and the rounds."""

    w: np.ndarray
    lengths: np.ndarray
    rounds: int


@rule
class QCSGD:
    """Quantile-clipped SGD with a rolling quantile and a constant step.

    Restated from Merad and Gaïffas, "Robust stochastic optimization via gradient quantile clipping" (TMLR
    2024, arXiv 2309.17316): a gradient longer than the `quantile` of the last lengths is shortened to it.

    Guarantee: in the paper, for rounds that are i.i.d. but for a share of outliers. Here, behind a running
    scale, none.
    """

    step: float
    quantile: float

    def init(self, dim):
        return QCSGDState(np.zeros(dim), np.zeros(_ROOM), 0)

    def predict(self, state):
        return state.w

    def update(self, state, round):
        slope, x = round.slope, round.x
        length, rounds = abs(slope) * math.sqrt(dot(x, x)), state.rounds + 1
        state.lengths[state.rounds % _ROOM] = length
        stored = min(rounds, _ROOM)
        limit = np.sort(state.lengths[:stored])[min(int(self.quantile * stored), stored - 1)]
        if not length <= limit:
            slope *= limit / length
        add(state.w, -self.step * slope, x)
        return QCSGDState(state.w, state.lengths, rounds)
