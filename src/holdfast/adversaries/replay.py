"""Adversaries that replay data, dense or sparse: a linear model with a loss on each row."""

from typing import Any

import numpy as np

from holdfast.adversaries.data import labels, matrix, vector
from holdfast.losses import slope_at
from holdfast.protocols import Loss, Row, Weights
from holdfast.rule import frozen, replaced, rule
from holdfast.vectors import Sparse, dot, prefetch_at, prefetch_row, target_for


@rule
class Replay:
    """Round t reveals f(w) = h(<w, x_t>, y_t), with gradient h' x_t.

    Parameters:
        X (array, frame or sparse matrix of shape (rounds, dim)): float32 stays float32; other types become
            float64. An array in C order is not copied, also if it is memory-mapped; Fortran order is copied.
            With a matrix of scipy.sparse the result is a `SparseReplay`.
        y (array of shape (rounds,)): Targets, or labels -1 and +1.
        loss: h, such as `Logistic()`.

    >>> from holdfast.losses import Hinge
    >>> replay = Replay([[1.0, 2.0]], [1], Hinge())
    >>> _, loss, slope, x = replay.reveal(replay.start(), 0, [0.5, 0.0])
    >>> loss, slope, x.tolist()
    (0.5, -1.0, [1.0, 2.0])
    """

    X: Any
    y: Any
    loss: Loss

    def check(self) -> Any:
        if hasattr(self.X, "tocsr"):
            return SparseReplay.of(self.X.tocsr(), self.y, self.loss)
        X, y = matrix(self.X, "X"), labels(self.y, len(self.X), self.loss)
        return replaced(self, X=X, y=y)

    def extent(self) -> tuple[int, int]:
        return self.X.shape

    def expect(self, t: int) -> None:
        prefetch_row(self.X, t)
        prefetch_row(self.y, t)

    def target_at(self, t: int) -> float:
        return float(self.y[t])

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        x, y = self.X[t], target_for(w, float(self.y[t]))
        z = dot(w, x)
        slope = slope_at(self.loss, z, y)
        return state, self.loss.value(z, y), slope, x


def replay_of_arrays(X: np.ndarray, y: np.ndarray, loss: Loss) -> Replay:
    """`Replay(X, y, loss)` without its checks: for float64 arrays, and a loss that fits them."""
    made: Any = Replay
    return made._make((_readonly(X), _readonly(y), loss))


def _readonly(array: np.ndarray) -> np.ndarray:
    return frozen(np.ascontiguousarray(array).view())


@rule
class SparseReplay:
    """Round t reveals f(w) = h(<w, x_t>, y_t) for a row x_t of a sparse matrix. `Replay` creates it.

    A round takes O(nonzeros) with `OGD` on a `Ball` and the norms L1, L2, LInf and Lp. Other learners,
    domains and norms take O(dim).

    Parameters:
        values, places, starts (arrays): The matrix in compressed rows: row t has
            values[starts[t]:starts[t+1]], in the columns `places`.
        dim: The number of columns.
        y, loss: As in `Replay`.

    >>> from scipy.sparse import csr_array
    >>> from holdfast.adversaries import Replay
    >>> from holdfast.losses import Hinge
    >>> replay = Replay(csr_array([[0.0, 2.0, 0.0]]), [1], Hinge())
    >>> _, loss, slope, x = replay.reveal(replay.start(), 0, np.array([0.5, 0.25, 0.0]))
    >>> loss, slope, x.places.tolist(), x.values.tolist()
    (0.5, -1.0, [1], [2.0])
    """

    values: Any
    places: Any
    starts: Any
    dim: int
    y: Any
    loss: Loss

    @staticmethod
    def of(csr: Any, y: np.ndarray, loss: Loss) -> "SparseReplay":
        if not csr.has_canonical_format:  # a column twice in one row
            csr = csr.copy()
            csr.sum_duplicates()
        return SparseReplay(csr.data, csr.indices, csr.indptr, csr.shape[1], y, loss)

    def check(self) -> Any:
        values, places, starts = (
            np.ascontiguousarray(each) for each in (self.values, self.places, self.starts)
        )
        if values.dtype != np.float32:
            values = vector(values, "values")
        for name, array in (("values", values), ("places", places), ("starts", starts)):
            if array.ndim != 1:
                raise ValueError(f"{name} must have 1 dimension: got shape {array.shape}")
        for name, array in (("places", places), ("starts", starts)):
            if array.dtype not in (np.int32, np.int64):
                raise TypeError(f"{name} must be of type int32 or int64: got {array.dtype}")
        if len(places) != len(values) or len(starts) == 0 or starts[0] != 0 or starts[-1] != len(values):
            raise ValueError("starts must go from 0 to the number of values, and each value has one place")
        if (np.diff(starts) < 0).any():
            raise ValueError("starts must not decrease")
        if len(places) and (places.min() < 0 or places.max() >= self.dim):
            raise ValueError(
                f"places must be between 0 and {self.dim - 1}: got {places.min()} to {places.max()}"
            )
        if not np.isin(np.flatnonzero(np.diff(places) <= 0) + 1, starts).all():
            raise ValueError(
                "the places of a row must ascend, each at most once: give Replay the whole matrix"
            )
        y = labels(self.y, len(starts) - 1, self.loss)
        values, places, starts = (_readonly(array) for array in (values, places, starts))
        return replaced(self, values=values, places=places, starts=starts, y=y)

    def extent(self) -> tuple[int, int]:
        return len(self.starts) - 1, self.dim

    def is_sparse(self) -> bool:
        return True

    def target_at(self, t: int) -> float:
        return float(self.y[t])

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        first, last = self.starts[t], self.starts[t + 1]
        x = Sparse(self.places[first:last], self.values[first:last], self.dim)
        y = target_for(w, float(self.y[t]))
        z = dot(w, x)
        slope = slope_at(self.loss, z, y)
        if t + 2 < len(self.starts):  # prefetch the weights of the next round
            prefetch_at(w, self.places[last : self.starts[t + 2]])
        return state, self.loss.value(z, y), slope, x
