"""Corrupted data: every outlier is a little larger than the one before."""

from typing import Any

import numpy as np

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import choose_outliers, lengths, typical
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class Ramp:
    """A data stream in which k rows are reversed, each `growth` times as long as the one before.

    A filter with a threshold of some standard deviations over a window accepts them one by one, and its
    threshold grows with each. The list of Algorithm 1 has k+1 entries, so one of them is an inlier, and no
    outlier of more than twice the largest inlier is kept.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers. The first is `growth` times as long as the median clean row.
    growth : float
        The ratio of one outlier to the one before.
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
    >>> clean = Replay(np.ones((6, 1)), np.ones(6), Hinge())
    >>> Ramp(clean, k=3, growth=2.0).poisoned.X[:, 0]
    array([ 1.,  1.,  1., -2., -4., -8.])
    """

    stream: Any
    k: int
    growth: float = 1.1
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self):
        if not self.growth > 0.0:
            raise ValueError(f"growth is a factor and must be positive: got {self.growth}")
        bad, X, y, _ = choose_outliers(self.stream, self.k, self.seed)
        of_rows = lengths(X)
        wanted = typical(of_rows) * self.growth ** np.arange(1.0, self.k + 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            X[bad] *= np.where(of_rows[bad] > 0.0, -wanted / of_rows[bad], 0.0)[:, None]
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
