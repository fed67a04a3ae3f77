"""Poison: some labels say the opposite."""

from typing import Any

from holdfast.adversaries import poison
from holdfast.adversaries.draws import all_but
from holdfast.adversaries.poison import victims
from holdfast.adversaries.replay import Replay
from holdfast.rule import rule


@rule
class LabelFlip:
    """A data stream in which k labels, anywhere, have the wrong sign; of a regression, k targets.

    The features are untouched, so a filter that looks only at them sees nothing, and with a Lipschitz loss
    the gradients are no larger than before: such outliers are kept, and Theorem 1 says what they can cost.

    Parameters
    ----------
    stream : Replay
        The clean data.
    k : int
        The number of outliers.
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
        bad, X, y, _ = victims(self.stream, self.k, self.seed)
        y[bad] *= -1.0
        return self._replace(poisoned=Replay(X, y, self.stream.loss), inliers=all_but(bad, len(X)))

    extent, start, reveal = poison.extent, poison.start, poison.reveal
