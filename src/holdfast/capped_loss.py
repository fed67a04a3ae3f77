"""A loss by which learners are compared: one bad row must not decide which of them is best."""

__all__ = ["Capped"]

import math

from holdfast.protocols import Loss
from holdfast.rule import rule


@rule
class Capped:
    """A loss that counts up to `most`. Its slope is that of the loss without a limit.

    For `Mixture`, which compares learners by the values of its loss. Without a limit a few rows that no
    learner predicts have larger losses than all others together. Then the learner wins that is least wrong
    about them, however bad it is elsewhere.

    Parameters
    ----------
    loss : a loss
        Such as `Absolute()`.
    most : float
        In the units of the loss. Inside of `Scaled(..., target=True)` these are standard deviations of the
        target.

    Guarantee: none. A capped loss is not convex, so the bound of `Mixture` does not hold with it.

    Examples
    --------
    >>> from holdfast.losses import Absolute
    >>> capped = Capped(Absolute(), most=2.0)
    >>> capped.value(0.5, 0.0), capped.value(1000.0, 0.0), capped.slope(1000.0, 0.0)
    (0.5, 2.0, 1.0)
    """

    loss: Loss
    most: float = 1.0

    def check(self):
        if not 0.0 < self.most < math.inf:
            raise ValueError(f"most is the largest loss that counts, so it must be positive: got {self.most}")

    def value(self, z, y):
        return min(self.loss.value(z, y), self.most)

    def slope(self, z, y):
        return self.loss.slope(z, y)
