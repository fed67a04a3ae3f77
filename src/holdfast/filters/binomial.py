"""Tails of the binomial distribution, from round to round in O(1), also over a window; and its quantiles."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rarely_called
from holdfast.sketches.histogram import is_whole

CAUTION = 1.0 - 1e-9  # the error left is more than rounding can add up to between two fresh sums
_N, _K, _MASS, _TAIL, _FRESH_AT = range(5)


class BinomialTail(NamedTuple):
    """The smallest k with P(Bin(n, share) > k) <= level, while n grows by one a round.

    Then more than k of n rounds are outliers with probability at most `level`, if each is one with
    probability at most `share`; and of n independent sizes, the (n - k)-th smallest exceeds their
    (1 - share)-quantile with probability at most `level`, whatever their distribution.

    Most rounds only move n, with one multiplication and no difference: P(Bin(n + 1, share) > k) is
    P(Bin(n, share) > k) + share P(Bin(n, share) = k). Once in 1 / share rounds or so k moves. Since small
    differences lose digits, the tail is summed again whenever n has grown by a 64th, which costs O(sqrt n).

    >>> tail = BinomialTail.at_start(share=0.1)
    >>> for _ in range(100):
    ...     k = tail.next_round(level=1e-3)
    >>> k
    20
    """

    share: float
    rest: float  # 1 - share, which loses its digits where it is small
    figures: np.ndarray  # n, k, P(Bin(n, share) = k), P(Bin(n, share) > k), and the n for a fresh sum

    @staticmethod
    def at_start(share: float) -> "BinomialTail":
        return BinomialTail(share, 1.0 - share, np.array([0.0, 0.0, 1.0, 0.0, 1.0]))

    @staticmethod
    def of_quantile(p: float) -> "BinomialTail":
        return BinomialTail(1.0 - p, p, np.array([0.0, 0.0, 1.0, 0.0, 1.0]))

    def has_window(self, window: int | None) -> bool:
        """True if `window` is None: n only grows."""
        return window is None

    def is_for(self, p: float) -> bool:
        """Whether it is the tail of `of_quantile(p)`."""
        return self.share == 1.0 - p and self.rest == p

    def cleared(self) -> "BinomialTail":
        """The tail before the first round, in the same array."""
        self.figures[:] = 0.0
        self.figures[_MASS], self.figures[_FRESH_AT] = 1.0, 1.0
        return self

    def valid(self, n: int) -> bool:
        """Whether n rounds can lead here, or at least no later round fails or runs without end."""
        figures = self.figures
        return (
            figures[_N] == n
            and is_whole(figures[_K])
            and 0.0 <= figures[_K] <= n
            and 0.0 <= figures[_MASS] < math.inf
            and abs(figures[_TAIL]) < math.inf
            and figures[_FRESH_AT] <= n + n // 64 + 1.0
        )

    def next_round(self, level: float, weight: float = 1.0) -> int:
        """Add a round, and return the smallest k for level / weight."""
        figures = self.figures
        n, k, mass = float(figures[_N]) + 1.0, float(figures[_K]), float(figures[_MASS])
        tail = float(figures[_TAIL]) + self.share * mass
        mass *= self.rest * n / (n - k)
        figures[_N], figures[_MASS], figures[_TAIL] = n, mass, tail
        level *= CAUTION
        if n < figures[_FRESH_AT] and tail * weight <= level < (tail + mass) * weight:
            return int(k)
        return self.find(level / weight)

    def find(self, level: float) -> int:
        """The k for this level. Sums the tail again if n has reached `_FRESH_AT`."""
        figures, odds = self.figures, self.share / self.rest
        n, k = float(figures[_N]), float(figures[_K])
        mass, tail = float(figures[_MASS]), float(figures[_TAIL])
        if n >= figures[_FRESH_AT]:
            tail = _sum_up(n, k, mass, odds)
            figures[_FRESH_AT] = n + n // 64 + 1.0
        while tail > level and k < n:
            mass *= (n - k) * odds / (k + 1.0)
            k += 1.0
            tail = tail - mass if k < n else 0.0
        while tail + mass <= level and k > 0.0:
            tail += mass
            mass *= k / ((n - k + 1.0) * odds)
            k -= 1.0
        figures[_K], figures[_MASS], figures[_TAIL] = k, mass, tail
        return int(k)


def _sum_up(n: float, k: float, mass: float, odds: float) -> float:
    """P(Bin(n, share) > k) from P(Bin(n, share) = k), with odds = share / (1 - share)."""
    total, term = 0.0, mass
    while k < n and term > 1e-18 * total:
        term *= (n - k) * odds / (k + 1.0)
        total += term
        k += 1.0
    return total


class WindowedTail(NamedTuple):
    """A `BinomialTail` for n = 1, ..., 2 W, then W + 1, ..., 2 W again and again.

    The numbers of n = W are saved, and restored after n = 2 W.

    >>> tail = WindowedTail.of_quantile(0.5, window=2)
    >>> [tail.next_round(level=0.3) for _ in range(8)]
    [1, 1, 2, 3, 2, 3, 2, 3]
    """

    tail: BinomialTail
    saved: np.ndarray
    window: int

    @staticmethod
    def of_quantile(p: float, window: int) -> "WindowedTail":
        tail = BinomialTail.of_quantile(p)
        return WindowedTail(tail, np.zeros(len(tail.figures)), window)

    def has_window(self, window: int | None) -> bool:
        return self.window == window

    def is_for(self, p: float) -> bool:
        return self.tail.is_for(p)

    def cleared(self) -> "WindowedTail":
        self.saved[:] = 0.0
        return WindowedTail(self.tail.cleared(), self.saved, self.window)

    def valid(self, n: int) -> bool:
        """As `BinomialTail.valid`, with n < 2 W."""
        saved = BinomialTail(self.tail.share, self.tail.rest, self.saved)
        return self.tail.valid(n) and (n < self.window or saved.valid(self.window))

    def next_round(self, level: float, weight: float = 1.0) -> int:
        k = self.tail.next_round(level, weight)
        n = self.tail.figures[0]
        if n == self.window:
            _copy(self.tail.figures, self.saved)
        if n == 2 * self.window:
            _copy(self.saved, self.tail.figures)
        return k


@rarely_called
def _copy(source: np.ndarray, copied: np.ndarray) -> None:
    for i in range(len(source)):  # to compile copied[:] = source takes a second, for its error message
        copied[i] = source[i]


_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@rarely_called
def smallest(n: int, share: float, rest: float, level: float, k: int = 0) -> int:
    """The smallest k with P(Bin(n, share) > k) <= level, for a level below 1/2, from a k that is not larger.

    `rest` is 1 - share: a difference would lose digits where it is small.

    >>> smallest(1_000_000, 0.1, 0.9, level=1e-15)
    102391
    """
    level *= CAUTION
    k = max(k, int(share * n))  # below the mean `tail_over_mass` is slow
    mass = mass_at(n, k, share, rest)
    tail = mass * tail_over_mass(n, k, share)
    while tail > level and k < n:
        least = max(level, 1e-3 * tail)  # below, a difference has lost too many digits
        while tail > least and k < n:
            mass *= (n - k) * share / ((k + 1.0) * rest)
            k += 1
            tail -= mass
        tail = mass * tail_over_mass(n, k, share)
    return k


def mass_at(n: int, k: int, share: float, rest: float) -> float:
    """P(Bin(n, share) = k), to a dozen digits also where n is 10⁸ (C. Loader's saddle point expansion, 2000).

    >>> round(mass_at(10, 3, 0.5, 0.5) * 2**10, 9)
    120.0
    """
    if k == 0:
        return math.exp(n * math.log(rest))
    if k == n:
        return math.exp(n * math.log(share))
    unlikely = _apart(k, n * share) + _apart(n - k, n * rest)
    rounding = _stirling(n) - _stirling(k) - _stirling(n - k)
    return math.exp(rounding - unlikely - _HALF_LOG_2PI) * math.sqrt(n / (float(k) * (n - k)))


def _stirling(n: int) -> float:
    """ln n! less Stirling's formula, sqrt(2 pi n) (n/e)^n."""
    if n < 16:
        return _FIRST[n]
    x = 1.0 / (float(n) * n)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - x / 1188) * x) * x) * x) / n


_FIRST = np.array(
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - _HALF_LOG_2PI for n in range(1, 16)]
)


def _apart(k: float, mean: float) -> float:
    """k ln(k / mean) - k + mean, also where these nearly cancel."""
    if abs(k - mean) >= 0.1 * (k + mean):
        return k * math.log(k / mean) - k + mean
    v = (k - mean) / (k + mean)
    total, power, j, before = (k - mean) * v, 2.0 * k * v, 1.0, math.inf
    while total != before:
        before, power, j = total, power * v * v, j + 2.0
        total += power / j
    return total


def tail_over_mass(n: int, k: int, share: float) -> float:
    """P(Bin(n, share) > k) / P(Bin(n, share) = k), by the incomplete beta function's continued fraction.

    Evaluated from its beginning (Lentz). Far above the mean a dozen terms do.

    >>> round(tail_over_mass(3, 1, 0.5) * 3)
    4
    """
    if k >= n:
        return 0.0
    a, b = k + 1.0, float(n - k)
    c, d = 1.0, 1.0 / (1.0 - (a + b) * share / (a + 1.0))
    value, factor, m = d, 0.0, 0.0
    while abs(factor - 1.0) > 1e-14 and m < n:
        m += 1.0
        even = m * (b - m) * share / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd = -(a + m) * (a + b + m) * share / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d, c = 1.0 / (1.0 + even * d), 1.0 + even / c
        value *= d * c
        d, c = 1.0 / (1.0 + odd * d), 1.0 + odd / c
        factor = d * c
        value *= factor
    return value * share * b / a
