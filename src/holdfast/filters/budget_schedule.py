"""How many of the first n rounds, or of n remembered ones, may be outliers: a binomial quantile in steps."""

import functools
import math
from typing import NamedTuple

import numpy as np

from holdfast.filters.binomial import BinomialTail, smallest
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


_STEPS = 32  # of a block, each with one budget
_SURE = 200  # rounds: behind so many of them, as many bad ones are withstood as behind any number
_LAST, _ALLOWED, _STORED = range(3)


class WindowBudget(NamedTuple):
    """A `BudgetSchedule` for n = 1, ..., 2 W, then W + 1, ..., 2 W again and again.

    The first block, n <= W, has the steps and budgets of `BudgetSchedule`. Each later one has 32 steps of
    equal length; their budgets are computed once, in `block_budgets`. Inside a block budgets do not fall. No
    budget is below `least_budget`.

    >>> budget = WindowBudget.at_start(share=0.1, delta=1e-3, window=100, patience=0)
    >>> first = [budget.at(n, share=0.1, level=6e-4) for n in range(1, 101)]
    >>> later = [budget.at(n, share=0.1, level=6e-4) for n in range(101, 201)]
    >>> first[0], first[-1], later[0], later[-1], budget.at(101, share=0.1, level=6e-4)
    (1, 29, 24, 39, 24)
    """

    first: BudgetSchedule  # of the first block
    budgets: np.ndarray  # of the steps of each later block
    step: np.ndarray  # its last n, but 0 if n will fall after it; its budget; a threshold
    window: int
    patience: int

    @staticmethod
    def at_start(share: float, delta: float, window: int, patience: int) -> "WindowBudget":
        budgets = np.array(block_budgets(share, delta, window, patience))
        return WindowBudget(BudgetSchedule.at_start(), budgets, np.zeros(3), window, patience)

    def has_window(self, window: int | None) -> bool:
        return self.window == window

    def cleared(self) -> "WindowBudget":
        self.step[:] = 0.0
        return WindowBudget(self.first.cleared(), self.budgets, self.step, self.window, self.patience)

    def valid(self, n: int) -> bool:
        """Whether rounds can lead here if n of them are remembered."""
        end, budget, last = self.step[_LAST], self.step[_ALLOWED], 2 * self.window
        for most in self.budgets:
            if not (is_whole(most) and 0.0 <= most <= last):
                return False
        return (
            self.first.valid(min(n, self.window))
            and is_whole(end)
            and is_whole(budget)
            and (n <= end < last or (n == last and end == 0.0))
            and 0.0 <= budget <= last
            and self.step[_STORED] >= 0.0
        )

    def store(self, threshold: float) -> None:
        self.step[_STORED] = threshold

    def stored(self) -> float:
        return float(self.step[_STORED])

    def surely_kept(self, n: int, size: float) -> bool:
        return size <= self.step[_STORED] and n <= self.step[_LAST]

    def at(self, n: int, share: float, level: float) -> int:
        """The budget of n remembered rounds; n is that of the last call or the next one."""
        step = self.step
        if n > step[_LAST]:
            if n <= self.window:
                k = self.first.at(n, share, level)
                end = min(self.first.last_round(), self.window)
                k = max(k, least_budget(end, self.patience))
            else:
                i = ((n - self.window) * len(self.budgets) - 1) // self.window
                k, end = int(self.budgets[i]), last_of(i, self.window, len(self.budgets))
                if end == 2 * self.window:  # the next n is W + 1, and belongs to another step
                    end = end - 1 if n < end else 0
            step[_LAST], step[_ALLOWED] = end, k
        return int(step[_ALLOWED])


def least_budget(n: int, patience: int) -> int:
    """The least budget of n remembered rounds: 0.4 n or n - 200, whichever is more, and at most `patience`.

    So behind 200 good rounds a burst of `patience` bad ones is withstood.
    """
    return min(max(int(0.4 * n), n - _SURE), patience)


def last_of(i: int, window: int, steps: int) -> int:
    """How many rounds are remembered at the end of step i = 0, 1, ... of a block."""
    return window + (i + 1) * window // steps


@functools.lru_cache
def block_budgets(share: float, delta: float, window: int, patience: int) -> list[float]:
    """The budgets of the steps of a block, all of which hold at once with probability 1 - delta.

    For a step at whose end e rounds are remembered: the smallest k with P(Bin(e, share) > k) at most delta
    divided by the number of steps, and at least `least_budget(e, patience)`.

    >>> block_budgets(share=0.01, delta=1e-3, window=1000, patience=0)[-1]
    40.0
    """
    steps, k, budgets = min(window, _STEPS), 0, []
    for i in range(steps):
        end = last_of(i, window, steps)
        k = smallest(end, share, 1.0 - share, delta / steps, max(k, least_budget(end, patience)))
        budgets.append(float(k))
    return budgets
