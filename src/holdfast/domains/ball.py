"""The Euclidean ball."""

import math
from typing import Any

import numpy as np

from holdfast.domains.shifted import ROUNDING, checked_ball
from holdfast.norms import euclidean
from holdfast.protocols import Weights
from holdfast.rule import rule
from holdfast.vectors import dot, largest, lazy, scale_by


@rule
class Ball:
    """All points within Euclidean distance `radius` of `around`, a vector or one number for all entries.

    If `around` is not 0, the result is a `Shifted` ball. Other domains with `around` do the same.

    >>> from holdfast.norms import L1, L2
    >>> Ball(1.0).project(np.array([3.0, -4.0]))
    array([ 0.6, -0.8])
    >>> Ball(1.0).diameter(L2()), Ball(1.0).diameter(L1(), dim=4)
    (2.0, 4.0)
    """

    radius: float
    around: "float | np.ndarray" = 0.0

    def check(self) -> Any:
        return checked_ball(self)

    def project(self, w: Weights) -> Weights:
        return self.project_with_reach(w, math.inf)[0]

    def project_with_reach(self, w: Weights, reach: float) -> tuple[Weights, float]:
        if reach <= self.radius:  # an upper bound of the length of w, so w is inside
            return w, reach
        size = euclidean(w)
        if size <= self.radius * (1.0 + ROUNDING):
            return w, max(size, 0.5 * self.radius)  # the length of lazy weights near 0 is not accurate
        scale = self.radius / size
        if scale > 1e-290:
            scale_by(w, scale)
            return w, self.radius
        m = largest(w)  # w is so far away that the scale is not accurate or the size is infinite
        if m < math.inf:
            scale_by(w, 1.0 / m)
            scale_by(w, self.radius / euclidean(w))
        return w, self.radius

    def nearest(self, v: np.ndarray, h: np.ndarray) -> np.ndarray:
        """The point w with the least sum of h (w - v)², for h > 0: hv / (h + mu).

        If v is outside, mu is such that ‖w‖ = radius. 1 / ‖w‖ is concave in mu, so Newton's method from 0
        never overshoots.
        """
        w, mu = v.copy(), 0.0
        for _ in range(100):
            size = euclidean(w)
            if size <= self.radius * (1.0 + 1e-14):
                break
            derivative = dot(w / size, w / size / (h + mu))
            mu += (size - self.radius) / (self.radius * derivative)
            w = v * (h / (h + mu))
        return w

    def to_lazy(self, state: Any, summed: bool) -> Any:
        return lazy(state, summed)

    def contains(self, w: Weights) -> bool:
        """Whether w is in the domain, up to rounding."""
        return euclidean(w) <= self.radius * (1.0 + ROUNDING)

    def center(self, dim: int) -> np.ndarray:
        return np.zeros(dim)

    def diameter(self, norm: Any, dim: int = 0) -> float:
        return 2.0 * self.radius * norm.over_ball(dim)

    def support(self, g: np.ndarray) -> float:
        return self.radius * euclidean(g)

    def reaches(self, g: np.ndarray) -> tuple[float, float, float]:
        most = self.support(g)
        return most, most, most
