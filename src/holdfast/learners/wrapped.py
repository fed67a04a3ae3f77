"""Any learner, and the mean of its predictions; or with an L2 penalty on its weights."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import Needs, PassedOn, check_hints
from holdfast.protocols import Learner
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign


class AveragedState(NamedTuple):
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

    needs, reads_rows, valid, predict = PassedOn.needs, PassedOn.reads_rows, PassedOn.valid, PassedOn.predict

    def check_dim(self: Any, dim: int) -> None:
        check_hints(self.learner)
        self.learner.check_dim(dim)

    def init(self, dim: int) -> AveragedState:
        return AveragedState(self.learner.init(dim), np.zeros(dim), 0.0)

    def reset(self: Any, state: AveragedState, dim: int) -> AveragedState:
        assign(state.summed, np.zeros(dim))
        return AveragedState(self.learner.reset(state.inner, dim), state.summed, 0.0)

    def update(self, state: AveragedState, round: Round) -> AveragedState:
        add(state.summed, 1.0, self.learner.predict(state.inner))
        learner: Any = self.learner
        inner = learner.update(state.inner, learner.in_units(state.inner, round))
        return AveragedState(inner, state.summed, state.rounds + 1.0)

    def bound(self: Any, state: AveragedState, u: np.ndarray) -> float:
        return self.learner.bound(state.inner, u)


class PenalizedState(NamedTuple):
    inner: Any
    gradient: np.ndarray  # a buffer


@rule
class Penalized:
    """A learner of the losses f_t(w) + alpha / 2 ‖w‖²: its gradients are g_t + alpha w_t.

    A filter in front of it sees g_t alone. A round costs O(d), also with sparse rows.

    Parameters:
        learner: One that uses gradients only.
        alpha: The strength of the penalty.
        constant: Whether the last weight is a constant, which has no penalty.

    Guarantee: that of the learner, for the penalised losses. For the losses themselves none.

    >>> from holdfast.domains import Box
    >>> from holdfast.learners import AdaGrad
    >>> learner = Penalized(AdaGrad(Box(-10.0, 10.0), rate=0.1), alpha=1.0)
    >>> state = learner.init(dim=2)
    >>> for _ in range(1000):
    ...     state = learner.update(state, Round(-1.0, np.array([0.5, 0.0])))
    >>> learner.predict(state).round(1).tolist()
    [0.5, 0.0]
    """

    learner: Learner
    alpha: float
    constant: bool = True

    def check(self) -> None:
        if not 0.0 <= self.alpha < math.inf:
            raise ValueError(f"alpha is the strength of a penalty, at least 0: got {self.alpha}")

    reads_rows, valid, predict = PassedOn.reads_rows, PassedOn.valid, PassedOn.predict

    check_dim = Averaged.check_dim

    def needs(self: Any) -> Needs | None:
        needs = self.learner.needs()
        return needs if needs is None else needs._replace(proved=False)

    def init(self, dim: int) -> PenalizedState:
        return PenalizedState(self.learner.init(dim), np.zeros(dim))

    def reset(self: Any, state: PenalizedState, dim: int) -> PenalizedState:
        return PenalizedState(self.learner.reset(state.inner, dim), state.gradient)

    def update(self, state: PenalizedState, round: Round) -> PenalizedState:
        slope, x = round.slope, round.x
        g = state.gradient
        assign(g, np.zeros(len(g)))
        add(g, self.alpha, self.learner.predict(state.inner))
        if self.constant:
            g[-1] = 0.0
        add(g, slope, x)
        learner: Any = self.learner
        moved = learner.in_units(state.inner, Round(1.0, g, round.y, g, 0.0))
        return PenalizedState(learner.update(state.inner, moved), g)
