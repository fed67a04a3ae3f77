"""Learners brought into a domain: from everywhere (Cutkosky and Orabona, 2018), or from around 0."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.shifted import Shifted
from holdfast.learners.needs import PassedOn
from holdfast.norms import euclidean
from holdfast.protocols import Domain, Learner, LearnerInDomain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot


class BoundedState(NamedTuple):
    inner: Any
    w: np.ndarray  # in the domain
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

    needs, reads_rows, needs_hints = PassedOn.needs, PassedOn.reads_rows, PassedOn.needs_hints
    valid, gauge = PassedOn.valid, PassedOn.gauge

    def check_dim(self: Any, dim: int) -> None:
        self.learner.check_dim(dim)
        self.domain.check_dim(dim)

    def init(self, dim: int) -> BoundedState:
        center = self.domain.center(dim)
        return BoundedState(self.learner.init(dim), center.copy(), np.zeros(dim), center)

    def reset(self, state: BoundedState, dim: int) -> BoundedState:
        learner: Any = self.learner
        assign(state.w, state.center)
        assign(state.out, np.zeros(dim))
        return BoundedState(learner.reset(state.inner, dim), state.w, state.out, state.center)

    def predict(self, state: BoundedState) -> Weights:
        return state.w

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


class RecenteredState(NamedTuple):
    inner: Any
    w: np.ndarray  # as they are counted from 0
    offset: np.ndarray


@rule
class Recentered:
    """Play what `learner` plays, plus the `around` of `domain`; `AdaFTRL(Ball(1.0, around=2.0))` makes it.

    Moving w and u alike changes no regret, so that the learner's bound holds with u counted from there. A
    round costs O(dim) more than the learner's, sparse rows too.

    Parameters:
        learner (a learner in a domain around 0): What learns.
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

    needs, reads_rows, needs_hints = PassedOn.needs, PassedOn.reads_rows, PassedOn.needs_hints
    valid, gauge = PassedOn.valid, PassedOn.gauge

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self: Any, dim: int) -> RecenteredState:
        offset = np.zeros(dim) + self.domain.around
        return self.moved(self.learner.init(dim), np.zeros(dim), offset)

    def reset(self: Any, state: RecenteredState, dim: int) -> RecenteredState:
        return self.moved(self.learner.reset(state.inner, dim), state.w, state.offset)

    def predict(self, state: RecenteredState) -> Weights:
        return state.w

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
