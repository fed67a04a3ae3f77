"""`Reserved` when nobody knows how large gradients are: epochs, in which the size is that of the inliers."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.needs import EUCLIDEAN, Needs
from holdfast.learners.reserved import ReservedState, bet
from holdfast.norms import euclidean, gradient_size
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.sketches.largest import Largest
from holdfast.vectors import assign

_LEAST, _MOST = 1e-100, 1e100  # of parameters


class ReservedEpochsState(NamedTuple):
    """The bettor of the epoch, the largest sizes so far, and the largest size that is learned from."""

    bettor: ReservedState  # its sums are in units of that size
    largest: Largest
    size: float  # 0 before the first epoch
    jumps: float  # the sum of ‖g‖‖w‖ over the kept rounds that were too large for their epoch


@rule
class ReservedEpochs:
    """A `Reserved` for each epoch, with the size that its own filter has found.

    It keeps a round if its size is at most `slack` times the (k+1)-th largest so far, as `TopK` does. An
    epoch ends after the round in which that threshold exceeds the size h of the epoch. The next one has twice
    the threshold as its h, and a new bettor that begins at 0. So h at least doubles each time.

    Put no filter before it.

    Parameters:
        k: How many of all rounds may be outliers, of any size.
        radius, tax: As in `Reserved`.
        slack: Of the filter, above 1.
        domain (Everywhere): There is no version of it for other domains.

    Guarantee: Theorem U′ (`docs/math.md`, 13), for every set of inliers that leaves out at most k rounds, and
    every u; `bounds.theorem_u_epochs` computes it. It has a term that depends on the weights when gradients
    suddenly become larger; without limits on both, some such term cannot be avoided.

    >>> learner = ReservedEpochs(k=5)
    >>> state = learner.init(dim=1)
    >>> for t in range(3000):  # the loss 7 |w - 3|; every 600th gradient is wrong
    ...     w = float(learner.predict(state)[0])
    ...     g = 1e9 if t % 600 == 50 else math.copysign(7.0, w - 3.0)
    ...     state = learner.update(state, Round(slope=g, x=np.ones(1)))
    >>> abs(float(learner.predict(state)[0]) - 3.0) < 0.5, state.size
    (True, 28.0)
    """

    k: int
    radius: float = 1.0
    tax: float = 1.0
    slack: float = 2.0
    domain: Domain = Everywhere()

    def check(self) -> None:
        domain: Any = self.domain
        if self.k < 0:
            raise ValueError(f"k counts outliers, so it cannot be negative: got {self.k}")
        for name, value in (("radius", self.radius), ("tax", self.tax)):
            if not _LEAST <= value <= _MOST:
                raise ValueError(f"{name} must be positive, from 1e-100 to 1e100: got {value}")
        if not 1.0 < self.slack <= _MOST:
            raise ValueError(f"slack is a factor above 1: got {self.slack}")
        if domain.bounded():
            raise TypeError(f"ReservedEpochs has no domain: write Bounded(ReservedEpochs(...), {domain!r})")

    def needs(self) -> Needs:
        return Needs("any", EUCLIDEAN, "convex", True)

    def least_root(self) -> float:
        """H/h of an epoch: learned outliers and skipped inliers move wealth by at most half of the tax."""
        return max(1.0, (1.0 + self.slack / (self.slack - 1.0)) * self.k / self.tax)

    def init(self, dim: int) -> ReservedEpochsState:
        wealth = self.radius * self.least_root()
        bettor = ReservedState(np.zeros(dim), np.zeros(dim), 0.0, 0.0, wealth, wealth)
        return ReservedEpochsState(bettor, Largest(np.zeros(self.k + 1)), 0.0, 0.0)

    def valid(self, state: ReservedEpochsState) -> bool:
        bettor = state.bettor
        sums = 0.0 <= bettor.squares < math.inf and 0.0 <= bettor.relative < math.inf
        sizes = 0.0 <= state.size < math.inf and state.jumps >= 0.0 and state.largest.valid()
        return sums and 0.0 <= bettor.wealth <= bettor.top < math.inf and sizes

    def reset(self, state: ReservedEpochsState, dim: int) -> ReservedEpochsState:
        return ReservedEpochsState(self.begun(state.bettor), state.largest.cleared(), 0.0, 0.0)

    def begun(self, bettor: ReservedState) -> ReservedState:
        """A new bettor, in the arrays of the old one."""
        assign(bettor.w, np.zeros(len(bettor.w)))
        assign(bettor.total, np.zeros(len(bettor.w)))
        wealth = self.radius * self.least_root()
        return ReservedState(bettor.w, bettor.total, 0.0, 0.0, wealth, wealth)

    def predict(self, state: ReservedEpochsState) -> Weights:
        return state.bettor.w

    def update(self, state: ReservedEpochsState, round: Round) -> ReservedEpochsState:
        bettor, largest, limit, jumps = state
        size = gradient_size(round.slope, round.x)
        if not 4.0 * self.slack * size < math.inf:  # too large to compute with
            return state
        largest = largest.push(size)
        threshold = self.slack * largest.smallest()
        if size <= threshold:
            if size <= limit:
                tax = self.tax if self.k > 0 else 0.0
                if limit > 0.0:
                    slope = round.slope / limit
                    bettor = bet(bettor, slope, round.x, size / limit, self.least_root(), tax)
            else:
                jumps += size * euclidean(bettor.w)
        if threshold > limit:
            limit = 2.0 * threshold
            bettor = self.begun(bettor)
        return ReservedEpochsState(bettor, largest, limit, jumps)
