"""Norms and their duals: how far apart two points are, and how large a gradient is.

A domain is measured in a norm ‖·‖ and a gradient in its dual, ‖g‖* = max ⟨g, x⟩ over ‖x‖ ≤ 1, so that
⟨g, u - w⟩ is at most diameter times size. Sizes decide which rounds are kept, and outliers may have any
size: 1e308 and 1e-308 are measured as precisely as 1, an infinite entry gives infinity, NaN gives NaN, and
only a vector of zeros has size 0.

The methods `over_ball`, `over_box` and so on return the largest value of a norm over a set. The diameters of
`holdfast.domains` use them.
"""

__all__ = ["L1", "L2", "LInf", "Lp", "Mahalanobis"]

import math
from typing import Any

import numpy as np

from holdfast.protocols import Row
from holdfast.rule import frozen, replaced, rule
from holdfast.vectors import TINY, dot, largest, squared, sum_abs, to_dense, values_of

HUGE = (
    2.0**1000
)  # larger gradients and rows (1e301) count as infinite: a sum of ten million must not overflow
LONG = 2.0**500  # the same limit for rows, slopes and targets of learners that square them


def euclidean(x: Row) -> float:
    """The Euclidean length of a vector: one pass, or two if its squares overflow or underflow."""
    s = squared(x)
    if 1e-280 < s < math.inf:  # squares below 1e-308 are lost, but too small to matter
        return math.sqrt(s)
    m = largest(x)
    if not 0.0 < m < math.inf:  # zeros, infinity or NaN
        return m
    scaled = values_of(x).astype(np.float64) / m
    return m * math.sqrt(squared(scaled))


def hypotenuse(a: float, b: float) -> float:
    """(a² + b²)^½ for a, b ≥ 0, also where the squares overflow or underflow."""
    s = a * a + b * b
    if 1e-280 < s < math.inf:
        return math.sqrt(s)
    longer, shorter = max(a, b), min(a, b)
    if not shorter > 0.0:
        return longer
    ratio = shorter / longer
    return longer * math.sqrt(1.0 + ratio * ratio)


def row_length(slope: float, x: Row) -> float:
    """‖x‖, for learners that divide by it: 0 if the slope is 0, or if 1/‖x‖ may overflow."""
    length = euclidean(x) if slope != 0.0 else 0.0
    return length if length > TINY else 0.0


def gradient_size(slope: float, x: Row) -> float:
    """|slope| ‖x‖, for learners that divide by it."""
    return abs(slope) * row_length(slope, x)


# Methods that all p-norms share: none depends on the signs or on the order of the entries.


def _over_ball(self: Any, dim: int) -> float:
    """The largest norm of a Euclidean unit vector: an axis if p ≥ 2, the diagonal if p < 2."""
    d = dim if dim > 0 else 2  # in two dimensions one sees whether the dimension matters
    diagonal = self.of(np.ones(d)) / math.sqrt(d)
    if dim == 0 and diagonal > 1.0 + 1e-12:
        raise ValueError("in this norm the diameter of a ball depends on the dimension: pass dim=")
    return max(1.0, diagonal)


def _over_axes(self: Any) -> float:
    """The largest norm of a coordinate vector eᵢ."""
    return 1.0


def _over_edges(self: Any) -> float:
    """The largest norm of a difference eᵢ - eⱼ."""
    return self.of(np.array([1.0, -1.0]))


def _over_box(self: Any, sides: np.ndarray) -> float:
    """The largest norm of a vector with |xᵢ| ≤ sidesᵢ."""
    return self.of(sides)


def _over_ellipsoid(self: Any, shape: np.ndarray, longest: float) -> float:
    """An upper bound over u' shape⁻¹ u ≤ 1, an ellipsoid with longest semi-axis `longest`; exact for LInf."""
    return min(longest * self.over_ball(len(shape)), self.of(np.sqrt(np.diag(shape))))


def _entry_bound(self: Any, x: Row, size: float) -> float:
    """At least the largest |xᵢ|: the size, also after rounding. This is not true for `Mahalanobis`."""
    return size


@rule
class L1:
    """∑ |xᵢ|, the dual of LInf.

    >>> L1().of(np.array([3.0, -4.0])), L1().dual()
    (7.0, LInf())
    """

    def of(self, x: Row) -> float:
        return sum_abs(x)

    def dual(self) -> "LInf":
        return _LINF

    over_ball, over_axes, over_edges = _over_ball, _over_axes, _over_edges
    over_box, over_ellipsoid, entry_bound = _over_box, _over_ellipsoid, _entry_bound


@rule
class L2:
    """(∑ xᵢ²)^½, Euclidean length, its own dual.

    >>> L2().of(np.array([3.0, -4.0])), L2().of(np.array([3e300, -4e300])), L2().dual()
    (5.0, 5e+300, L2())
    """

    def of(self, x: Row) -> float:
        return euclidean(x)

    def dual(self) -> "L2":
        return self

    def over_ball(self, dim: int) -> float:
        """1: the largest norm of a Euclidean unit vector."""
        return 1.0

    def over_ellipsoid(self, shape: np.ndarray, longest: float) -> float:
        """The longest semi-axis of an ellipsoid."""
        return longest

    over_axes, over_edges, over_box, entry_bound = _over_axes, _over_edges, _over_box, _entry_bound


@rule
class LInf:
    """max |xᵢ|, the dual of L1.

    >>> LInf().of(np.array([3.0, -4.0])), LInf().dual()
    (4.0, L1())
    """

    def of(self, x: Row) -> float:
        return largest(x)

    def dual(self) -> L1:
        return _L1

    over_ball, over_axes, over_edges = _over_ball, _over_axes, _over_edges
    over_box, over_ellipsoid, entry_bound = _over_box, _over_ellipsoid, _entry_bound


_L1, _LINF = L1(), LInf()  # constants, because compiled code cannot create a rule without parameters


@rule
class Lp:
    """(∑ |xᵢ|^p)^(1/p), the dual of Lq with 1/p + 1/q = 1.

    Parameters:
        p: At least 1. `Lp(1)`, `Lp(2)` and `Lp(math.inf)` equal `L1()`, `L2()` and `LInf()`, which are
            faster.

    >>> Lp(3).of(np.array([3.0, 4.0, 5.0])), Lp(3).dual()
    (6.0, Lp(p=1.5))
    """

    p: float

    def check(self) -> None:
        if not self.p >= 1.0:
            raise ValueError(f"below p = 1 the triangle inequality fails: expected p >= 1, got {self.p}")

    def of(self, x: Row) -> float:
        m = largest(x)
        if not 0.0 < m < math.inf:  # zeros, infinity or NaN
            return m
        s = 0.0
        for entry in values_of(x):
            s += math.pow(abs(float(entry)) / m, self.p)
        return m * math.pow(s, 1.0 / self.p)

    def dual(self) -> "Lp":
        if self.p == 1.0:
            return Lp(math.inf)
        if self.p == math.inf:
            return Lp(1.0)
        return Lp(self.p / (self.p - 1.0))

    over_ball, over_axes, over_edges = _over_ball, _over_axes, _over_edges
    over_box, over_ellipsoid, entry_bound = _over_box, _over_ellipsoid, _entry_bound


@rule
class Mahalanobis:
    """(x' A x)^½ for a positive definite A: Euclidean length after a change of coordinates.

    With A = R'R it is ‖Rx‖₂, and its dual, the norm of A⁻¹, is ‖R'⁻¹g‖₂. R is triangular, so that Rx is not
    rounded to 0 for any x other than 0.

    Parameters:
        matrix (array of shape (d, d)): A: symmetric, positive definite, its largest eigenvalue at most 1e12
            times its smallest.
        inverse, root, coroot: Computed from `matrix`, once: A⁻¹, R and R'⁻¹.

    >>> norm = Mahalanobis([[4.0, 0.0], [0.0, 0.25]])
    >>> norm.of(np.array([1.0, 0.0])), norm.dual().of(np.array([1.0, 0.0]))
    (2.0, 0.5)
    """

    matrix: np.ndarray
    inverse: Any = None
    root: Any = None
    coroot: Any = None

    def check(self) -> Any:
        if self.root is not None:  # the dual of a norm that was checked
            return None
        A, _, _ = positive_definite("Mahalanobis: matrix", self.matrix)
        R = np.linalg.cholesky(A).T
        S = np.tril(np.linalg.inv(R.T))
        fields = {"matrix": A, "inverse": S.T @ S, "root": R, "coroot": S}
        return replaced(self, **{name: frozen(np.ascontiguousarray(each)) for name, each in fields.items()})

    def of(self, x: Row) -> float:
        m = largest(x)
        if not 0.0 < m < math.inf:  # zeros, infinity or NaN
            return m
        scaled = to_dense(x) / m
        image = np.empty(len(scaled))
        for i in range(len(scaled)):
            image[i] = dot(self.root[i], scaled)
        return max(m * euclidean(image), 5e-324)  # not 0 after underflow

    def dual(self) -> "Mahalanobis":
        return Mahalanobis(self.inverse, self.matrix, self.coroot, self.root)

    def over_ball(self, dim: int) -> float:
        """The largest norm of a Euclidean unit vector."""
        return float(np.linalg.norm(self.root, 2))

    def over_axes(self) -> float:
        """The largest norm of a coordinate vector eᵢ."""
        return math.sqrt(np.diag(self.matrix).max())

    def over_edges(self) -> float:
        """The largest norm of a difference eᵢ - eⱼ."""
        squares = np.diag(self.matrix)
        return math.sqrt((squares + squares.reshape(-1, 1) - 2.0 * self.matrix).max())

    def over_box(self, sides: np.ndarray) -> float:
        """An upper bound, exact for a diagonal A: the maximum itself is NP-hard."""
        m = largest(sides)
        if m == 0.0:
            return 0.0
        scaled = sides / m
        entrywise = math.sqrt(np.dot(scaled, np.dot(np.abs(self.matrix), scaled)))
        return m * min(entrywise, self.over_ball(len(sides)) * euclidean(scaled))

    def over_ellipsoid(self, shape: np.ndarray, longest: float) -> float:
        """The largest norm over all u with u' shape⁻¹ u ≤ 1, whose longest semi-axis is given."""
        image = np.dot(self.root, np.dot(shape / (longest * longest), self.root.T))
        return longest * math.sqrt(np.linalg.eigvalsh(image)[-1])

    def check_dim(self, dim: int) -> None:
        d = len(self.matrix)
        if d != dim:
            raise ValueError(f"Mahalanobis: a {d} by {d} matrix cannot measure vectors of {dim} entries")


def positive_definite(name: str, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix, made exactly symmetric, its eigenvalues and eigenvectors; it must be positive definite."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be square, of shape (d, d), got shape {matrix.shape}")
    scale = largest(matrix)
    if not 1e-290 < scale < 1e290:
        raise ValueError(f"{name} must be finite and not zero; its largest entry is {scale}: rescale it")
    if largest(matrix - matrix.T) > 1e-10 * scale:
        raise ValueError(f"{name} must be symmetric, as (M + M.T) / 2 always is, got {matrix}")
    matrix = (matrix + matrix.T) / 2.0
    values, vectors = np.linalg.eigh(matrix)
    if not values[-1] <= 1e12 * values[0]:
        raise ValueError(
            f"{name} must be positive definite, with a condition number of at most 1e12; its eigenvalues go "
            f"from {values[0]:.3g} to {values[-1]:.3g}: add a multiple of the identity"
        )
    return matrix, values, vectors
