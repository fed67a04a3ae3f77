"""An adversary whose rounds have weights."""

from typing import Any

import numpy as np

from holdfast.protocols import Adversary, Row, Weights
from holdfast.rule import rule


@rule
class Weighted:
    """Round t is round t of `inner`, with its loss times weights[t].

    Parameters:
        inner: Such as `Replay(X, y, Hinge())`.
        weights (array of shape (rounds,)): Finite, and at least 0. A round of weight 0 does not change the
            learner, but a filter counts its size, which is 0. Leave such a round out if it should not count.

    >>> from holdfast.adversaries import Replay
    >>> from holdfast.losses import Hinge
    >>> weighted = Weighted(Replay([[1.0, 2.0]], [1], Hinge()), [3.0])
    >>> _, loss, slope, x = weighted.reveal(weighted.start(), 0, [0.5, 0.0])
    >>> loss, slope, x.tolist()
    (1.5, -3.0, [1.0, 2.0])
    """

    inner: Adversary
    weights: np.ndarray

    def check(self) -> None:
        rounds = self.inner.extent()[0]
        if self.weights.shape != (rounds,):
            raise ValueError(
                f"weights must be {rounds} numbers, one for each round: got {self.weights.shape}"
            )
        if not (np.isfinite(self.weights) & (self.weights >= 0.0)).all():
            raise ValueError("weights must be finite and not negative")

    def extent(self) -> tuple[int, int]:
        return self.inner.extent()

    def start(self) -> Any:
        return self.inner.start()

    def is_sparse(self) -> bool:
        inner: Any = self.inner
        return inner.is_sparse()

    def expect(self, t: int) -> None:
        inner: Any = self.inner
        inner.expect(t)

    def target_at(self, t: int) -> float:
        inner: Any = self.inner
        return inner.target_at(t)

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        state, loss, slope, x = self.inner.reveal(state, t, w)
        weight = float(self.weights[t])
        return state, weight * loss, weight * slope, x
