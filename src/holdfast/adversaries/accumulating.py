"""Corrupted data: many small pushes in one direction, then one large row in the other."""

from typing import Any

import numpy as np

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import choose_outliers, lengths, typical
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class Accumulating:
    """A data stream with k-1 outliers of ordinary length in one direction, and then a long one, the trigger.

    Each push is as long as the median clean row, so no filter by size can recognise it. The trigger has the
    same direction, `factor` times the length and the opposite label. A learner that followed the pushes pays
    `factor` times for it, and without a filter it makes a large step in the other direction.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers, including the trigger.
    factor : float
        The length of the trigger, relative to a push.
    seed : int
        For the choice of the rounds, and for the direction.

    Attributes
    ----------
    poisoned : Replay
        The corrupted data. The label of a push is the largest clean one, that of the trigger its negative.
    inliers : bool array
        The rounds that are not corrupted.

    Guarantee
    ---------
    Theorem 1 with this k, for `TopK(k)`.

    Examples
    --------
    >>> from holdfast.losses import Hinge
    >>> clean = Replay(2.0 * np.ones((6, 1)), -np.ones(6), Hinge())
    >>> pushes = Accumulating(clean, k=3, factor=100.0)
    >>> pushes.poisoned.X[~pushes.inliers].tolist(), pushes.poisoned.y[~pushes.inliers]
    ([[2.0], [2.0], [200.0]], array([ 1.,  1., -1.]))
    """

    stream: Any
    k: int
    factor: float = 1000.0
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self):
        if self.k < 1:
            raise ValueError(f"k counts the outliers, at least the trigger: got {self.k}")
        bad, X, y, rng = choose_outliers(self.stream, self.k, self.seed)
        direction = rng.standard_normal((1, X.shape[1]))
        X[bad] = direction * (typical(lengths(X)) / lengths(direction))
        y[bad] = np.fmax.reduce(np.abs(y))
        X[bad[-1]] *= self.factor
        y[bad[-1]] *= -1.0
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
