"""The quantile filter (Algorithm 2): sizes are i.i.d., and the outliers are those above their p-quantile."""

import math
from typing import Any, NamedTuple, cast

from holdfast.filters.binomial import BinomialTail, WindowedTail
from holdfast.rule import rule
from holdfast.sketches.windowed import check_window, order_statistics

# -- rules for the rank of the order statistic


class Bernstein(NamedTuple):
    """The paper's rank, ceil(n (p - u)) with u = sqrt(2 p (1-p) L / n) + L / (3 n) and L = ln(1 / delta).

    The paper divides by n + 1 where n sizes are known, which misses delta for n = 1; this divides by n.
    """

    p: float
    rank: int
    delta: float
    log: float  # of 1 / delta

    def has_window(self, window: int | None) -> bool:
        """True: the rank depends on n alone."""
        return True

    def cleared(self) -> "Bernstein":
        """The rule before the first size."""
        return Bernstein(self.p, 0, 1.0, 0.0)

    def valid(self, p: float, n: int) -> bool:
        """Whether n sizes can lead here, if p is the share of inliers."""
        known = self.p == p and 0.0 < self.delta <= 1.0 and self.log == math.log(1.0 / self.delta)
        return known and 0 <= self.rank <= n

    def next_round(self, n: int, delta: float, ahead: int) -> "Bernstein":
        """The rank for n past sizes, confidence 1 - delta and `ahead` more rounds after this one."""
        if n == 0:
            return self
        log = self.log if delta == self.delta else math.log(1.0 / delta)
        share = self.p - math.sqrt(2.0 * self.p * (1.0 - self.p) * log / n) - log / (3.0 * n)
        rank = max(0, math.ceil(n * share * (1.0 - 1e-12)))  # rounding must not raise it
        return Bernstein(self.p, rank, delta, log)


class Binomial(NamedTuple):
    """The largest rank that is valid with probability 1 - delta for every distribution of the sizes."""

    tail: Any  # a `BinomialTail`, or with a window a `WindowedTail`
    rank: int

    def has_window(self, window: int | None) -> bool:
        """Whether the tail is for a window of this length."""
        return self.tail.has_window(window)

    def cleared(self) -> "Binomial":
        return Binomial(self.tail.cleared(), 0)

    def valid(self, p: float, n: int) -> bool:
        return self.tail.is_for(p) and 0 <= self.rank <= n and self.tail.valid(max(n - 1, 0))

    def next_round(self, n: int, delta: float, ahead: int) -> "Binomial":
        if n == 0:
            return self
        return Binomial(self.tail, n - self.tail.next_round(delta))


class Newsvendor(NamedTuple):
    """The rank that minimises the expected overhead (`docs/math.md`, 6.3).

    If the rank is too low, an inlier is skipped now. If it is too high, an outlier may be kept, and then all
    inliers to come are lost. So the fewer rounds are to come, the higher is the best rank.
    """

    tail: BinomialTail
    rank: int

    def has_window(self, window: int | None) -> bool:
        return self.tail.has_window(window)

    def cleared(self) -> "Newsvendor":
        return Newsvendor(self.tail.cleared(), 0)

    def valid(self, p: float, n: int) -> bool:
        return self.tail.is_for(p) and 0 <= self.rank <= n and self.tail.valid(n)

    def next_round(self, n: int, delta: float, ahead: int) -> "Newsvendor":
        k = self.tail.next_round(1.0 / (1.0 + self.tail.rest * max(ahead, 1)))
        return Newsvendor(self.tail, min(n + 1 - k, n) if ahead > 0 else n)


ORDERS = {
    "binomial": lambda p: Binomial(BinomialTail.of_quantile(p), 0),
    "bernstein": lambda p: Bernstein(p, 0, 1.0, 0.0),
    "newsvendor": lambda p: Newsvendor(BinomialTail.of_quantile(p), 0),
}


class FixedDelta(NamedTuple):
    """The same delta in every round."""

    delta: float

    def cleared(self) -> "FixedDelta":
        """The plan before the first round."""
        return self

    def valid(self, n: int) -> bool:
        """Whether n rounds can lead here."""
        return 0.0 < self.delta < 1.0

    def ahead(self, n: int) -> int:
        """How many rounds come after this one, if n came before it."""
        return 0

    def after(self, n: int) -> "FixedDelta":
        """The plan after n rounds."""
        return self

    def starts_epoch(self) -> bool:
        """Whether the learner must start from scratch with the next round."""
        return False


class Horizon(NamedTuple):
    """T rounds, with delta = T^-2. After them it plans for T more, and so on."""

    delta: float
    length: int
    end: int

    def cleared(self) -> "Horizon":
        return Horizon(self.delta, self.length, self.length)

    def valid(self, n: int) -> bool:
        return 0.0 < self.delta < 1.0 and self.length >= 1 and n < self.end <= n + self.length

    def ahead(self, n: int) -> int:
        return self.end - n - 1

    def after(self, n: int) -> "Horizon":
        return self if n < self.end else Horizon(self.delta, self.length, self.end + self.length)

    def starts_epoch(self) -> bool:
        return False


class Epochs(NamedTuple):
    """Unknown horizon: epochs that end at 1024, 1024 growth, ... rounds. The learner restarts at each.

    In an epoch that ends after T rounds, delta = T^-2.
    """

    delta: float
    growth: float
    end: int
    restart: bool

    def cleared(self) -> "Epochs":
        return first_epoch(self.growth)

    def valid(self, n: int) -> bool:
        return self.delta == confidence(self.end) and 1.0 < self.growth < math.inf and self.end > n

    def ahead(self, n: int) -> int:
        return self.end - n - 1

    def after(self, n: int) -> "Epochs":
        if n < self.end:
            return Epochs(self.delta, self.growth, self.end, False)
        end = math.ceil(self.growth * self.end)
        return Epochs(confidence(end), self.growth, end, True)

    def starts_epoch(self) -> bool:
        return self.restart


_FIRST_EPOCH = 1024


def first_epoch(growth: float) -> Epochs:
    return Epochs(confidence(_FIRST_EPOCH), growth, _FIRST_EPOCH, False)


def confidence(rounds: int) -> float:
    """delta = T^-2, the choice of the theorem."""
    return 1.0 / (float(rounds) * float(rounds)) if rounds > 1 else 0.5


# -- the filter


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
