"""The probability simplex, and the L1 ball, whose projection uses that of the simplex."""

import math
from typing import Any

import numpy as np

from holdfast.domains.shifted import ROUNDING, checked_ball, write
from holdfast.rule import rule
from holdfast.vectors import dot, largest, sum_abs


@rule
class Simplex:
    """The probability vectors: no entry is negative, and they sum to 1.

    >>> Simplex().project(np.array([0.9, 0.7, -5.0]))
    array([0.6, 0.4, 0. ])
    >>> Simplex().center(4)
    array([0.25, 0.25, 0.25, 0.25])
    """

    def project(self, w: np.ndarray) -> np.ndarray:
        if self.contains(w) or not largest(w) < math.inf:
            return w
        below = 2.0 * np.maximum(0.5 * w - 0.5 * w.max(), -0.5)  # halves, so that no difference overflows
        return write(w, _shares(below))

    def nearest(self, v: np.ndarray, h: np.ndarray) -> np.ndarray:
        """The point w with the least sum of h (w - v)², for h > 0: max(v - theta / h, 0).

        The loop raises theta, and more entries become 0, until the entries sum to 1.
        """
        theta, one, flat = -math.inf, np.ones(len(v)), 1.0 / h
        for _ in range(len(v)):
            inside = one * (v > theta * flat)
            higher = (dot(inside, v) - 1.0) / dot(inside, flat)
            if not higher > theta:
                break
            theta = higher
        w = np.maximum(v - theta * flat, 0.0)
        return w / sum_abs(w)

    def contains(self, w: np.ndarray) -> bool:
        """Whether w is in the domain, up to rounding."""
        return bool(w.min() >= 0.0) and abs(sum_abs(w) - 1.0) <= ROUNDING

    def center(self, dim: int) -> np.ndarray:
        return np.full(dim, 1.0 / dim)

    def diameter(self, norm: Any, dim: int = 0) -> float:
        return 0.0 if dim == 1 else norm.over_edges()

    def support(self, g: np.ndarray) -> float:
        return float(g.max())

    def reaches(self, g: np.ndarray) -> tuple[float, float, float]:
        return float(g.max()), -float(g.min()), largest(g)


@rule
class L1Ball:
    """All points within L1 distance `radius` of `around`.

    The magnitudes of w are projected onto a simplex of total `radius` (Duchi et al., 2008, section 4).

    >>> L1Ball(1.0).project(np.array([3.0, -2.5, 0.5]))
    array([ 0.75, -0.25,  0.  ])
    """

    radius: float
    around: "float | np.ndarray" = 0.0

    def check(self) -> Any:
        return checked_ball(self)

    def project(self, w: np.ndarray) -> np.ndarray:
        m = largest(w)
        if self.contains(w) or not m < math.inf:
            return w
        below = np.maximum(np.abs(w) - m, -self.radius) / self.radius
        return write(w, np.copysign(self.radius * _shares(below), w))

    def contains(self, w: np.ndarray) -> bool:
        """Whether w is in the domain, up to rounding."""
        return sum_abs(w) <= self.radius * (1.0 + ROUNDING)

    def center(self, dim: int) -> np.ndarray:
        return np.zeros(dim)

    def diameter(self, norm: Any, dim: int = 0) -> float:
        return 2.0 * self.radius * norm.over_axes()

    def support(self, g: np.ndarray) -> float:
        return self.radius * largest(g)

    def reaches(self, g: np.ndarray) -> tuple[float, float, float]:
        most = self.support(g)
        return most, most, most


def _shares(below: np.ndarray) -> np.ndarray:
    """The probability vector nearest to w, where `below` is w - max(w), and -1 for smaller differences.

    Theta is subtracted from all entries, and negative results become 0. The total is 1 if theta is the
    largest of (sum of the k largest - 1) / k over k (Duchi et al., 2008, figure 1).
    """
    falling = -np.sort(-below)
    theta = ((np.cumsum(falling) - 1.0) / np.arange(1, len(below) + 1)).max()
    shares = np.maximum(below - theta, 0.0)
    return shares / sum_abs(shares)
