"""The random streams of Theorems 6 and 7, on which no learner does better than a multiple of k."""

from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import check_budget, frozen, signs
from holdfast.adversaries.gradients import Gradients
from holdfast.domains import Interval
from holdfast.protocols import Row, Weights
from holdfast.rule import replaced, rule


@rule
class IidLowerBound:
    """f_t(w) = G ξ_t w on [-W, W], where ξ_t is +1 or -1 with probability one half.

    No learner can predict ξ_t, so the mean loss of every learner is 0. Let ζ be another random sign. The
    outliers are those of the first k rounds with ξ_t ≠ ζ, and the comparator is u = -W ζ, which gains G W in
    each of the other first k rounds, about k/2 of them. All sizes are equal, so no filter finds the outliers.

    Parameters
    ----------
    k
        The largest number of outliers; on average half of it is used.
    rounds
        At least k.
    G, W : float
        The size of every gradient, and half the width D of the domain.
    seed
        For ξ and ζ.

    Attributes
    ----------
    zeta
        ζ.
    inliers : bool array
        S_ζ ∪ {k+1, ..., T}.
    comparator : array
        u.
    domain : Interval
        The domain of the learner.

    Guarantee
    ---------
    The expected robust regret of every learner is exactly D G k / 4 (`docs/math.md`, 3.4).

    Examples
    --------
    >>> coins = IidLowerBound(k=4, rounds=6, seed=3)
    >>> coins.stream.G[:, 0], coins.zeta
    (array([ 1., -1., -1., -1., -1.,  1.]), 1.0)
    >>> coins.inliers
    array([ True, False, False, False,  True,  True])
    >>> coins.comparator, coins.domain
    (array([-1.]), Interval(low=-1.0, high=1.0, dim=1))
    """

    k: int
    rounds: int
    G: float = 1.0
    W: float = 1.0
    seed: int = 0
    stream: Any = None
    zeta: Any = None
    inliers: Any = None
    comparator: Any = None
    domain: Any = None

    def check(self) -> Any:
        check_budget(self.k, self.rounds)
        rng = np.random.default_rng(self.seed)
        xi, zeta = signs(rng, self.rounds), float(signs(rng, 1)[0])
        inliers = xi == zeta
        inliers[self.k :] = True
        return replaced(
            self,
            stream=Gradients(self.G * xi[:, None]),
            zeta=zeta,
            inliers=frozen(inliers),
            comparator=frozen(np.array([-self.W * zeta])),
            domain=Interval(-self.W, self.W),
        )

    extent, start, reveal = draws.extent, draws.start, draws.reveal


@rule
class StronglyConvexLowerBound:
    """f_t(w) = σ/2 (w - W ξ_t)² for t ≤ k and σ/2 (w - W ζ)² from then on, on [-W, W].

    ξ_t and ζ are random signs, so E (w_t - W ξ_t)² ≥ W² for every w_t and t ≤ k. The outliers are those of
    the first k rounds with ξ_t ≠ ζ, so u = W ζ has no loss on the inliers. The rounds are not i.i.d.: those
    after round k reveal ζ, but by then the learner has paid.

    Parameters
    ----------
    k
        The largest number of outliers; on average half of it is used.
    rounds
        At least k.
    sigma, W : float
        The curvature of every loss, and half the width of the domain.
    seed
        For ξ and ζ.

    Attributes
    ----------
    targets : array
        W ξ_t, and W ζ after round k.
    zeta, inliers, comparator, domain
        ζ, S_ζ ∪ {k+1, ..., T} as a mask, u and [-W, W].

    Guarantee
    ---------
    The expected robust regret of every learner is at least σ W² k / 4, and G(𝒮) ≤ 2 σ W, so it is at least
    G(𝒮)² k / (16 σ) (`docs/math.md`, 3.4, which corrects slips of the paper).

    Examples
    --------
    >>> bowls = StronglyConvexLowerBound(k=3, rounds=5, W=2.0, seed=1)
    >>> bowls.targets, bowls.inliers
    (array([-2.,  2.,  2., -2., -2.]), array([ True, False, False,  True,  True]))
    >>> _, loss, slope, x = bowls.reveal(bowls.start(), 0, np.array([1.0]))
    >>> float(loss), float(slope * x[0])
    (4.5, 3.0)
    """

    k: int
    rounds: int
    sigma: float = 1.0
    W: float = 1.0
    seed: int = 0
    targets: Any = None
    zeta: Any = None
    inliers: Any = None
    comparator: Any = None
    domain: Any = None

    def check(self) -> Any:
        check_budget(self.k, self.rounds)
        if not self.sigma > 0.0:
            raise ValueError(f"sigma is a curvature and must be positive: got {self.sigma}")
        rng = np.random.default_rng(self.seed)
        xi, zeta = signs(rng, self.rounds), float(signs(rng, 1)[0])
        xi[self.k :] = zeta
        return replaced(
            self,
            targets=frozen(self.W * xi),
            zeta=zeta,
            inliers=frozen(xi == zeta),
            comparator=frozen(np.array([self.W * zeta])),
            domain=Interval(-self.W, self.W),
        )

    def extent(self) -> tuple[int, int]:
        return self.rounds, 1

    def start(self) -> Any:
        return 0

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        off = w[0] - self.targets[t]
        return state, 0.5 * self.sigma * off * off, self.sigma * off, np.ones(1)
