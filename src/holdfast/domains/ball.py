"""The Euclidean ball."""

import math

import numpy as np

from holdfast.domains.shifted import ROUNDING, checked_ball
from holdfast.norms import euclidean
from holdfast.rule import rule
from holdfast.vectors import largest


@rule
class Ball:
    """All points within Euclidean distance `radius` of `around`, a vector or one number for all its entries.

    Around anything but 0 it becomes a `Shifted` ball, and so do the other domains that have a middle.

    Examples
    --------
    >>> from holdfast.norms import L1, L2
    >>> Ball(1.0).project(np.array([3.0, -4.0]))
    array([ 0.6, -0.8])
    >>> Ball(1.0).diameter(L2()), Ball(1.0).diameter(L1(), dim=4)
    (2.0, 4.0)
    """

    radius: float
    around: "float | np.ndarray" = 0.0

    def check(self):
        return checked_ball(self)

    def project(self, w):
        size = euclidean(w)
        if size <= self.radius * (1.0 + ROUNDING):
            return w
        scale = self.radius / size
        if scale > 1e-290:
            w *= scale
            return w
        m = largest(w)  # so far away that the scale loses its digits, or that the size is infinite
        if m < math.inf:
            w /= m
            w *= self.radius / euclidean(w)
        return w

    def contains(self, w):
        return euclidean(w) <= self.radius * (1.0 + ROUNDING)

    def center(self, dim):
        return np.zeros(dim)

    def diameter(self, norm, dim=0):
        return 2.0 * self.radius * norm.over_ball(dim)

    def support(self, g):
        return self.radius * euclidean(g)

    def fits(self, dim):
        return None
