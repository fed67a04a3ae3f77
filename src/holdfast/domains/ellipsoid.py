"""The ellipsoid."""

import math
from typing import Any

import numpy as np

from holdfast.domains.shifted import ROUNDING, placed
from holdfast.norms import euclidean, hypotenuse, positive_definite
from holdfast.rule import frozen, replaced, rule
from holdfast.vectors import add, dot, largest, sum_abs


@rule
class Ellipsoid:
    """All points around + u with u' M⁻¹ u ≤ 1: a ball with axes of different lengths.

    For w outside, the nearest point is (I + μ M⁻¹)⁻¹ w, with μ such that it is on the boundary. Let p be this
    point in coordinates in which the ellipsoid is the unit ball. Then 1/‖p‖ is concave in μ, so Newton's
    method from below never overshoots (Conn, Gould and Toint, *Trust-Region Methods*, section 7.3).

    Parameters:
        shape (array of shape (d, d)): M: symmetric, positive definite, its largest eigenvalue at most 1e12
            times its smallest.
        around (float or vector): The center.
        axes, lengths, longest, blur: Computed from `shape`: the directions of the semi-axes, in rows; their
            lengths, relative to the longest; the length of the longest; the square root of the distance
            between M and the matrix with exactly these axes.

    >>> Ellipsoid([[4.0, 0.0], [0.0, 1.0]]).project(np.array([5.0, 0.0]))
    array([2., 0.])
    """

    shape: np.ndarray
    around: "float | np.ndarray" = 0.0
    axes: Any = None
    lengths: Any = None
    longest: float = 0.0
    blur: float = 0.0

    def check(self) -> Any:
        M, squares, vectors = positive_definite("Ellipsoid: shape", self.shape)
        M, axes = frozen(M), frozen(np.ascontiguousarray(vectors.T))
        lengths = frozen(np.sqrt(squares / squares[-1]))
        longest = math.sqrt(squares[-1])
        blur = longest * math.sqrt(_distance(M / longest / longest, axes, lengths))
        return placed(replaced(self, shape=M, axes=axes, lengths=lengths, longest=longest, blur=blur))

    def along(self, w: np.ndarray) -> np.ndarray:
        """The coordinates of w along the axes."""
        y = np.empty(len(w))
        for i in range(len(w)):
            y[i] = dot(self.axes[i], w)
        return y

    def project(self, w: np.ndarray) -> np.ndarray:
        m = largest(w)
        if not 0.0 < m < math.inf:
            return w
        s = self.lengths
        y = self.along(w / m) * min(m / self.longest, 1e30)  # beyond this only the direction matters
        if euclidean(y / (s + ROUNDING)) <= 1.0:
            return w
        mu = max(euclidean(s * y) - 1.0, (s * np.abs(y) - s * s).max(), 0.0)  # ‖p‖ ≥ 1 for this μ
        p = s * y / (s * s + mu)
        for _ in range(100):  # in our tests never more than 16
            size = euclidean(p)
            if size <= 1.0 + 1e-14:
                break
            mu += (size - 1.0) * size * size / dot(p, p / (s * s + mu))
            p = s * y / (s * s + mu)
        w[:] = 0.0
        for i in range(len(w)):
            add(w, self.longest * s[i] * p[i], self.axes[i])
        return w

    def contains(self, w: np.ndarray) -> bool:
        """Whether w is in the domain, up to rounding."""
        m = largest(w)
        if not 0.0 < m < math.inf:
            return m == 0.0
        y = self.along(w / m) * min(m / self.longest, 1e30)
        return euclidean(y / (self.lengths + ROUNDING)) <= 1.0

    def center(self, dim: int) -> np.ndarray:
        return np.zeros(dim)

    def diameter(self, norm: Any, dim: int = 0) -> float:
        return 2.0 * norm.over_ellipsoid(self.shape, self.longest)

    def support(self, g: np.ndarray) -> float:
        m = largest(g)
        if not 0.0 < m < math.inf:
            return m
        return m * self.longest * euclidean(self.lengths * self.along(g.astype(np.float64) / m))

    def reaches(self, g: np.ndarray) -> tuple[float, float, float]:
        most = hypotenuse(self.support(g), self.blur * euclidean(g))
        return most, most, self.longest * sum_abs(g)

    def check_dim(self, dim: int) -> None:
        d = len(self.lengths)
        if d != dim:
            raise ValueError(f"an ellipsoid from a {d} by {d} matrix cannot hold vectors of {dim} entries")


def _distance(M: np.ndarray, axes: np.ndarray, lengths: np.ndarray) -> float:
    """An upper bound of the Frobenius norm of M - axes' diag(lengths²) axes, with its rounding errors."""
    rows, d = lengths[:, None] * axes, len(M)
    rounding = (d + 16) * 2.0**-53 * (np.abs(rows).T @ np.abs(rows) + np.abs(M))
    return float(np.linalg.norm(np.abs(M - rows.T @ rows) + rounding)) * (1.0 + (d + 8) * 2.0**-50)
