"""How the quantile filter chooses its order statistic (section 4): rules for the rank, and the horizon."""

import math
from typing import Any, NamedTuple

from holdfast.filters.binomial import BinomialTail


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
