"""How far online gradient descent moves: the steps of the paper's two corollaries."""

import math

from holdfast.norms import TINY, hypotenuse
from holdfast.rule import rule


@rule
class Adaptive:
    """eta = scale D / sqrt(2 * sum of squared gradient lengths so far), of the corollary for convex losses.

    Needs to know neither the size of the gradients nor the number of rounds. While all gradients were
    zero there is nothing to learn, and the step is 0.

    Examples
    --------
    >>> step = Adaptive()
    >>> step.eta(step.accrued(0.0, size=2.0), diameter=2.0)
    0.7071067811865475
    """

    scale: float = 1.0

    def check(self) -> None:
        if not 0.0 < self.scale < math.inf:
            raise ValueError(f"scale multiplies the step, so it must be positive: got {self.scale}")

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

    Examples
    --------
    >>> step = StronglyConvex(sigma=2.0)
    >>> step.eta(step.accrued(0.0, size=3.0), diameter=1.0)
    0.5
    """

    sigma: float

    def check(self) -> None:
        if not 0.0 < self.sigma < math.inf:
            raise ValueError(
                f"sigma is the strong convexity of the losses, so it must be positive: got {self.sigma}"
            )

    def accrued(self, tally: float, size: float) -> float:
        return tally + 1.0

    def eta(self, tally: float, diameter: float) -> float:
        return 1.0 / (self.sigma * tally)

    def held(self, tally: float, diameter: float) -> float:
        """Nothing: the curvature of the losses pays for the distances."""
        return 0.0
