"""How many of the first n rounds may be outliers: a binomial quantile that grows in steps."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.filters.binomial import BinomialTail
from holdfast.filters.binomial_quantile import smallest
from holdfast.sketches.histogram import is_whole

_EARLY = 512  # rounds, each of which is a step
_END, _BUDGET, _THRESHOLD = range(5, 8)


class BudgetSchedule(NamedTuple):
    """The smallest k with P(Bin(e, share) > k) <= level / e², where e is the last round of n's step.

    Each of the first rounds is a step. Later ones are a 32nd as long as what came before, and at most as long
    as k takes to grow by half a standard deviation. So k is computed once a step. If at most k of the first e
    rounds are outliers, then so are at most k of the first n.

    With one k the threshold of a filter only rises. So the last threshold that was computed in a step is
    stored, and a size below it need not be compared with the latest one.

    >>> schedule = BudgetSchedule.at_start()
    >>> [schedule.at(n, share=0.1, level=1e-3) for n in (1, 2, 3)]
    [1, 2, 3]
    """

    figures: np.ndarray  # those of a `BinomialTail`; then the last round of the step, its k, a threshold

    @staticmethod
    def at_start() -> "BudgetSchedule":
        return BudgetSchedule(np.zeros(8)).cleared()

    def cleared(self) -> "BudgetSchedule":
        """The schedule before the first round, in the same array."""
        BinomialTail(0.0, 1.0, self.figures).cleared()
        return self

    def valid(self, n: int) -> bool:
        """Whether n rounds can lead here."""
        end, budget, threshold = self.figures[_END], self.figures[_BUDGET], self.figures[_THRESHOLD]
        tail = BinomialTail(0.0, 1.0, self.figures)
        return (
            tail.valid(min(n, _EARLY - 1))
            and is_whole(end)
            and is_whole(budget)
            and n <= end <= n + n // 32
            and 0.0 <= budget <= end
            and threshold >= 0.0
        )

    def has_window(self, window: int | None) -> bool:
        """True if `window` is None: n only grows."""
        return window is None

    def last_round(self) -> int:
        """The last round of the step."""
        return int(self.figures[_END])

    def store(self, threshold: float) -> None:
        """Store a threshold of this step."""
        self.figures[_THRESHOLD] = threshold

    def stored(self) -> float:
        """The threshold that was stored last."""
        return float(self.figures[_THRESHOLD])

    def surely_kept(self, n: int, size: float) -> bool:
        """Whether round n is in the step, and its size is at most the stored threshold."""
        return size <= self.figures[_THRESHOLD] and n <= self.figures[_END]

    def at(self, n: int, share: float, level: float) -> int:
        """The k of round n, which is the last one or the next."""
        if n > self.figures[_END]:
            end = last_of_step(n, share)
            square = float(end) * float(end)
            if n < _EARLY:
                k = BinomialTail(share, 1.0 - share, self.figures).next_round(level, square)
            else:
                k = smallest(end, share, 1.0 - share, level / square, int(self.figures[_BUDGET]))
            self.figures[_END], self.figures[_BUDGET] = end, k
        return int(self.figures[_BUDGET])


def last_of_step(n: int, share: float) -> int:
    """The last round of the step that begins with round n."""
    return n + min(n // 32, int(0.5 * math.sqrt(n / share))) if n >= _EARLY else n


def end_of_step(n: int, share: float) -> int:
    """The last round of the step to which round n belongs.

    >>> end_of_step(100, share=0.1), end_of_step(100_000, share=0.1)
    (100, 100302)
    """
    end = min(n, _EARLY - 1)
    while end < n:
        end = last_of_step(end + 1, share)
    return end
