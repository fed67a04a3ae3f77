"""An adversary whose rounds have weights."""

import numpy as np

from holdfast.protocols import Adversary
from holdfast.rule import rule


@rule
class Weighted:
    """Round t is round t of `inner`, with its loss times weights[t].

    Parameters
    ----------
    inner : an adversary
        Such as `Replay(X, y, Hinge())`.
    weights : array of shape (rounds,)
        Finite, and at least 0. A round of weight 0 does not change the learner, but a filter counts its size,
        which is 0. Leave such a round out if it should not count.

    Examples
    --------
    >>> from holdfast.adversaries import Replay
    >>> from holdfast.losses import Hinge
    >>> weighted = Weighted(Replay([[1.0, 2.0]], [1], Hinge()), [3.0])
    >>> _, loss, slope, x = weighted.reveal(weighted.start(), 0, [0.5, 0.0])
    >>> loss, slope, x.tolist()
    (1.5, -3.0, [1.0, 2.0])
    """

    inner: Adversary
    weights: np.ndarray

    def check(self):
        rounds = self.inner.extent()[0]
        if self.weights.shape != (rounds,):
            raise ValueError(
                f"weights must be {rounds} numbers, one for each round: got {self.weights.shape}"
            )
        if not (np.isfinite(self.weights) & (self.weights >= 0.0)).all():
            raise ValueError("weights must be finite and not negative")

    def extent(self):
        return self.inner.extent()

    def start(self):
        return self.inner.start()

    def is_sparse(self):
        return self.inner.is_sparse()

    def expect(self, t):
        self.inner.expect(t)

    def target_at(self, t):
        return self.inner.target_at(t)

    def reveal(self, state, t, w):
        state, loss, slope, x = self.inner.reveal(state, t, w)
        weight = float(self.weights[t])
        return state, weight * loss, weight * slope, x
