"""The covariance of the weights of all regressions: of all pairs of weights, or of each weight by itself.

Two rules with the same methods. P is the covariance, and `growth` the factor by which forgetting has made it
larger: `along` has Px / growth for the row that was measured last.
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


@rule
class Full:
    """All pairs of weights, as a square root (`holdfast.learners.covariance`). A round costs O(columns²).

    Guarantee: none of its own.

    Examples
    --------
    >>> state = Full().independent(dim=2, variance=1.0)
    >>> Full().shrink(state, Full().variance_of(state, np.array([1.0, 1.0])), noise=1.0)
    >>> round(Full().variance_of(state, np.array([1.0, -1.0])), 3)
    2.0
    """

    def independent(self, dim: int, variance: float) -> Covariance:
        """The covariance of weights that are independent, all with this variance."""
        return whole.independent(dim, variance)

    def set_independent(self, state: Covariance, variance: float) -> Covariance:
        """The same, in the arrays of another covariance."""
        return whole.set_independent(state, variance)

    def clear_buffers(self, state: Covariance) -> None:
        """Set both buffers to 0, in place."""
        whole.clear_buffers(state)

    def variance_of(self, state: Covariance, x: np.ndarray) -> float:
        """x'Px, the variance of the prediction for a row. The row is measured for `shrink`."""
        return whole.variance_of(state, x)

    def variance_of_weight(self, state: Covariance, k: int) -> float:
        """That of the k-th weight."""
        return whole.own_variance(state, k)

    def measure_weight(self, state: Covariance, k: int) -> None:
        """Let the k-th weight be the row that was measured last, for `shrink`."""
        whole.measure_weight(state, k)

    def shrink(self, state: Covariance, variance: float, noise: float) -> None:
        """Learn from the row that was measured last, with noise of this variance."""
        whole.shrink(state, variance, noise)

    def forget(self, state: Covariance, memory: float) -> Covariance:
        """The covariance after a round of a memory that fades: it grows."""
        return whole.forget(state, memory)

    @rarely_called
    def express_column(self, state: Covariance, j: int, moved: float, unit: float, told: float) -> Covariance:
        """Change the center and the unit of a column, in place: both are in old units.

        `told` is that of `holdfast.steady.memories.told_in_unit`.
        """
        root = state.root
        add(root[len(root) - 1], moved, root[j])
        scale_by(root[j], max(unit * math.sqrt(told), _SMALLEST))
        return state


class DiagonalState(NamedTuple):
    """P = growth diag(variances), and two buffers."""

    variances: np.ndarray
    row: np.ndarray  # the last one
    along: np.ndarray  # diag(variances) x
    growth: float


@rule
class Diagonal:
    """Each weight by itself, as if the others had nothing to do with it. A round costs O(columns).

    After a round it is the diagonal of what `Full` would be, had that been this diagonal before.

    Guarantee: none of its own.

    Examples
    --------
    >>> state = Diagonal().independent(dim=2, variance=1.0)
    >>> Diagonal().shrink(state, Diagonal().variance_of(state, np.array([1.0, 1.0])), noise=1.0)
    >>> round(Diagonal().variance_of(state, np.array([1.0, -1.0])), 3)
    1.333
    """

    def independent(self, dim: int, variance: float) -> DiagonalState:
        """The covariance of weights that are independent, all with this variance."""
        return DiagonalState(np.full(dim, variance), np.zeros(dim), np.zeros(dim), 1.0)

    def set_independent(self, state: DiagonalState, variance: float) -> DiagonalState:
        """The same, in the arrays of another covariance."""
        assign(state.variances, np.full(len(state.variances), variance))
        return DiagonalState(state.variances, state.row, state.along, 1.0)

    def clear_buffers(self, state: DiagonalState) -> None:
        """Set both buffers to 0, in place."""
        assign(state.row, np.zeros(len(state.row)))
        assign(state.along, np.zeros(len(state.along)))

    def variance_of(self, state: DiagonalState, x: np.ndarray) -> float:
        """x'Px, the variance of the prediction for a row. The row is measured for `shrink`."""
        assign(state.row, x)
        assign(state.along, state.variances * x)
        return state.growth * dot(state.along, x)

    def variance_of_weight(self, state: DiagonalState, k: int) -> float:
        """That of the k-th weight."""
        return state.growth * float(state.variances[k])

    def measure_weight(self, state: DiagonalState, k: int) -> None:
        """Let the k-th weight be the row that was measured last, for `shrink`."""
        row, along = state.row, state.along
        assign(row, np.zeros(len(row)))
        assign(along, np.zeros(len(along)))
        row[k], along[k] = 1.0, state.variances[k]

    def shrink(self, state: DiagonalState, variance: float, noise: float) -> None:
        """Learn from the row that was measured last, with noise of this variance."""
        gain = state.growth / (noise + variance)
        left = np.maximum(1.0 - gain * (state.along * state.row), _LEAST)
        assign(state.variances, state.variances * left)

    def forget(self, state: DiagonalState, memory: float) -> DiagonalState:
        """The covariance after a round of a memory that fades: it grows."""
        variances, row, along, growth = state
        growth /= 1.0 - 1.0 / memory
        if growth > _MOST:
            scale_by(variances, growth)
            growth = 1.0
        return DiagonalState(variances, row, along, growth)

    @rarely_called
    def express_column(
        self, state: DiagonalState, j: int, moved: float, unit: float, told: float
    ) -> DiagonalState:
        """As in `Full`."""
        variances = state.variances
        variances[len(variances) - 1] += moved * moved * variances[j]
        variances[j] *= max(unit * unit * told, _SMALLEST * _SMALLEST)
        return state
