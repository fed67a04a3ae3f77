"""All points: no constraint."""

import math

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import largest


@rule
class Everywhere:
    """All points. The diameter is infinite, so only learners that do not need one can use it.

    Examples
    --------
    >>> Everywhere().project(np.array([3e9, -4.0]))
    array([ 3.e+09, -4.e+00])
    >>> Everywhere().bounded(), Everywhere().support(np.ones(2))
    (False, inf)
    """

    def bounded(self):
        return False

    def project(self, w):
        return w

    def contains(self, w):
        """Whether w is in the domain, up to rounding."""
        return largest(w) < math.inf

    def center(self, dim):
        return np.zeros(dim)

    def diameter(self, norm, dim=0):
        return math.inf

    def support(self, g):
        return 0.0 if largest(g) == 0.0 else math.inf
