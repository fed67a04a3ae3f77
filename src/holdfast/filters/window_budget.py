"""How many of n remembered rounds may be outliers, for a filter with a window."""

import functools
from typing import NamedTuple

import numpy as np

from holdfast.filters.binomial_quantile import smallest
from holdfast.filters.budget_schedule import BudgetSchedule
from holdfast.sketches.histogram import is_whole

_STEPS = 32  # of a block, each with one budget
_SURE = 200  # rounds: behind so many of them, as many bad ones are withstood as behind any number
_END, _BUDGET, _THRESHOLD = range(3)


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
        """Whether its blocks have this length."""
        return self.window == window

    def cleared(self) -> "WindowBudget":
        """The schedule before the first round, in the same arrays."""
        self.step[:] = 0.0
        return WindowBudget(self.first.cleared(), self.budgets, self.step, self.window, self.patience)

    def valid(self, n: int) -> bool:
        """Whether rounds can lead here if n of them are remembered."""
        end, budget, last = self.step[_END], self.step[_BUDGET], 2 * self.window
        for most in self.budgets:
            if not (is_whole(most) and 0.0 <= most <= last):
                return False
        return (
            self.first.valid(min(n, self.window))
            and is_whole(end)
            and is_whole(budget)
            and (n <= end < last or (n == last and end == 0.0))
            and 0.0 <= budget <= last
            and self.step[_THRESHOLD] >= 0.0
        )

    def store(self, threshold: float) -> None:
        """Store a threshold of this step."""
        self.step[_THRESHOLD] = threshold

    def stored(self) -> float:
        """The threshold that was stored last."""
        return float(self.step[_THRESHOLD])

    def surely_kept(self, n: int, size: float) -> bool:
        """Whether n is in the step, and the size is at most the stored threshold."""
        return size <= self.step[_THRESHOLD] and n <= self.step[_END]

    def at(self, n: int, share: float, level: float) -> int:
        """The budget of n remembered rounds; n is that of the last call or the next one."""
        step = self.step
        if n > step[_END]:
            if n <= self.window:
                k = self.first.at(n, share, level)
                end = min(self.first.last_round(), self.window)
                k = max(k, least_budget(end, self.patience))
            else:
                i = ((n - self.window) * len(self.budgets) - 1) // self.window
                k, end = int(self.budgets[i]), last_of(i, self.window, len(self.budgets))
                if end == 2 * self.window:  # the next n is W + 1, and belongs to another step
                    end = end - 1 if n < end else 0
            step[_END], step[_BUDGET] = end, k
        return int(step[_BUDGET])


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
        k = smallest(end, share, 1.0 - share, delta / steps, k)
        budgets.append(float(max(k, least_budget(end, patience))))
    return budgets
