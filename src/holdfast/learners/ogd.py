"""Online gradient descent, the ALG of the paper's examples (section 3.1.1)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import EUCLIDEAN, Needs, check_positive
from holdfast.norms import L2, TINY, hypotenuse, row_length
from holdfast.protocols import Domain, Step, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign


@rule
class Adaptive:
    """eta = scale D / sqrt(2 * sum of squared gradient lengths so far), of the corollary for convex losses.

    Needs to know neither the size of the gradients nor the number of rounds. While all gradients were
    zero there is nothing to learn, and the step is 0.

    >>> step = Adaptive()
    >>> step.eta(step.accrued(0.0, size=2.0), diameter=2.0)
    0.7071067811865475
    """

    scale: float = 1.0

    def check(self) -> None:
        check_positive(self, "scale multiplies the step")

    def accrued(self, tally: float, size: float) -> float:
        """The root of the sum of squares: squares themselves would leave the range of floats at 1e154."""
        return hypotenuse(tally, size) if size > 0.0 else tally

    def eta(self, tally: float, diameter: float) -> float:
        eta = self.scale * diameter / math.sqrt(2.0) / tally if tally > TINY else 0.0
        return eta if eta < math.inf else 0.0

    def held(self, tally: float, diameter: float) -> float:
        """D² / (2 eta): how much of the regret the telescoping distances can hold."""
        return diameter * tally / (math.sqrt(2.0) * self.scale)


@rule
class StronglyConvex:
    """eta = 1 / (sigma n) in the n-th kept round, of the corollary for sigma-strongly convex losses.

    Skipped rounds do not count: the step of the paper's proof, which counts them, loses the curvature of
    the skipped inliers (`docs/math.md`, 3.2).

    >>> step = StronglyConvex(sigma=2.0)
    >>> step.eta(step.accrued(0.0, size=3.0), diameter=1.0)
    0.5
    """

    sigma: float

    def check(self) -> None:
        check_positive(self, "sigma is the strong convexity of the losses")

    def accrued(self, tally: float, size: float) -> float:
        return tally + 1.0

    def eta(self, tally: float, diameter: float) -> float:
        return 1.0 / (self.sigma * tally)

    def held(self, tally: float, diameter: float) -> float:
        """Nothing: the curvature of the losses pays for the distances."""
        return 0.0


_L2 = L2()
_ROUNDING = 1e-15  # of the domain's width: more than a step and its sum can be off
_FAR = 1e150  # a step that is longer than any domain is wide ends, after projection, where this one does


class OGDState(NamedTuple):
    w: np.ndarray
    tally: float  # what its step depends on: the root of the sum of squared sizes, or the number of updates
    width: float  # the diameter of the domain
    reach: float  # w is at most this far from the center
    paid: float  # half the sum of eta times squared size, as in the proof


@rule
class OGD:
    """w <- Π(w - eta g), from the middle of the domain.

    Parameters:
        domain: Where the weights may lie; Π is its Euclidean projection.
        step (Adaptive or StronglyConvex): How eta follows from the rounds learned from.

    Guarantee: With `Adaptive`, regret at most sqrt(2) D sqrt(Σ ‖g‖²) on the rounds learned from; with
    `StronglyConvex` and sigma-strongly convex losses, at most Σ ‖g_n‖² / (2 sigma n) (`docs/math.md`, 3.1 and
    3.2). Both in the Euclidean norm, without knowing the size of the gradients or the number of rounds.
    `bound` is D² / (2 eta) + ½ Σ eta ‖g‖², or its second half, which are no larger.

    >>> from holdfast.domains import Ball
    >>> ogd = OGD(Ball(1.0))
    >>> state = ogd.init(dim=2)
    >>> state = ogd.update(state, Round(slope=1.0, x=np.array([3.0, 0.0])))
    >>> ogd.predict(state).tolist()
    [-1.0, 0.0]
    """

    domain: Domain
    step: Step = Adaptive()

    def check(self) -> None:
        domain: Any = self.domain
        if isinstance(self.step, Adaptive) and not domain.bounded():
            raise ValueError(
                f"Adaptive steps are a share of the domain's diameter, and {domain!r} has none: "
                "use a bounded domain, such as Ball(radius)"
            )

    def needs(self) -> Needs:
        convex = "convex" if isinstance(self.step, Adaptive) else "strongly convex"
        return Needs("bounded" if convex == "convex" else "any", EUCLIDEAN, convex, True)

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self, dim: int) -> OGDState:
        return OGDState(self.domain.center(dim), 0.0, self.domain.diameter(_L2, dim), 0.0, 0.0)

    def reset(self, state: OGDState, dim: int) -> OGDState:
        assign(state.w, self.domain.center(dim))
        return OGDState(state.w, 0.0, state.width, 0.0, 0.0)

    def to_lazy(self: Any, state: OGDState, summed: bool) -> OGDState:
        return state._replace(w=self.domain.to_lazy(state.w, summed))

    def predict(self, state: OGDState) -> Weights:
        return state.w

    def update(self, state: OGDState, round: Round) -> OGDState:
        domain: Any = self.domain
        slope, x = round.slope, round.x
        length = row_length(slope, x)
        size = abs(float(slope)) * length
        tally = self.step.accrued(state.tally, size)
        eta = self.step.eta(tally, state.width)
        w, reach, paid = state.w, state.reach, state.paid + 0.5 * eta * size * size
        if eta * size > 0.0:
            scale = eta * slope if eta * size < _FAR else math.copysign(_FAR, slope) / length
            if abs(scale) < math.inf:
                add(w, -scale, x)
                w, reach = domain.project_with_reach(w, reach + eta * size + _ROUNDING * state.width)
            else:  # x is so short that no float stretches it that far
                paid = state.paid + state.width * size
        elif eta == 0.0:  # a size that counts as 0: the bound adds the most that it can cost
            paid = state.paid + state.width * size
        return OGDState(w, tally, state.width, reach, paid)

    def bound(self, state: OGDState, u: np.ndarray) -> float:
        return self.step.held(state.tally, state.width) + state.paid
