"""The Top-share filter: Algorithm 1 with a budget that grows with the rounds."""

import math
from typing import Any, NamedTuple

from holdfast.filters.budget_schedule import BudgetSchedule
from holdfast.rule import rule
from holdfast.sketches.histogram import LogHistogram
from holdfast.sketches.ranks import Ranks


class TopShareState(NamedTuple):
    """What Top-share remembers: the sizes, and how many of them may be outliers by now."""

    memory: Any
    budget: BudgetSchedule


@rule
class TopShare:
    """Keep a round unless its size exceeds `slack` times the (k_t + 1)-th largest size so far.

    If each round is corrupted with probability at most `share`, independently, then more than k_t of the
    first t rounds are outliers with probability at most 6 delta / (pi t)^2, which sums to delta over all
    rounds: k_t is the exact binomial quantile, from round 512 on that of the end of a short step
    (`BudgetSchedule`).
    So the argument of Algorithm 1 holds at every round at once, without a horizon, and where TopK(share * T)
    must skip that many rounds before it trusts any, this skips a handful.

    Within a step the threshold only rises. So it is looked up when a step begins and when a size exceeds the
    last one; of a round that was kept, the threshold given is the last one, which is at most the latest.

    Parameters
    ----------
    share : float
        The largest probability with which a round may be an outlier, in (0, 1).
    delta : float
        The probability that the guarantee fails.
    slack : float
        As for `TopK`.
    exact : bool
        Remember every size instead of a histogram of them, whose thresholds are up to 0.8 % lower.

    Guarantee
    ---------
    Theorem 1 with k = k_T, for all rounds T at once, with probability 1 - delta (`docs/math.md`,
    Theorem G); with the histogram the constant 4 becomes 4.016.

    Examples
    --------
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

    def check(self):
        if not 0.0 < self.share < 1.0:
            raise ValueError(
                f"share is the part of rounds that may be wrong: expected 0 < share < 1, got {self.share}; "
                "for a number of rounds use TopK"
            )
        if not 0.0 < self.delta < 1.0:
            raise ValueError(f"delta is a probability: expected 0 < delta < 1, got {self.delta}")
        if not 1.0 < self.slack < math.inf:
            raise ValueError(f"slack must exceed 1, and 2 is the paper's choice: got {self.slack}")

    def init(self, dim):
        return TopShareState(Ranks.empty() if self.exact else LogHistogram.empty(), BudgetSchedule.at_start())

    def valid(self, state):
        return state.memory.valid() and state.budget.valid(state.memory.seen())

    def reset(self, state, dim):
        return TopShareState(state.memory.cleared(), state.budget.cleared())

    def decide(self, state, size):
        if not size < math.inf:
            return state, math.nan, False
        memory, budget = state.memory.push(size), state.budget
        n = memory.seen()
        if budget.admits(n, size):
            return TopShareState(memory, budget), budget.held(), True
        rank = n - budget.at(n, self.share, 6.0 / (math.pi * math.pi) * self.delta)  # from below
        threshold = 0.0
        if rank > 0:
            memory, value = memory.at(rank)
            threshold = self.slack * value
        budget.hold(threshold)
        return TopShareState(memory, budget), threshold, size <= threshold
