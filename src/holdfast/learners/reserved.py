"""A learner without a domain that k outliers cannot drive away: small bets, and a reserve."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.needs import EUCLIDEAN, Needs
from holdfast.norms import euclidean, gradient_size
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, scale_by

_LEAST, _MOST = 1e-100, 1e100  # of parameters: their products are floats
_RICHEST = 1e250  # wealth; beyond it nothing more is won


class ReservedState(NamedTuple):
    """The weights, and the sums that they follow from."""

    w: np.ndarray
    total: np.ndarray  # of the gradients learned from
    squares: float  # of their sizes
    relative: float  # Q, the sum of the squared sizes, each over a² of its round
    wealth: float
    top: float  # the largest wealth so far


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
        domain: Any = self.domain
        if self.k < 0:
            raise ValueError(f"k counts outliers, so it cannot be negative: got {self.k}")
        for name, value in (("size", self.size), ("radius", self.radius), ("tax", self.tax)):
            if not _LEAST <= value <= _MOST:
                raise ValueError(f"{name} must be positive, from 1e-100 to 1e100: got {value}")
        if domain.bounded():
            raise TypeError(f"Reserved has no domain: write Bounded(Reserved(...), {domain!r})")

    def needs(self) -> Needs:
        return Needs("any", EUCLIDEAN, "convex", True)

    def least_root(self) -> float:
        """H: a of the first round."""
        return max(self.size, self.k * self.size / self.tax)

    def tax_or_none(self) -> float:
        """What goes to the reserve, over what stays; without outliers none is needed."""
        return self.tax if self.k > 0 else 0.0

    def first_wealth(self) -> float:
        """ε: what may be lost against u = 0, without the tax."""
        return self.radius * self.least_root()

    def init(self, dim: int) -> ReservedState:
        wealth = self.first_wealth()
        return ReservedState(np.zeros(dim), np.zeros(dim), 0.0, 0.0, wealth, wealth)

    def valid(self, state: ReservedState) -> bool:
        sums = 0.0 <= state.squares < math.inf and 0.0 <= state.relative < math.inf
        return sums and 0.0 <= state.wealth <= state.top < math.inf

    def reset(self, state: ReservedState, dim: int) -> ReservedState:
        assign(state.w, np.zeros(dim))
        assign(state.total, np.zeros(dim))
        wealth = self.first_wealth()
        return ReservedState(state.w, state.total, 0.0, 0.0, wealth, wealth)

    def predict(self, state: ReservedState) -> Weights:
        return state.w

    def update(self, state: ReservedState, round: Round) -> ReservedState:
        slope, x = round.slope, round.x
        size = gradient_size(slope, x)
        if not size <= self.size:
            return state
        return bet(state, slope, x, size, self.least_root(), self.tax_or_none())

    def bound(self, state: ReservedState, u: np.ndarray) -> float:
        far, tax, first = euclidean(np.asarray(u, float)), self.tax_or_none(), self.first_wealth()
        safe = (1.0 + tax) * first
        if not far > 0.0:
            return safe
        root = math.sqrt(self.least_root() * self.least_root() + state.squares)
        reach = 2.0 * root * far
        grown = max(math.log(reach / first) + 0.5 * state.relative - 0.75, 0.0)
        kept = tax * max(math.log(2.0 * reach / first) - 1.0, 0.0)
        return safe + self.k * self.size * far + reach * (grown + kept)
