"""Tails of the binomial distribution, updated from round to round in O(1), also over a window."""

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
        """Whether its blocks have this length."""
        return self.window == window

    def is_for(self, p: float) -> bool:
        """As `BinomialTail.is_for`."""
        return self.tail.is_for(p)

    def cleared(self) -> "WindowedTail":
        """The tail before the first round, in the same arrays."""
        self.saved[:] = 0.0
        return WindowedTail(self.tail.cleared(), self.saved, self.window)

    def valid(self, n: int) -> bool:
        """As `BinomialTail.valid`, with n < 2 W."""
        saved = BinomialTail(self.tail.share, self.tail.rest, self.saved)
        return self.tail.valid(n) and (n < self.window or saved.valid(self.window))

    def next_round(self, level: float, weight: float = 1.0) -> int:
        """Add a round, and return the smallest k for level / weight."""
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
