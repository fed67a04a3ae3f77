"""Boxes and intervals."""

import math
from typing import Any

import numpy as np

from holdfast.domains.shifted import ROUNDING, point, write
from holdfast.rule import replaced, rule
from holdfast.vectors import dot, largest

_FAR = 2.0**1000


@rule
class Box:
    """All points with low ≤ w ≤ high in every entry.

    Parameters:
        low, high (float or vector): A number is the bound of every entry.
        dim: The dimension, if `low` and `high` are numbers; 0 means any.

    >>> from holdfast.norms import L2
    >>> Box(0.0, 1.0).project(np.array([0.5, 7.0, -7.0]))
    array([0.5, 1. , 0. ])
    >>> Box([0.0, 0.0], [3.0, 4.0]).diameter(L2()), Box(0.0, 1.0).diameter(L2(), dim=9)
    (5.0, 3.0)
    """

    low: "float | np.ndarray"
    high: "float | np.ndarray"
    dim: int = 0

    def check(self) -> Any:
        low, high = point("low", self.low), point("high", self.high)
        dims = {len(bound) for bound in (low, high) if isinstance(bound, np.ndarray)} | ({self.dim} - {0})
        if len(dims) > 1 or self.dim < 0:
            raise ValueError(f"low, high and dim must have one dimension, got {sorted(dims)}")
        if not np.all(low <= high):
            raise ValueError(f"low must not exceed high, got low = {low} and high = {high}")
        return replaced(self, low=low, high=high, dim=max(dims, default=0))

    def project(self, w: np.ndarray) -> np.ndarray:
        return write(w, np.minimum(np.maximum(w, self.low), self.high))

    def contains(self, w: np.ndarray) -> bool:
        """Whether w is in the domain, up to rounding."""
        slack = ROUNDING * np.maximum(np.abs(self.low), np.abs(self.high))
        return bool(np.all((w >= self.low - slack) & (w <= self.high + slack)))

    def center(self, dim: int) -> np.ndarray:
        return np.zeros(dim) + (self.low + 0.5 * (self.high - self.low))

    def diameter(self, norm: Any, dim: int = 0) -> float:
        known = self.dim if self.dim > 0 else dim
        if known == 0:
            raise ValueError("the diameter of a box depends on the dimension: pass dim=")
        return norm.over_box(np.zeros(known) + (self.high - self.low))

    def support(self, g: np.ndarray) -> float:
        return self.reaches(g.astype(np.float64))[0]

    def reaches(self, g: np.ndarray) -> tuple[float, float, float]:
        m = largest(g)
        if not 0.0 < m < math.inf:
            return m, m, m
        most = _reaches(self.low, self.high, g)
        if most[2] < math.inf:
            return most
        up, down, size = _reaches(
            self.low, self.high, g / _FAR
        )  # the sum may be finite if its terms overflow
        return up * _FAR, down * _FAR, size * _FAR

    def check_dim(self, dim: int) -> None:
        if self.dim not in (0, dim):
            raise ValueError(f"{type(self).__name__} has dimension {self.dim}, but the vectors have {dim}")


@rule
class Interval:
    """All numbers from low to high: a box in dimension 1.

    >>> Interval(-1.0, 1.0).project(np.array([2.0]))
    array([1.])
    """

    low: float
    high: float
    dim: int = 1

    def check(self) -> None:
        Box(self.low, self.high)  # checks low and high
        if self.dim != 1:
            raise ValueError(f"an interval has dimension 1, got dim = {self.dim}: use Box(low, high)")

    project, contains, center = Box.project, Box.contains, Box.center
    diameter, support, check_dim = Box.diameter, Box.support, Box.check_dim
    reaches = Box.reaches


def _reaches(low: float | np.ndarray, high: float | np.ndarray, g: np.ndarray) -> tuple[float, float, float]:
    least, most = np.zeros(len(g)) + low, np.zeros(len(g)) + high
    rising, falling = np.maximum(g, 0.0), np.minimum(g, 0.0)
    up, down = dot(most, rising) + dot(least, falling), -dot(least, rising) - dot(most, falling)
    return up, down, dot(np.maximum(np.abs(least), np.abs(most)), np.abs(g))
