"""All points: no constraint."""

import math
from typing import Any

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import largest


@rule
class Everywhere:
    """All points. The diameter is infinite, so only learners that do not need one can use it.

    >>> Everywhere().project(np.array([3e9, -4.0]))
    array([ 3.e+09, -4.e+00])
    >>> Everywhere().bounded(), Everywhere().support(np.ones(2))
    (False, inf)
    """

    def bounded(self) -> bool:
        return False

    def project(self, w: np.ndarray) -> np.ndarray:
        return w

    def contains(self, w: np.ndarray) -> bool:
        """Whether w is in the domain, up to rounding."""
        return largest(w) < math.inf

    def center(self, dim: int) -> np.ndarray:
        return np.zeros(dim)

    def diameter(self, norm: Any, dim: int = 0) -> float:
        return math.inf

    def support(self, g: np.ndarray) -> float:
        return 0.0 if largest(g) == 0.0 else math.inf
