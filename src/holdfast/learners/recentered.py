"""A learner in a domain around 0, moved to where the domain lies."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.shifted import Shifted
from holdfast.learners.needs import Needs
from holdfast.protocols import Domain, Learner, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign


class RecenteredState(NamedTuple):
    """A learner's state, and its weights as they are counted from 0."""

    inner: Any
    w: np.ndarray
    offset: np.ndarray


@rule
class Recentered:
    """Play what `learner` plays, plus the `around` of `domain`; `AdaFTRL(Ball(1.0, around=2.0))` makes it.

    Moving w and u alike changes no regret, so that the learner's bound holds with u counted from there. A
    round costs O(dim) more than the learner's, sparse rows too.

    Parameters:
        learner (a learner in a domain around 0):
        domain (Shifted): The same, elsewhere.

    Guarantee: that of the learner.

    >>> from holdfast.domains import Ball
    >>> from holdfast.learners import AdaFTRL
    >>> adaftrl = AdaFTRL(Ball(1.0, around=5.0))
    >>> state = adaftrl.update(adaftrl.init(dim=2), Round(slope=1.0, x=np.array([3.0, 0.0])))
    >>> adaftrl.predict(state).tolist()
    [4.5, 5.0]
    """

    learner: Learner
    domain: Domain

    def needs(self: Any) -> Needs | None:
        return self.learner.needs()

    def reads_rows(self: Any) -> bool:
        return self.learner.reads_rows()

    def needs_hints(self: Any) -> bool:
        return self.learner.needs_hints()

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self: Any, dim: int) -> RecenteredState:
        offset = np.zeros(dim) + self.domain.around
        return self.moved(self.learner.init(dim), np.zeros(dim), offset)

    def valid(self: Any, state: RecenteredState) -> bool:
        return self.learner.valid(state.inner)

    def reset(self: Any, state: RecenteredState, dim: int) -> RecenteredState:
        return self.moved(self.learner.reset(state.inner, dim), state.w, state.offset)

    def predict(self, state: RecenteredState) -> Weights:
        return state.w

    def gauge(self: Any, slope: float, x: Row) -> float:
        return self.learner.gauge(slope, x)

    def set_hint(self: Any, state: RecenteredState, hint: float) -> RecenteredState:
        return self.moved(self.learner.set_hint(state.inner, hint), state.w, state.offset)

    def update(self, state: RecenteredState, round: Round) -> RecenteredState:
        learner: Any = self.learner
        inner = learner.update(state.inner, learner.in_units(state.inner, round))
        return self.moved(inner, state.w, state.offset)

    def moved(self, inner: Any, w: np.ndarray, offset: np.ndarray) -> RecenteredState:
        """The state with the learner's weights where they belong."""
        assign(w, offset)
        add(w, 1.0, self.learner.predict(inner))
        return RecenteredState(inner, self.domain.project(w), offset)

    def bound(self: Any, state: RecenteredState, u: np.ndarray) -> float:
        return self.learner.bound(state.inner, np.asarray(u, float) - state.offset)


def placed(learner: Any) -> Recentered | None:
    """For `check` of a learner in domains around 0: what to use instead of it, if its domain is elsewhere."""
    if not isinstance(learner.domain, Shifted):
        return None
    centered = learner._asdict() | {"domain": learner.domain.domain}
    return Recentered(type(learner)(**centered), learner.domain)
