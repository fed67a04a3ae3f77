"""The covariance of the weights of all regressions: of all pairs of weights, or of each weight by itself.

Two rules with the same methods, all of which change a state in place. P is the covariance, and `growth` the
factor by which forgetting has made it larger: `along` has Px / growth for the row that was measured last.
"""

import math
from typing import NamedTuple

import numpy as np

from holdfast.learners import covariance as whole
from holdfast.learners.covariance import Covariance
from holdfast.rule import rarely_called, rule
from holdfast.vectors import add, assign, dot, scale_by

_MOST = 1e10  # a larger growth is brought into the variances
_SMALLEST = 1e-6  # a new unit makes no deviation smaller by more: what is known so well was known in one unit
_LEAST = 1e-12  # no row makes a variance smaller by more: rounding must not make it 0


class FullState(NamedTuple):
    """P = growth SS', and two buffers."""

    root: np.ndarray  # S, with columns of zeros up to a multiple of 8
    product: np.ndarray  # S'x, for the last row
    along: np.ndarray  # SS'x
    growth: np.ndarray  # one number


@rule
class Full:
    """All pairs of weights, as a square root (`holdfast.learners.covariance`). A round costs O(columns²).

    Guarantee: none of its own.

    >>> state = Full().independent(dim=2, variance=1.0)
    >>> Full().shrink(state, Full().variance_of(state, np.array([1.0, 1.0])), noise=1.0)
    >>> round(Full().variance_of(state, np.array([1.0, -1.0])), 3)
    2.0
    """

    def independent(self, dim: int, variance: float) -> FullState:
        """The covariance of weights that are independent, all with this variance."""
        root, product, along, _ = whole.independent(dim, variance)
        return FullState(root, product, along, np.ones(1))

    def set_independent(self, state: FullState, variance: float) -> None:
        """The same, in the arrays of another covariance."""
        whole.set_independent(_now(state), variance)
        state.growth[0] = 1.0

    def clear_buffers(self, state: FullState) -> None:
        """Set both buffers to 0, in place."""
        whole.clear_buffers(_now(state))

    def variance_of(self, state: FullState, x: np.ndarray) -> float:
        """x'Px, the variance of the prediction for a row. The row is measured for `shrink`."""
        return whole.variance_of(_now(state), x)

    def variance_of_weight(self, state: FullState, k: int) -> float:
        """That of the k-th weight."""
        return whole.own_variance(_now(state), k)

    def measure_weight(self, state: FullState, k: int) -> None:
        """Let the k-th weight be the row that was measured last, for `shrink`."""
        whole.measure_weight(_now(state), k)

    def shrink(self, state: FullState, variance: float, noise: float) -> None:
        """Learn from the row that was measured last, with noise of this variance."""
        whole.shrink(_now(state), variance, noise)

    def forget(self, state: FullState, memory: float) -> None:
        """Let the covariance grow, after a round of a memory that fades."""
        state.growth[0] = whole.forget(_now(state), memory).growth

    @rarely_called
    def express_column(self, state: FullState, j: int, moved: float, unit: float, told: float) -> None:
        """Change the center and the unit of a column, in place: both are in old units.

        `told` is that of `holdfast.steady.memories.told_in_unit`.
        """
        root = state.root
        add(root[len(root) - 1], moved, root[j])
        scale_by(root[j], max(unit * math.sqrt(told), _SMALLEST))


def _now(state: FullState) -> Covariance:
    """The same arrays, for `holdfast.learners.covariance`."""
    return Covariance(state.root, state.product, state.along, float(state.growth[0]))


class DiagonalState(NamedTuple):
    """P = growth diag(variances), and two buffers."""

    variances: np.ndarray
    row: np.ndarray  # the last one
    along: np.ndarray  # diag(variances) x
    growth: np.ndarray  # one number


@rule
class Diagonal:
    """Each weight by itself, as if the others had nothing to do with it. A round costs O(columns).

    After a round it is the diagonal of what `Full` would be, had that been this diagonal before.

    Guarantee: none of its own.

    >>> state = Diagonal().independent(dim=2, variance=1.0)
    >>> Diagonal().shrink(state, Diagonal().variance_of(state, np.array([1.0, 1.0])), noise=1.0)
    >>> round(Diagonal().variance_of(state, np.array([1.0, -1.0])), 3)
    1.333
    """

    def independent(self, dim: int, variance: float) -> DiagonalState:
        """The covariance of weights that are independent, all with this variance."""
        return DiagonalState(np.full(dim, variance), np.zeros(dim), np.zeros(dim), np.ones(1))

    def set_independent(self, state: DiagonalState, variance: float) -> None:
        """The same, in the arrays of another covariance."""
        assign(state.variances, np.full(len(state.variances), variance))
        state.growth[0] = 1.0

    def clear_buffers(self, state: DiagonalState) -> None:
        """Set both buffers to 0, in place."""
        assign(state.row, np.zeros(len(state.row)))
        assign(state.along, np.zeros(len(state.along)))

    def variance_of(self, state: DiagonalState, x: np.ndarray) -> float:
        """x'Px, the variance of the prediction for a row. The row is measured for `shrink`."""
        assign(state.row, x)
        assign(state.along, state.variances * x)
        return float(state.growth[0]) * dot(state.along, x)

    def variance_of_weight(self, state: DiagonalState, k: int) -> float:
        """That of the k-th weight."""
        return float(state.growth[0]) * float(state.variances[k])

    def measure_weight(self, state: DiagonalState, k: int) -> None:
        """Let the k-th weight be the row that was measured last, for `shrink`."""
        row, along = state.row, state.along
        assign(row, np.zeros(len(row)))
        assign(along, np.zeros(len(along)))
        row[k], along[k] = 1.0, state.variances[k]

    def shrink(self, state: DiagonalState, variance: float, noise: float) -> None:
        """Learn from the row that was measured last, with noise of this variance."""
        gain = float(state.growth[0]) / (noise + variance)
        left = np.maximum(1.0 - gain * (state.along * state.row), _LEAST)
        assign(state.variances, state.variances * left)

    def forget(self, state: DiagonalState, memory: float) -> None:
        """Let the covariance grow, after a round of a memory that fades."""
        growth = float(state.growth[0]) / (1.0 - 1.0 / memory)
        if growth > _MOST:
            scale_by(state.variances, growth)
            growth = 1.0
        state.growth[0] = growth

    @rarely_called
    def express_column(self, state: DiagonalState, j: int, moved: float, unit: float, told: float) -> None:
        """As in `Full`."""
        variances = state.variances
        variances[len(variances) - 1] += moved * moved * variances[j]
        variances[j] *= max(unit * unit * told, _SMALLEST * _SMALLEST)
