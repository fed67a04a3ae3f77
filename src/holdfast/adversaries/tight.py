"""A sequence on which Algorithm 1 with OGD pays 4 D G(𝒮) k (`docs/math.md`, 2.1)."""

import math
from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import frozen
from holdfast.adversaries.gradients import Gradients
from holdfast.domains import Interval
from holdfast.rule import replaced, rule

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

    Parameters
    ----------
    k
        The k of the filter, and the number of outliers.
    G, D : float
        The size of the largest inlier, and the width of the domain.

    Attributes
    ----------
    inliers, comparator, domain
        𝒮 as a mask, u, and [-D/2, D/2], where OGD must start in the middle.

    Guarantee
    ---------
    None, but measured: the robust regret of `Filtered(OGD(domain), TopK(k))` is at least 4 D G k for every k
    tried up to 50,000; it exceeds it by 0.7% at k = 50, 0.5% at 500 and 0.1% at 50,000. So the 4 in Theorem 1
    cannot be smaller for this player.

    Examples
    --------
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
