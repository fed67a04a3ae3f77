"""Any learner, and the mean of its predictions."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import Needs, check_hints
from holdfast.protocols import Learner, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign


class AveragedState(NamedTuple):
    """A learner's state, and the sum of its predictions."""

    inner: Any
    summed: np.ndarray  # the predictions of the rounds learned from
    rounds: float


@rule
class Averaged:
    """Learn as `learner` does, and keep the sum of the weights that it predicted with.

    Online-to-batch conversion uses the mean. Inside `Scaled` it is the mean of the weights of
    standardised features, which can be used with the scales as they are at the end. A round costs O(dim),
    sparse rows too.

    Parameters:
        learner: Such as `AdaGrad(Box(-10, 10))`.

    Guarantee: that of the learner.

    >>> from holdfast.domains import Ball
    >>> from holdfast.learners import OGD
    >>> averaged = Averaged(OGD(Ball(1.0)))
    >>> state = averaged.init(dim=1)
    >>> for slope in (1.0, 1.0, -1.0, -1.0):
    ...     state = averaged.update(state, Round(slope, np.ones(1)))
    >>> (state.summed / state.rounds).round(3).tolist()
    [-0.546]
    """

    learner: Learner

    def needs(self: Any) -> Needs | None:
        return self.learner.needs()

    def reads_rows(self: Any) -> bool:
        return self.learner.reads_rows()

    def check_dim(self: Any, dim: int) -> None:
        check_hints(self.learner)
        self.learner.check_dim(dim)

    def init(self, dim: int) -> AveragedState:
        return AveragedState(self.learner.init(dim), np.zeros(dim), 0.0)

    def valid(self: Any, state: AveragedState) -> bool:
        return self.learner.valid(state.inner)

    def reset(self: Any, state: AveragedState, dim: int) -> AveragedState:
        assign(state.summed, np.zeros(dim))
        return AveragedState(self.learner.reset(state.inner, dim), state.summed, 0.0)

    def predict(self, state: AveragedState) -> Weights:
        return self.learner.predict(state.inner)

    def update(self, state: AveragedState, round: Round) -> AveragedState:
        add(state.summed, 1.0, self.learner.predict(state.inner))
        learner: Any = self.learner
        inner = learner.update(state.inner, learner.in_units(state.inner, round))
        return AveragedState(inner, state.summed, state.rounds + 1.0)

    def bound(self: Any, state: AveragedState, u: np.ndarray) -> float:
        return self.learner.bound(state.inner, u)
