"""Streams that cost every learner a multiple of k (Theorems 6, 7), and `Tight`, which costs OGD 4 D G k."""

import math
from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import check_budget, signs
from holdfast.adversaries.gradients import Gradients
from holdfast.domains import Interval
from holdfast.protocols import Row, Weights
from holdfast.rule import frozen, replaced, rule


@rule
class IidLowerBound:
    """f_t(w) = G ξ_t w on [-W, W], where ξ_t is +1 or -1 with probability one half.

    No learner can predict ξ_t, so the mean loss of every learner is 0. Let ζ be another random sign. The
    outliers are those of the first k rounds with ξ_t ≠ ζ, and the comparator is u = -W ζ, which gains G W in
    each of the other first k rounds, about k/2 of them. All sizes are equal, so no filter finds the outliers.

    Parameters:
        k: The largest number of outliers; on average half of it is used.
        rounds: At least k.
        G, W: The size of every gradient, and half the width D of the domain.
        seed: For ξ and ζ.

    Attributes:
        zeta: ζ.
        inliers (bool array): S_ζ ∪ {k+1, ..., T}.
        comparator (array): u.
        domain (Interval): The domain of the learner.

    Guarantee: the expected robust regret of every learner is exactly D G k / 4 (`docs/math.md`, 3.4).

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

    Parameters:
        k: The largest number of outliers; on average half of it is used.
        rounds: At least k.
        sigma, W: The curvature of every loss, and half the width of the domain.
        seed: For ξ and ζ.

    Attributes:
        targets (array): W ξ_t, and W ζ after round k.
        zeta, inliers, comparator, domain: ζ, S_ζ ∪ {k+1, ..., T} as a mask, u and [-W, W].

    Guarantee: The expected robust regret of every learner is at least σ W² k / 4, and G(𝒮) ≤ 2 σ W, so it is
    at least G(𝒮)² k / (16 σ) (`docs/math.md`, 3.4, which corrects slips of the paper).

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

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        off = w[0] - self.targets[t]
        return state, 0.5 * self.sigma * off * off, self.sigma * off, np.ones(1)


_LEVELS = 14  # the skipped inliers then cost all but 2⁻¹⁴ of 2 D G k
_LEAP = 2.0 * (1.0 + 1e-9)  # from level to level: just more than TopK's slack


@rule
class Tight:
    """Linear losses on [-D/2, D/2] on which `TopK(k)` skips and keeps the worst rounds, against u = -D/2.

    There are three parts. First, k+1 gradients that are too small to cost anything; the last is kept and
    moves OGD to D/2, the end opposite to u. Second, k inliers at each of 14 sizes, each size just over twice
    the one before: all are skipped, which costs the geometric sum 2 D G k. Third, inliers +G, which move OGD
    towards u; whenever OGD is far enough, an outlier -2G, the largest that is kept, moves it back. Each of
    the k outliers makes two more inliers cost D G, another 2 D G k in all.

    Parameters:
        k: The k of the filter, and the number of outliers.
        G, D: The size of the largest inlier, and the width of the domain.

    Attributes:
        inliers, comparator, domain: 𝒮 as a mask, u, and [-D/2, D/2], where OGD must start in the middle.

    Guarantee: None, but measured: the robust regret of `Filtered(OGD(domain), TopK(k))` is at least 4 D G k
    for every k tried up to 50,000; it exceeds it by 0.7% at k = 50, 0.5% at 500 and 0.1% at 50,000. So the 4
    in Theorem 1 cannot be smaller for this player.

    >>> tight = Tight(k=2)
    >>> tight.stream.G[:3, 0], tight.stream.G[-9:, 0]
    (array([-1.e-09, -1.e-09, -1.e-09]), array([-2.,  1., -2.,  1.,  1.,  1.,  1.,  1.,  1.]))
    """

    k: int
    G: float = 1.0
    D: float = 1.0
    stream: Any = None
    inliers: Any = None
    comparator: Any = None
    domain: Any = None

    def check(self) -> Any:
        if self.k < 1:
            raise ValueError(f"k is the number of outliers, at least 1: got {self.k}")
        levels = np.repeat(self.G * _LEAP ** -np.arange(_LEVELS - 1.0, -1.0, -1.0), self.k)
        g = np.concatenate(
            [np.full(self.k + 1, -1e-9 * self.G), levels, self.G * np.array(_third_part(self.k))]
        )
        return replaced(
            self,
            stream=Gradients(g[:, None]),
            inliers=frozen(g > -1.5 * self.G),
            comparator=frozen(np.array([-0.5 * self.D])),
            domain=Interval(-0.5 * self.D, 0.5 * self.D),
        )

    extent, start, reveal = draws.extent, draws.start, draws.reveal


def _third_part(k: int) -> list[float]:
    """The third part, in units of G, found by simulating OGD on [-1/2, 1/2] until it arrives at u."""
    gradients, w, total = [], 0.5, 0.0
    while k > 0 or w > -0.5:
        push = 2.0 / math.sqrt(2.0 * (total + 4.0))  # how far an outlier would move OGD without the boundary
        g = -2.0 if k > 0 and w + 0.75 * push <= 0.5 else 1.0
        k -= g < 0.0
        total += g * g
        w = min(max(w - g / math.sqrt(2.0 * total), -0.5), 0.5)
        gradients.append(g)
    return gradients
