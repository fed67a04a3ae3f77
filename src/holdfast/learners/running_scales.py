"""How `Scaled` updates its running centers and spreads: over all rounds, or with a memory that fades.

Two rules with the same methods, so that a game is compiled with only the one it uses. `counts` is what they
remember beside centers and spreads: two numbers for every feature, and then for the target.
"""

import math
from typing import Any

import numpy as np

from holdfast.entrywise import SWING, add_square, fade_entry, fade_moments, update_moments
from holdfast.norms import LONG
from holdfast.rule import rule

_OFTEN = 1.01  # the factors are computed again when there are this many times as many rounds


def scales_with(memory: Any) -> Any:
    """The rule for a memory: None or infinity means all rounds."""
    if isinstance(memory, AllRounds | Fading):
        return memory
    return AllRounds() if memory is None or memory == math.inf else Fading(memory)


@rule
class AllRounds:
    """Means over all rounds. A spread is the sum of squared deviations.

    Examples
    --------
    >>> AllRounds().squares(n=100.0), AllRounds().next_due(n=100.0)
    (100.0, 102.0)
    """

    def init(self, dim):
        return np.zeros(0)

    def squares(self, n):
        """The number of squared deviations that a spread is the sum of, after n rounds."""
        return n

    def count_first(self, counts, i, moved, n):
        """The same for column i after the n first rounds, if `moved` of them deviate from the median."""
        return moved

    def next_due(self, n):
        """The round in which the factors are computed again."""
        return _OFTEN * n + 1.0

    def update_columns(self, center, spread, factors, counts, n, x):
        """Update centers and spreads by the n-th row. Returns whether a column has its first spread."""
        update_moments(center, spread, factors, n, x)
        return False

    def update_target(self, center, squares, spread, counts, n, y):
        """The same for the target. Returns its new center and sum of squares, and whether it has a spread."""
        deviation = max(min(y - center, LONG), -LONG)
        if spread > 0.0:
            far = SWING * spread
            deviation = max(min(deviation, far), -far)
            center += deviation / n
            squares += deviation * (deviation - deviation / n)
        else:
            squares = add_square(squares, deviation * deviation)
        return center, squares, False


@rule
class Fading:
    """Means that fade. A spread is the mean of the squared deviations that are not 0.

    The first half of `counts` has the number of these deviations, the second the share of the values that
    equal the center (`holdfast.entrywise.fade_entry`).

    Examples
    --------
    >>> Fading(1000).squares(n=100.0), Fading(1000).next_due(n=5000.0)
    (1.0, 5011.0)
    """

    rounds: float

    def check(self):
        if not 2.0 <= self.rounds < math.inf:
            raise ValueError(f"memory counts rounds, at least 2, or is None: got {self.rounds:g}")

    def init(self, dim):
        return np.zeros(2 * (dim + 1))  # of one dimension: a matrix takes seconds more to compile

    def squares(self, n):
        return 1.0

    def count_first(self, counts, i, moved, n):
        counts[i], counts[len(counts) // 2 + i] = moved, 1.0 - moved / n
        return 1.0

    def next_due(self, n):
        return n + (_OFTEN - 1.0) * min(n, self.rounds) + 1.0

    def update_columns(self, center, spread, factors, counts, n, x):
        half = len(counts) // 2
        return fade_moments(center, spread, factors, counts[: half - 1], counts[half:-1], n, self.rounds, x)

    def update_target(self, center, squares, spread, counts, n, y):
        last, before = len(counts) // 2 - 1, squares
        factor, rate = 1.0 / spread if spread > 0.0 else 0.0, 1.0 / min(n, self.rounds)
        center, squares, counts[last], counts[-1] = fade_entry(
            center, squares, factor, counts[last], counts[-1], rate, y
        )
        return center, squares, squares > 0.0 and not before > 0.0
