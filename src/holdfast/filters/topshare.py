"""The Top-share filter: Algorithm 1 with a budget that grows with the rounds."""

import math
from typing import Any, NamedTuple

from holdfast.filters.budget_schedule import BudgetSchedule, WindowBudget
from holdfast.rule import rule
from holdfast.sketches.windowed import check_window, order_statistics


class TopShareState(NamedTuple):
    memory: Any  # of the sizes
    budget: Any  # how many of them may be outliers


@rule
class TopShare:
    """Keep a round unless its size exceeds `slack` times the (k_t + 1)-th largest size so far.

    If each round is corrupted with probability at most `share`, independently, then more than k_t of the
    first t rounds are outliers with probability at most 6 delta / (pi t)^2, which sums to delta over all
    rounds: k_t is the exact binomial quantile, from round 512 on that of the end of a short step
    (`BudgetSchedule`).
    So the argument of Algorithm 1 holds at every round at once, without a horizon. TopK(share * T) skips
    share * T rounds before it keeps any; this skips a handful.

    Within a step the threshold only rises. So it is computed when a step begins and when a size exceeds the
    stored one. For a round that was kept, the threshold returned is the stored one, which is at most the
    latest.

    Parameters:
        share: The largest probability with which a round may be an outlier, in (0, 1).
        delta: The probability that the guarantee fails.
        slack: As for `TopK`.
        exact: Remember every size instead of a histogram of them, whose thresholds are up to 0.8 % lower.
        window: Remember only the last `window` to 2 `window` rounds; k_t is then the budget for as many
            rounds as are remembered. By default nothing is forgotten.
        patience: Only with a window. Of n remembered rounds at least 0.4 n or n - 200 may be outliers,
            whichever is more, but no more than `patience` of them. So behind 200 good rounds up to `patience`
            bad ones in a row are skipped; and after a lasting rise of all sizes, about as many good ones are
            lost before the new sizes are kept.

    Guarantee: Theorem 1 with k = k_T, for all rounds T at once, with probability 1 - delta (`docs/math.md`,
    Theorem G); with the histogram the constant 4 becomes 4.016.

    With a window, Theorem W (`docs/math.md`, 4.1). Rounds come in blocks of `window`. The promise is for each
    block: with probability 1 - delta its rounds meet the condition of the theorem, and then all that is kept
    in the block is of the size of the inliers of this block and the last, and the skipped inliers of the
    block cost at most 2.016 D G K, K its last budget. Over many blocks a share delta of them may fail. With
    `patience` the budget is larger, so the theorem holds with that budget. `bounds.theorem_w` computes the
    bound, `bounds.window_budget` K.

    >>> topshare = TopShare(0.01)
    >>> state = topshare.init(dim=3)
    >>> for size in (1.0, 1.0, 1.0, 90.0, 1.9, 2.1):
    ...     state, threshold, kept = topshare.decide(state, size)
    ...     print(f"{size:4.1f} {threshold:4.1f} {'kept' if kept else 'skipped'}")
     1.0  0.0 skipped
     1.0  2.0 kept
     1.0  2.0 kept
    90.0  2.0 skipped
     1.9  2.0 kept
     2.1  2.0 skipped
    """

    share: float
    delta: float = 1e-3
    slack: float = 2.0
    exact: bool = False
    window: int | None = None
    patience: int = 0

    def check(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise ValueError(
                f"share is the part of rounds that may be wrong: expected 0 < share < 1, got {self.share}; "
                "for a number of rounds use TopK"
            )
        if not 0.0 < self.delta < 1.0:
            raise ValueError(f"delta is a probability: expected 0 < delta < 1, got {self.delta}")
        if not 1.0 < self.slack < math.inf:
            raise ValueError(f"slack must exceed 1, and 2 is the paper's choice: got {self.slack}")
        check_window(self.window)
        if self.patience < 0 or (self.patience > 0 and self.window is None):
            raise ValueError(
                "patience is a number of rounds out of a window, so it needs one and cannot be negative: got "
                f"patience={self.patience} and window={self.window}"
            )

    def init(self, dim: int) -> TopShareState:
        memory = order_statistics(self.exact, self.window)
        if self.window is None:
            return TopShareState(memory, BudgetSchedule.at_start())
        return TopShareState(
            memory, WindowBudget.at_start(self.share, self.delta, self.window, self.patience)
        )

    def valid(self, state: TopShareState) -> bool:
        memory, budget = state.memory, state.budget
        fits = memory.has_window(self.window) and budget.has_window(self.window)
        return fits and memory.valid() and budget.valid(memory.seen())

    def reset(self, state: TopShareState, dim: int) -> TopShareState:
        return TopShareState(state.memory.cleared(), state.budget.cleared())

    def decide(self, state: TopShareState, size: float) -> tuple[TopShareState, float, bool]:
        if not size < math.inf:
            return state, math.nan, False
        memory, budget = state.memory.push(size), state.budget
        n = memory.seen()
        if budget.surely_kept(n, size):
            return TopShareState(memory, budget), budget.stored(), True
        rank = n - budget.at(n, self.share, 6.0 / (math.pi * math.pi) * self.delta)  # 1 is the smallest
        threshold = 0.0
        if rank > 0:
            memory, value = memory.at(rank)
            threshold = self.slack * value
        budget.store(threshold)
        return TopShareState(memory, budget), threshold, size <= threshold
