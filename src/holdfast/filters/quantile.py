"""The quantile filter (Algorithm 2): sizes are i.i.d., and the outliers are those above their p-quantile."""

import math
from typing import Any, NamedTuple, cast

from holdfast.filters.binomial import WindowedTail
from holdfast.filters.rank_rules import ORDERS, Binomial, FixedDelta, Horizon, confidence, first_epoch
from holdfast.rule import rule
from holdfast.sketches.windowed import check_window, order_statistics


class QuantileState(NamedTuple):
    memory: Any  # of the sizes
    order: Any  # the rule for the rank
    plan: Any  # for the horizon


@rule
class Quantile:
    """Keep a round if its size is at most a lower confidence bound on the p-quantile of the sizes.

    With high probability every kept round is then an inlier, although a fixed share 1 - p of all rounds may
    be outliers. The bound is an order statistic of the past sizes, below the p-quantile by a margin for
    confidence. The inliers in that margin are lost, about sqrt(T ln T) in all.

    Parameters:
        p: The share of the rounds that are inliers, in (0, 1).
        horizon: The number of rounds T, for delta = T^-2 as in the paper. Past it the guarantee ends; the
            filter goes on, as if T more rounds were to come.
        delta: Instead of a horizon: the probability with which one round's bound may fail.
        ranks ({"binomial", "bernstein", "newsvendor"}): How the order statistic is chosen: exactly, by the
            paper's inequality, or to minimise the expected overhead for a horizon (which needs sizes without
            ties).
        growth: With neither horizon nor delta, epochs for an unknown horizon: the first ends after 1,024
            rounds, each later one at `growth` times the round at which the last one did. The learner restarts
            with each, because an outlier that was kept once would spoil it for ever. The sizes are remembered
            throughout.
        exact: Remember every size instead of a histogram of them, whose thresholds are up to 0.8 % lower.
        window: Remember only the last `window` to 2 `window` rounds. Then there are no epochs: with neither
            horizon nor delta, delta = window^-2. Newsvendor ranks are refused. By default nothing is
            forgotten.

    Guarantee: The quantile theorem of section 4 (corrected: `docs/math.md`, 6.2) for i.i.d. gradients; with
    `Filtered(..., on=Features())` the Proposition, for i.i.d. features and any Lipschitz losses. If many
    sizes tie at the p-quantile, or the sizes are not i.i.d., there is none; with `delta` alone each threshold
    is valid with probability 1 - delta, and the expected regret has no bound.

    With a window each threshold is valid with probability 1 - delta if the rounds remembered and this one are
    i.i.d. There is no theorem of the paper's kind for the regret: sizes may drift from block to block, and
    the learner is not restarted.

    >>> quantile = Quantile(0.5, horizon=100)
    >>> state = quantile.init(dim=3)
    >>> for size in range(100):
    ...     state, threshold, kept = quantile.decide(state, float(size % 10))
    >>> threshold
    3.0
    """

    p: float
    horizon: int | None = None
    delta: float | None = None
    ranks: str = "binomial"
    growth: float = 4.0
    exact: bool = False
    window: int | None = None

    def check(self) -> None:
        if not 0.0 < self.p < 1.0:
            raise ValueError(
                f"p is the share of inliers: expected 0 < p < 1, got {self.p}; to keep all use Everything()"
            )
        if self.horizon is not None and self.delta is not None:
            raise ValueError(f"give a horizon or a delta, not both: got {self.horizon} and {self.delta}")
        if self.horizon is not None and self.horizon < 1:
            raise ValueError(f"horizon is the number of rounds, at least 1: got {self.horizon}")
        if self.delta is not None and not 0.0 < self.delta < 1.0:
            raise ValueError(f"delta is a probability: expected 0 < delta < 1, got {self.delta}")
        if self.ranks not in ORDERS:
            raise ValueError(f"ranks must be one of {', '.join(ORDERS)}: got {self.ranks!r}")
        if self.ranks == "newsvendor" and self.delta is not None:
            raise ValueError(
                "newsvendor ranks weigh the rounds to come and have no delta: give a horizon instead"
            )
        check_window(self.window)
        if self.window is not None and self.ranks == "newsvendor":
            raise ValueError(
                "newsvendor ranks need sizes that are i.i.d. for all rounds, so they have no window: "
                f'use ranks="binomial", or no window; got window={self.window}'
            )
        if not 1.0 < self.growth < math.inf:
            raise ValueError(f"growth must exceed 1 for epochs to get longer: got {self.growth}")

    def init(self, dim: int) -> QuantileState:
        window, horizon, delta = self.window, self.horizon, self.delta
        order, plan = ORDERS[self.ranks](self.p), cast(Any, first_epoch(self.growth))
        if horizon is not None:
            plan = Horizon(confidence(horizon), horizon, horizon)
        if window is not None and self.ranks == "binomial":
            order = Binomial(WindowedTail.of_quantile(self.p, window), 0)
        if window is not None and delta is None:
            delta = confidence(window if horizon is None else horizon)
        if delta is not None:
            plan = FixedDelta(delta)
        return QuantileState(order_statistics(self.exact, window), order, plan)

    def valid(self, state: QuantileState) -> bool:
        n = state.memory.seen()
        fits = state.memory.has_window(self.window) and state.order.has_window(self.window)
        return fits and state.memory.valid() and state.order.valid(self.p, n) and state.plan.valid(n)

    def reset(self, state: QuantileState, dim: int) -> QuantileState:
        return QuantileState(state.memory.cleared(), state.order.cleared(), state.plan.cleared())

    def decide(self, state: QuantileState, size: float) -> tuple[QuantileState, float, bool]:
        if not size < math.inf:
            return state, math.nan, False
        memory, plan = state.memory, state.plan
        n = memory.seen()
        order = state.order.next_round(n, plan.delta, plan.ahead(n))
        threshold = -math.inf  # too few sizes for this confidence: keep nothing
        if order.rank > 0:
            memory, threshold = memory.at(order.rank)
        kept = size <= threshold
        return QuantileState(memory.push(size), order, plan.after(n + 1)), threshold, kept

    def restarts(self, state: QuantileState) -> bool:
        return state.plan.starts_epoch()
