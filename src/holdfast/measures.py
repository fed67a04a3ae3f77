"""Measures: what the size of a round is, which a filter judges."""

__all__ = ["Features", "Gradient", "LossForm", "Range", "Target"]

import math
from typing import Any

from holdfast.learners.needs import refuse_ranges
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import dot, spread


@rule
class Gradient:
    """Judge a round by the size of its gradient, as sections 3 and 4 of the paper do.

    If the slope is 0, the gradient is 0 and x is not read.
    """

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        return abs(round.slope) * size


@rule
class Features:
    """Judge a round by the size of its features alone (the Proposition)."""

    def reads_rows(self) -> bool:
        return True

    def is_of_row(self) -> bool:
        return True

    def name(self) -> str:
        return "features"

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        return size


@rule
class Target:
    """Judge a round by how far its target is from the center of the targets, in their unit.

    Both are those of a learner that scales its target, such as `Scaled(..., target=True)`; for others the
    size is 0. It is for the checks of `holdfast.Guarded`: `Filtered` measures in no units.
    """

    def name(self) -> str:
        return "target"

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        return abs(round.target)


@rule
class Range:
    """Judge a round by how far apart the losses of the experts are, for learners on the simplex.

    Adding a number to all losses changes neither the regret nor this size; the diameter for it is 1. But
    such a number ruins a learner that adapts to Euclidean sizes. So only learners whose bound depends on
    ranges (`needs().size`) are allowed: `AdaHedge`, `EG` and `Squint`.
    """

    def check_learner(self, learner: Any) -> None:
        refuse_ranges(learner)

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        return abs(round.slope) * spread(round.row) if round.slope != 0.0 else 0.0


@rule
class LossForm:
    """Judge a round by the most that its squared loss can differ from that of any u with ‖u‖ <= reach.

    For `VAW` and `OnlineRidge`, whose regret is a difference of losses: with prediction z and target y it is
    at most (|z| + r) (|z| / 2 + r / 2 + |y|) a round, r = reach ‖x‖. The diameter for it is 1.

    Parameters:
        reach: The length of the longest u to compare with.
    """

    reach: float

    def check(self) -> None:
        if not 0.0 < self.reach < math.inf:
            raise ValueError(f"reach is the length of a comparator, so it must be positive: got {self.reach}")

    def reads_rows(self) -> bool:
        return True

    def size_of(self, learner: Any, state: Any, norm: Any, round: Round, size: float) -> float:
        z, r = dot(learner.predict(state), round.x), self.reach * size
        return (abs(z) + r) * (0.5 * abs(z) + 0.5 * r + abs(z - round.slope))
