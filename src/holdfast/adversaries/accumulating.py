"""Poison: many small pushes one way, then the trigger."""

from typing import Any

import numpy as np

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import lengths, typical, victims
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class Accumulating:
    """A data stream with k-1 rows of ordinary length, all pushing one way, and then one far back.

    Each push is as long as the median clean row, so no filter can take offence. The last outlier lies
    `factor` times as far in the same direction, with the opposite label: a learner that gave way pays
    `factor` times for it, and one without a filter is thrown the other way as well.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers, the trigger among them.
    factor : float
        The length of the trigger, in pushes.
    seed : int
        For which rounds they are, and for the direction.

    Attributes
    ----------
    poisoned : Replay
        What is played. The outliers' labels are plus and, for the trigger, minus the largest clean one.
    inliers : bool array
        The rounds left as they were.

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
        bad, X, y, rng = victims(self.stream, self.k, self.seed)
        direction = rng.standard_normal((1, X.shape[1]))
        X[bad] = direction * (typical(lengths(X)) / lengths(direction))
        y[bad] = np.fmax.reduce(np.abs(y))
        X[bad[-1]] *= self.factor
        y[bad[-1]] *= -1.0
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
