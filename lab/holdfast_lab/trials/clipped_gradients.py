"""Gradient clipping, as in the training of large models: a gradient that is too long is shortened."""

import math
from typing import Any

from holdfast.game import FilteredState
from holdfast.norms import L2
from holdfast.rounds import Round, Verdict
from holdfast.rule import rule
from holdfast.sketches import LogHistogram


@rule
class ClippedGradients:
    """A learner whose gradients are clipped at a running quantile of their sizes.

    Guarantee: none. The learner still learns from an outlier, in the outlier's direction, and every running
    figure is updated with it.
    """

    learner: Any
    quantile: float = 0.9
    norm: Any = L2()

    def init(self, dim):
        return FilteredState(self.learner.init(dim), LogHistogram.empty())

    def predict(self, state):
        return self.learner.predict(state.learner)

    def current_weights(self, state):
        return self.learner.predict(state.learner)

    def observe(self, state, round):
        round, slope = self.learner.in_units(state.learner, round), round.slope
        size = abs(slope) * self.norm.dual().of(round.row)
        if not size < math.inf:
            return state, Verdict(False, -1, (size,), (math.nan,), -1)
        memory = state.memory.push(size)
        memory, threshold = memory.at(math.ceil(self.quantile * memory.seen()))
        if size > threshold:
            slope = slope * (threshold / size)
        learner = self.learner.update(state.learner, Round(slope, round.x, round.y, round.row, round.target))
        return FilteredState(learner, memory), Verdict(True, -1, (size,), (threshold,), -1)
