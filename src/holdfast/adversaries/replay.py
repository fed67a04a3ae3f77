"""An adversary that replays data: a linear model with a loss on each row."""

from typing import Any

import numpy as np

from holdfast.adversaries.data import labels, matrix
from holdfast.adversaries.sparsereplay import SparseReplay
from holdfast.losses import slope_at
from holdfast.protocols import Loss, Row, Weights
from holdfast.rule import replaced, rule
from holdfast.vectors import dot, prefetch_row, target_for


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

    def start(self) -> Any:
        return 0

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
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
