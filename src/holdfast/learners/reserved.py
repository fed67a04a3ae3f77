"""Learners without a domain that k outliers cannot drive away: small bets, and a reserve."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.needs import EUCLIDEAN, Needs, refuse_domain
from holdfast.norms import euclidean, gradient_size
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.sketches.largest import Largest
from holdfast.vectors import add, assign, dot, scale_by

_LEAST, _MOST = 1e-100, 1e100  # of parameters: their products are floats
_RICHEST = 1e250  # wealth; beyond it nothing more is won


class ReservedState(NamedTuple):
    w: np.ndarray
    total: np.ndarray  # of the gradients learned from
    squares: float  # of their sizes
    relative: float  # Q, the sum of the squared sizes, each over a² of its round
    wealth: float
    top: float  # the largest wealth so far


def check_parameters(rule: Any, *positive: str) -> None:
    if rule.k < 0:
        raise ValueError(f"k counts outliers, so it cannot be negative: got {rule.k}")
    for name in positive:
        if not _LEAST <= getattr(rule, name) <= _MOST:
            raise ValueError(f"{name} must be positive, from 1e-100 to 1e100: got {getattr(rule, name)}")
    refuse_domain(rule, f"has no domain, but Bounded({type(rule).__name__}(...), {rule.domain!r}) has one")


def first_state(dim: int, wealth: float) -> ReservedState:
    return ReservedState(np.zeros(dim), np.zeros(dim), 0.0, 0.0, wealth, wealth)


def begun(state: ReservedState, wealth: float) -> ReservedState:
    """The first state with this wealth, in the arrays of another one."""
    assign(state.w, np.zeros(len(state.w)))
    assign(state.total, np.zeros(len(state.w)))
    return ReservedState(state.w, state.total, 0.0, 0.0, wealth, wealth)


def sums_fit(state: ReservedState) -> bool:
    sums = 0.0 <= state.squares < math.inf and 0.0 <= state.relative < math.inf
    return sums and 0.0 <= state.wealth <= state.top < math.inf


def bet(state: ReservedState, slope: float, x: Any, size: float, first: float, tax: float) -> ReservedState:
    """The state after a gradient slope * x of this size; `first` is H. Without a reserve `tax` is 0."""
    top = state.top
    wealth = min(max(state.wealth - slope * dot(state.w, x), 0.0), _RICHEST)
    if wealth > top:
        top += (wealth - top) / (1.0 + tax)
        wealth = top
    relative = state.relative + size * size / (first * first + state.squares)
    squares = state.squares + size * size
    add(state.total, slope, x)
    a, far = math.sqrt(first * first + squares), euclidean(state.total)
    assign(state.w, state.total)
    scale_by(state.w, -0.5 * wealth / a / max(a, far))
    return ReservedState(state.w, state.total, squares, relative, wealth, top)


def bettor_bound(far: float, root: float, relative: float, wealth: float, tax: float) -> float:
    """(1+τ)ε + 2a‖u‖ [(ln(2a‖u‖/ε) + Q/2 - ¾)₊ + τ (ln(4a‖u‖/ε) - 1)₊]; a is `root`, ε is `wealth`."""
    safe, reach = (1.0 + tax) * wealth, 2.0 * root * far
    if not reach > 0.0:
        return safe
    grown = max(math.log(reach / wealth) + 0.5 * relative - 0.75, 0.0)
    return safe + reach * (grown + tax * max(math.log(2.0 * reach / wealth) - 1.0, 0.0))


@rule
class Reserved:
    """w = -G wealth / (2 a max(a, |G|)): a bettor that keeps a part of what it wins.

    G is the sum of the gradients, and a² = H² plus the sum of their squared sizes. Wealth grows by -<g, w>.
    `FreeGrad` can lose any amount by k wrong gradients that drive its weights away. This one bets at most a
    1/(2H) part of its wealth, where H is `k` times `size` over `tax`: k rounds can fake gains of at most half
    of `tax` times the largest wealth. From each gain above the largest wealth so far, a part tax / (1 + tax)
    goes to a reserve that is never bet. It pays for the faked gains.

    Gradients longer than `size` are outliers, and are skipped. A round costs O(dim).

    Parameters:
        k: How many of the rounds learned from may be outliers.
        size: No gradient of an inlier is longer. For a loss with slopes up to L and rows up to A it is L A.
        radius: A guess of the length of the best u. It is no limit: u may be longer, and the price is a
            logarithm.
        tax: A smaller one bets less, and keeps less.
        domain (Everywhere): There is no version of it for other domains.

    Guarantee: Theorem U (`docs/math.md`, 13): for every set of inliers that leaves out at most k of the
    rounds learned from, and every u. `bound` computes it, and `bounds.theorem_u` before the run.

    A thousand gradients, then k wrong ones, then the other way:

    >>> learner = Reserved(k=40)
    >>> state, lost = learner.init(dim=1), 0.0
    >>> for t in range(2000):
    ...     g = -1.0 if t < 1040 else 1.0
    ...     lost += 0.0 if 1000 <= t < 1040 else g * float(learner.predict(state)[0])
    ...     state = learner.update(state, Round(slope=g, x=np.ones(1)))
    >>> lost < learner.bound(state, [0.0])
    True
    >>> learner.bound(state, [0.0])
    80.0
    """

    k: int
    size: float = 1.0
    radius: float = 1.0
    tax: float = 1.0
    domain: Domain = Everywhere()

    def check(self) -> None:
        check_parameters(self, "size", "radius", "tax")

    def needs(self) -> Needs:
        return Needs("any", EUCLIDEAN, "convex", True)

    def least_root(self) -> float:
        """H: a of the first round."""
        return max(self.size, self.k * self.size / self.tax)

    def tax_or_none(self: Any) -> float:
        """What goes to the reserve, over what stays; without outliers none is needed."""
        return self.tax if self.k > 0 else 0.0

    def first_wealth(self: Any) -> float:
        """ε: what may be lost against u = 0, without the tax."""
        return self.radius * self.least_root()

    def init(self, dim: int) -> ReservedState:
        return first_state(dim, self.first_wealth())

    def valid(self, state: ReservedState) -> bool:
        return sums_fit(state)

    def reset(self, state: ReservedState, dim: int) -> ReservedState:
        return begun(state, self.first_wealth())

    def predict(self, state: ReservedState) -> Weights:
        return state.w

    def update(self, state: ReservedState, round: Round) -> ReservedState:
        slope, x = round.slope, round.x
        size = gradient_size(slope, x)
        if not size <= self.size:
            return state
        return bet(state, slope, x, size, self.least_root(), self.tax_or_none())

    def bound(self, state: ReservedState, u: np.ndarray) -> float:
        far, root = euclidean(np.asarray(u, float)), math.hypot(self.least_root(), math.sqrt(state.squares))
        most = bettor_bound(far, root, state.relative, self.first_wealth(), self.tax_or_none())
        return most + self.k * self.size * far


class ReservedEpochsState(NamedTuple):
    bettor: ReservedState  # its sums are in units of that size
    largest: Largest
    size: float  # the largest that is learned from, 0 before the first epoch
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
        check_parameters(self, "radius", "tax")
        if not 1.0 < self.slack <= _MOST:
            raise ValueError(f"slack is a factor above 1: got {self.slack}")

    needs = Reserved.needs

    def least_root(self) -> float:
        """H/h of an epoch: learned outliers and skipped inliers move wealth by at most half of the tax."""
        return max(1.0, (1.0 + self.slack / (self.slack - 1.0)) * self.k / self.tax)

    tax_or_none, first_wealth = Reserved.tax_or_none, Reserved.first_wealth

    def init(self, dim: int) -> ReservedEpochsState:
        bettor = first_state(dim, self.first_wealth())
        return ReservedEpochsState(bettor, Largest(np.zeros(self.k + 1)), 0.0, 0.0)

    def valid(self, state: ReservedEpochsState) -> bool:
        sizes = 0.0 <= state.size < math.inf and state.jumps >= 0.0 and state.largest.valid()
        return sums_fit(state.bettor) and sizes

    def reset(self, state: ReservedEpochsState, dim: int) -> ReservedEpochsState:
        bettor = begun(state.bettor, self.first_wealth())
        return ReservedEpochsState(bettor, state.largest.cleared(), 0.0, 0.0)

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
                if limit > 0.0:
                    slope, tax = round.slope / limit, self.tax_or_none()
                    bettor = bet(bettor, slope, round.x, size / limit, self.least_root(), tax)
            else:
                jumps += size * euclidean(bettor.w)
        if threshold > limit:
            limit = 2.0 * threshold
            bettor = begun(bettor, self.first_wealth())
        return ReservedEpochsState(bettor, largest, limit, jumps)
