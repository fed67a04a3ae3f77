"""The filter that keeps everything: plain online learning, for comparison."""

import math

from holdfast.rule import rule


@rule
class Everything:
    """Keep every round whose size is a finite number.

    Guarantee: none against outliers. With it, `Filtered(learner, Everything())` is the learner itself.

    >>> everything = Everything()
    >>> everything.decide(everything.init(dim=1), 1e300)[2]
    True
    """

    def init(self, dim: int) -> int:
        return 0

    def keeps_all(self) -> bool:
        return True

    def decide(self, state: int, size: float) -> tuple[int, float, bool]:
        return state, math.inf, size < math.inf
