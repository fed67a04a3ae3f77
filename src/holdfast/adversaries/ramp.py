"""Poison: every outlier a little larger than the one before."""

from typing import Any

import numpy as np

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import lengths, typical, victims
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class Ramp:
    """A data stream in which k rows are turned around, each `growth` times as long as the one before.

    A rule that calls outlier what lies some deviations beyond its window accepts them one by one, and with
    each its idea of normal grows. The list of Algorithm 1 has room for all of them beside an inlier, so none
    is kept that is more than twice as large as the largest inlier.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers. The first is `growth` times as long as the median clean row.
    growth : float
        From one outlier to the next.
    seed : int
        For which rounds they are.

    Attributes
    ----------
    poisoned : Replay
        What is played.
    inliers : bool array
        The rounds left as they were.

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
        bad, X, y, _ = victims(self.stream, self.k, self.seed)
        of_rows = lengths(X)
        wanted = typical(of_rows) * self.growth ** np.arange(1.0, self.k + 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            X[bad] *= np.where(of_rows[bad] > 0.0, -wanted / of_rows[bad], 0.0)[:, None]
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
