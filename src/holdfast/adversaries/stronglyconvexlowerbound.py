"""The adversary of the second lower bound (section 3.2, "Lower Bound for Strongly Convex Losses")."""

from typing import Any

import numpy as np

from holdfast.adversaries.draws import check_budget, frozen, signs
from holdfast.domains import Interval
from holdfast.rule import rule


@rule
class StronglyConvexLowerBound:
    """f_t(w) = σ/2 (w - W ξ_t)² for t ≤ k and σ/2 (w - W ζ)² from then on, on [-W, W].

    ξ_t and ζ are random signs, so E (w_t - W ξ_t)² ≥ W² for every w_t and t ≤ k. The outliers are those of
    the first k rounds with ξ_t ≠ ζ, so u = W ζ has no loss on the inliers. The rounds are not i.i.d.: those
    after round k reveal ζ, but by then the learner has paid.

    Parameters
    ----------
    k : int
        The largest number of outliers; on average half of it is used.
    rounds : int
        At least k.
    sigma, W : float
        The curvature of every loss, and half the width of the domain.
    seed : int
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

    def check(self):
        check_budget(self.k, self.rounds)
        if not self.sigma > 0.0:
            raise ValueError(f"sigma is a curvature and must be positive: got {self.sigma}")
        rng = np.random.default_rng(self.seed)
        xi, zeta = signs(rng, self.rounds), float(signs(rng, 1)[0])
        xi[self.k :] = zeta
        return self._replace(
            targets=frozen(self.W * xi),
            zeta=zeta,
            inliers=frozen(xi == zeta),
            comparator=frozen(np.array([self.W * zeta])),
            domain=Interval(-self.W, self.W),
        )

    def extent(self):
        return self.rounds, 1

    def start(self):
        return 0

    def reveal(self, state, t, w):
        off = w[0] - self.targets[t]
        return state, 0.5 * self.sigma * off * off, self.sigma * off, np.ones(1)
