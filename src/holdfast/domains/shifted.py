"""Shifted domains, and functions that several domains share."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.protocols import Domain
from holdfast.rule import frozen, replaced, rule
from holdfast.vectors import dot, largest

ROUNDING = 1e-12  # the rounding error that `contains` allows, relative to the size of the domain


@rule
class Shifted:
    """Another domain, moved by `around`. Rounding errors are relative to `around`.

    Parameters:
        domain (rule): What is moved.
        around (float or vector): Where its center goes.
        dim, far: Computed from `around`: its number of entries, 0 for a number; and its largest entry.

    >>> from holdfast.domains import Simplex
    >>> Shifted(Simplex(), around=1.0).center(2)
    array([1.5, 1.5])
    """

    domain: Domain
    around: "float | np.ndarray"
    dim: int = 0
    far: float = 0.0

    def check(self: Any) -> Any:
        around = point("around", self.around)
        dim = np.size(around) * np.ndim(around)
        if dim > 0:
            self.domain.check_dim(dim)
        return replaced(self, around=around, dim=dim, far=largest(around))

    def project(self, w: np.ndarray) -> np.ndarray:
        if largest(w) < math.inf:
            offset = w - self.around
            nearest = self.domain.project(offset.copy())
            if largest(nearest - offset) > ROUNDING * self.far:
                return write(w, self.around + nearest)
        return w

    def contains(self, w: np.ndarray) -> bool:
        """Whether w is in the domain, up to rounding."""
        if not largest(w) < math.inf:
            return False
        offset = w - self.around
        return largest(self.domain.project(offset.copy()) - offset) <= ROUNDING * self.far

    def center(self, dim: int) -> np.ndarray:
        return self.domain.center(dim) + self.around

    def diameter(self, norm: Any, dim: int = 0) -> float:
        return self.domain.diameter(norm, self.dim if self.dim > 0 else dim)

    def support(self, g: np.ndarray) -> float:
        return self.domain.support(g) + dot(g, np.zeros(len(g)) + self.around)

    def reaches(self: Any, g: np.ndarray) -> tuple[float, float, float]:
        up, down, size = self.domain.reaches(g)
        offset = np.zeros(len(g)) + self.around
        shift = dot(g, offset)
        return up + shift, down - shift, size + dot(np.abs(g), np.abs(offset) + 2.0 * ROUNDING * self.far)

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)
        if self.dim not in (0, dim):
            raise ValueError(f"around has {self.dim} entries, but the vectors have {dim}")


def placed(domain: Any) -> Any:
    """The domain with `around` 0; shifted if its `around` is not 0."""
    around = point(f"{type(domain).__name__}: around", domain.around)
    centered = domain._replace(around=0.0)
    return centered if isinstance(around, float) and around == 0.0 else Shifted(centered, around)


def checked_ball(ball: Any) -> Any:
    if not 0.0 < ball.radius < math.inf:
        name = type(ball).__name__
        raise ValueError(f"{name}: the radius must be positive and finite, got {ball.radius}")
    return placed(ball)


def point(name: str, value: ArrayLike) -> float | np.ndarray:
    """A number as a float, a vector as a read-only array."""
    point = np.array(value, dtype=np.float64)
    if point.ndim > 1 or point.size == 0:
        raise ValueError(f"{name} must be a number or a vector, got an array of shape {point.shape}")
    if not largest(point) <= 1e290:  # so that w - point does not overflow for a finite w
        raise ValueError(f"{name} must be finite and at most 1e290 in size, got {value!s}")
    return frozen(point) if point.ndim > 0 else float(point)


def write(w: np.ndarray, values: np.ndarray) -> np.ndarray:
    """w[:] = values, but compiles ten times as fast. -0 becomes 0: processors differ in max(-0, 0)."""
    np.add(values, 0.0, w)
    return w
