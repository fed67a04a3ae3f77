"""A learner without a domain, brought into one (Cutkosky and Orabona, 2018; Cutkosky, 2020)."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import Needs
from holdfast.norms import euclidean
from holdfast.protocols import Domain, LearnerInDomain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot


class BoundedState(NamedTuple):
    """A learner's state, and its weights brought into the domain."""

    inner: Any
    w: np.ndarray
    out: np.ndarray  # how far out the learner's own are
    center: np.ndarray


@rule
class Bounded:
    """Play the point of `domain` nearest to what `learner` plays, which starts from the domain's center.

    A gradient that would push the learner further out loses its part in that direction. What remains is no
    larger, and the learner's regret on it is no smaller than the regret in the domain.

    Parameters:
        learner (a learner without a domain): Such as `Clipped(FreeGrad())`.

    Guarantee: that of the learner (`docs/math.md`, 9.5).

    >>> from holdfast.domains import Ball
    >>> from holdfast.learners import Clipped, FreeGrad
    >>> bounded = Bounded(Clipped(FreeGrad()), Ball(1.0))
    >>> state = bounded.init(dim=1)
    >>> for _ in range(100):
    ...     state = bounded.update(state, Round(slope=1.0, x=np.ones(1)))
    >>> bounded.predict(state)
    array([-1.])
    """

    learner: LearnerInDomain
    domain: Domain

    def check(self) -> None:
        learner: Any = self.learner
        if learner.domain.bounded():
            raise TypeError(f"Bounded is for learners without a domain, and this one has one: {learner!r}")

    def needs(self: Any) -> Needs | None:
        return self.learner.needs()

    def reads_rows(self: Any) -> bool:
        return self.learner.reads_rows()

    def needs_hints(self: Any) -> bool:
        return self.learner.needs_hints()

    def check_dim(self: Any, dim: int) -> None:
        self.learner.check_dim(dim)
        self.domain.check_dim(dim)

    def init(self, dim: int) -> BoundedState:
        center = self.domain.center(dim)
        return BoundedState(self.learner.init(dim), center.copy(), np.zeros(dim), center)

    def valid(self: Any, state: BoundedState) -> bool:
        return self.learner.valid(state.inner)

    def reset(self, state: BoundedState, dim: int) -> BoundedState:
        learner: Any = self.learner
        assign(state.w, state.center)
        assign(state.out, np.zeros(dim))
        return BoundedState(learner.reset(state.inner, dim), state.w, state.out, state.center)

    def predict(self, state: BoundedState) -> Weights:
        return state.w

    def gauge(self: Any, slope: float, x: Row) -> float:
        return self.learner.gauge(slope, x)

    def set_hint(self: Any, state: BoundedState, hint: float) -> BoundedState:
        return self.placed(self.learner.set_hint(state.inner, hint), state)

    def update(self, state: BoundedState, round: Round) -> BoundedState:
        slope, x = round.slope, round.x
        out, far = state.out, euclidean(state.out)
        along = slope * dot(out, x) / far if far > 0.0 else 0.0
        g = np.zeros(len(out))
        add(g, slope, x)
        if along < 0.0:
            add(g, -along / far, out)
        learner: Any = self.learner
        moved = learner.in_units(state.inner, Round(1.0, g, round.y, g, 0.0))
        return self.placed(learner.update(state.inner, moved), state)

    def placed(self, inner: Any, state: BoundedState) -> BoundedState:
        """The state with its weights in the domain."""
        assign(state.w, state.center)
        add(state.w, 1.0, self.learner.predict(inner))
        assign(state.out, state.w)
        w = self.domain.project(state.w)
        add(state.out, -1.0, w)  # 0, bit for bit, if nothing had to be projected
        return BoundedState(inner, w, state.out, state.center)

    def bound(self: Any, state: BoundedState, u: np.ndarray) -> float:
        return self.learner.bound(state.inner, np.asarray(u, float) - state.center)
