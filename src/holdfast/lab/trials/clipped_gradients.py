"""Gradient clipping, as in the training of large models: a gradient that is too long is shortened."""

import math
from typing import Any

from holdfast.game import Decision, FilteredState
from holdfast.norms import L2
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
        return FilteredState(self.learner.init(dim), LogHistogram.empty(), 0.0)

    def predict(self, state):
        return self.learner.predict(state.learner)

    def current_weights(self, state):
        return self.learner.predict(state.learner)

    def set_target(self, state, y):
        return FilteredState(self.learner.set_target(state.learner, y), state.memory, y)

    def observe(self, state, slope, x):
        size = abs(slope) * self.norm.dual().of(self.learner.transform_row(state.learner, x))
        if not size < math.inf:
            return state, Decision(False, size, math.nan)
        memory = state.memory.push(size)
        memory, threshold = memory.at(math.ceil(self.quantile * memory.seen()))
        if size > threshold:
            slope = slope * (threshold / size)
        return FilteredState(self.learner.update(state.learner, slope, x), memory, state.y), Decision(
            True, size, threshold
        )
