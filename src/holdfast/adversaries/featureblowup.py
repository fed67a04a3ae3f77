"""Corrupted data: rows that are too large, as if a decimal point were missing."""

from typing import Any

import numpy as np

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import choose_outliers
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class FeatureBlowUp:
    """A data stream in which k random rows are multiplied by `factor`.

    The gradient grows with the row even if the slope is bounded, as for the logistic loss. So clipping the
    loss or its slope does not help. A negative factor also makes the label wrong.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers.
    factor : float
        The factor of their features.
    seed : int
        For the choice of the rounds.

    Attributes
    ----------
    poisoned : Replay
        The corrupted data.
    inliers : bool array
        The rounds that are not corrupted.

    Guarantee
    ---------
    Theorem 1 with this k, for `TopK(k)`.

    Examples
    --------
    >>> from holdfast.losses import Hinge
    >>> clean = Replay([[1.0], [2.0], [3.0]], [1, -1, 1], Hinge())
    >>> blown_up = FeatureBlowUp(clean, k=1, factor=1000.0, seed=1)
    >>> blown_up.poisoned.X.tolist(), blown_up.inliers
    ([[1.0], [2000.0], [3.0]], array([ True, False,  True]))
    """

    stream: Any
    k: int
    factor: float = 1000.0
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self):
        bad, X, y, _ = choose_outliers(self.stream, self.k, self.seed)
        with np.errstate(over="ignore", invalid="ignore"):
            X[bad] *= self.factor
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
