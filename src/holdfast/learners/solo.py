"""SOLO-FTRL: follow the leader, regularised by the gradients' size (Orabona and Pál, 2018)."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import EUCLIDEAN, Needs, check_positive
from holdfast.norms import TINY, euclidean, gradient_size, hypotenuse
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, scale_by


class SoloFTRLState(NamedTuple):
    w: np.ndarray
    direction: np.ndarray  # the sum of all gradients, divided by -root
    center: np.ndarray
    root: float  # of the sum of squared sizes
    paid: float  # what the rounds cost in the proof


@rule
class SoloFTRL:
    """w = argmin <w, sum of gradients> + strength / 2 ‖w - center‖² sqrt(Σ ‖g‖²), which is a projection.

    Free of scale: gradients a million times as large give the same weights. It needs no diameter, so the
    domain may be `Everywhere`. A round costs O(dim), sparse rows too.

    Parameters:
        strength: Of the regularisation. In a ball of radius R, 2 / R has the best bound.

    Guarantee: Regret against u at most (strength / 2 ‖u - center‖² + 2 / strength) sqrt(Σ ‖g‖²) + 2.4 V max
    ‖g‖ on the rounds learned from, with V = max ‖w - center‖ <= sqrt(rounds) / strength; `bound` is a sum
    that is no larger (`docs/math.md`, 9.2; smaller constants than in print).

    >>> from holdfast.domains import Everywhere
    >>> solo = SoloFTRL(Everywhere())
    >>> state = solo.init(dim=2)
    >>> for _ in range(4):
    ...     state = solo.update(state, Round(slope=1.0, x=np.array([3e9, 0.0])))
    >>> solo.predict(state).round(9).tolist()
    [-2.0, 0.0]
    """

    domain: Domain
    strength: float = 1.0

    def check(self) -> None:
        check_positive(self, "strength multiplies a regulariser")

    def needs(self) -> Needs:
        return Needs("any", EUCLIDEAN, "convex", True)

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self, dim: int) -> SoloFTRLState:
        return SoloFTRLState(self.domain.center(dim), np.zeros(dim), self.domain.center(dim), 0.0, 0.0)

    def reset(self, state: SoloFTRLState, dim: int) -> SoloFTRLState:
        assign(state.w, state.center)
        assign(state.direction, np.zeros(dim))
        return SoloFTRLState(state.w, state.direction, state.center, 0.0, 0.0)

    def predict(self, state: SoloFTRLState) -> Weights:
        return state.w

    def update(self, state: SoloFTRLState, round: Round) -> SoloFTRLState:
        slope, x = round.slope, round.x
        size = gradient_size(slope, x)
        if not size > TINY:
            return state
        w, before, root = state.w, state.root, hypotenuse(state.root, size)
        product = slope * (dot(w, x) - dot(state.center, x))
        scale_by(state.direction, before / root)
        add(state.direction, -slope / root, x)
        assign(w, state.center)
        add(w, 1.0 / self.strength, state.direction)
        return SoloFTRLState(
            self.domain.project(w),
            state.direction,
            state.center,
            root,
            state.paid + cost(size, product, before, root, self.strength),
        )

    def bound(self, state: SoloFTRLState, u: np.ndarray) -> float:
        far = euclidean(u - state.center)
        return 0.5 * self.strength * far * far * state.root + state.paid


def cost(size: float, product: float, before: float, root: float, strength: float) -> float:
    """The smaller of two bounds on what a round adds to the regret (`docs/math.md`, 9.2)."""
    sharp = size * (size / (2.0 * strength * root)) + (root - before) / root * product
    return min(sharp, size * (size / (2.0 * strength * before))) if before > 0.0 else sharp
