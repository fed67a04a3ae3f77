"""FreeGrad: no step size, no domain, no scale (Mhammedi and Koolen, 2020)."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.needs import EUCLIDEAN, Needs, check_positive, refuse_domain
from holdfast.norms import euclidean, gradient_size, hypotenuse
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, scale_by

_LARGEST = 600.0  # exponent that a float has room for


class FreeGradState(NamedTuple):
    """The weights, and the sums that they follow from, in units of the hint."""

    w: np.ndarray
    total: np.ndarray  # of the gradients
    root: float  # sqrt V
    hint: float
    first: float  # hint


@rule
class FreeGrad:
    """w = -G epsilon h1² (2V + h|G|) / (2 (V + h|G|)² sqrt V) exp(|G|² / (2V + 2h|G|)), by hints.

    G is the sum of the gradients, V is h1² plus the sum of their squared sizes, h the hint, a size that none
    exceeds, and h1 the first hint. It grows its weights as a gambler grows wealth, so that it needs neither a
    step size nor a domain: its regret against u is in proportion to ‖u‖. `Clipped` gives the hints, `Bounded`
    a domain. A round costs O(dim).

    Parameters:
        epsilon: What may be lost against u = 0, in units of the first hint.
        domain (Everywhere): There is no version of it for other domains.

    Guarantee: NOT VERIFIED: the constants of `bound` are from the literature, as we recall them; no gradients
    that we tried exceeded it (`docs/math.md`, 9.6).

    >>> from holdfast.learners import Clipped
    >>> learner = Clipped(FreeGrad())
    >>> state = learner.init(dim=1)
    >>> for _ in range(30):
    ...     state = learner.update(state, Round(slope=1e9, x=np.ones(1)))
    >>> learner.predict(state).round(1)
    array([-84.3])
    """

    epsilon: float = 1.0
    domain: Domain = Everywhere()

    def check(self) -> None:
        check_positive(self, "epsilon is an amount to lose")
        refuse_domain(self, f"has no domain, but Bounded(Clipped(FreeGrad()), {self.domain!r}) has one")

    def needs(self) -> Needs:
        return Needs("any", EUCLIDEAN, "convex", False)

    def needs_hints(self) -> bool:
        return True

    def gauge(self, slope: float, x: Row) -> float:
        """The size of a gradient, as the hints mean it."""
        return gradient_size(slope, x)

    def init(self, dim: int) -> FreeGradState:
        return FreeGradState(np.zeros(dim), np.zeros(dim), 1.0, 0.0, 0.0)

    def reset(self, state: FreeGradState, dim: int) -> FreeGradState:
        assign(state.w, np.zeros(dim))
        assign(state.total, np.zeros(dim))
        return FreeGradState(state.w, state.total, 1.0, 0.0, 0.0)

    def set_hint(self, state: FreeGradState, hint: float) -> FreeGradState:
        if not hint > state.hint:
            return state
        if not state.hint > 0.0:
            return FreeGradState(state.w, state.total, 1.0, hint, hint)
        smaller = state.hint / hint
        scale_by(state.total, smaller)
        return self.placed(state, state.root * smaller, hint)

    def predict(self, state: FreeGradState) -> Weights:
        return state.w

    def update(self, state: FreeGradState, round: Round) -> FreeGradState:
        slope, x = round.slope, round.x
        if not state.hint > 0.0:
            return state
        size = self.gauge(slope, x) / state.hint
        add(state.total, slope / state.hint, x)
        return self.placed(state, hypotenuse(state.root, size), state.hint)

    def placed(self, state: FreeGradState, root: float, hint: float) -> FreeGradState:
        """The state with the weights that follow from its sums."""
        G, V, ratio = euclidean(state.total), root * root, state.first / hint
        assign(state.w, state.total)
        if G > 0.0:
            reach = self.epsilon * (ratio / root) * (ratio / (V + G)) * ((V + 0.5 * G) / (V + G))
            scale_by(state.w, -reach * math.exp(min(G * (G / (2.0 * V + 2.0 * G)), _LARGEST)))
        return FreeGradState(state.w, state.total, root, hint, state.first)

    def bound(self, state: FreeGradState, u: np.ndarray) -> float:
        far, h, h1 = euclidean(np.asarray(u, float)), state.hint, state.first
        if not far * h > 0.0:
            return self.epsilon * h1
        grown = math.log(state.root) + math.log(h / h1)
        slow = max(math.log(2.0 * far / self.epsilon) + 2.0 * grown, 0.0)
        fast = max(math.log(4.0 * far / self.epsilon) + grown + math.log(h / h1), 0.0)
        return h * max(2.0 * far * state.root * math.sqrt(slow), 4.0 * far * fast) + self.epsilon * h1
