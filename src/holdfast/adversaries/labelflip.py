"""Corrupted data: some labels have the wrong sign."""

from typing import Any

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import choose_outliers
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class LabelFlip:
    """A data stream in which k random labels (or targets) have the wrong sign.

    The features do not change, so a filter on features cannot find the outliers. With a Lipschitz loss the
    gradients are not larger than before, so the outliers are kept. Theorem 1 bounds their cost.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers.
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
    >>> flipped = LabelFlip(clean, k=2, seed=0)
    >>> flipped.poisoned.y, flipped.inliers
    (array([ 1.,  1., -1.]), array([ True, False, False]))
    """

    stream: Any
    k: int
    seed: int = 0
    poisoned: Any = None
    inliers: Any = None

    def check(self):
        bad, X, y, _ = choose_outliers(self.stream, self.k, self.seed)
        y[bad] *= -1.0
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
