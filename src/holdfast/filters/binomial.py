"""Tails of the binomial distribution, carried along from round to round in O(1)."""

from typing import NamedTuple

_CAUTION = 1.0 - 1e-9  # more than what rounding can accumulate between two fresh sums


class BinomialTail(NamedTuple):
    """The largest rank r with P(Bin(n, p) < r) <= level, while n grows by one a round.

    The rank-th smallest of n independent sizes then exceeds their p-quantile with probability at most
    `level`, whatever their distribution. What is carried along counts from above, with k = n - rank: most
    rounds of a filter only move n, and with one multiplication. Since small differences lose digits, the
    tail is summed afresh whenever n has grown by a 64th, which costs O(sqrt n).

    Examples
    --------
    >>> tail = BinomialTail.at_start(p=0.9)
    >>> for _ in range(100):
    ...     tail = tail.grown(level=1e-3)
    >>> tail.rank
    80
    """

    p: float
    n: float  # a number of sizes, like k: as floats they need no conversion in every round
    k: float
    rank: int  # n - k
    mass: float  # P(Bin(n, 1 - p) = k)
    tail: float  # P(Bin(n, 1 - p) > k), which is P(Bin(n, p) < rank)
    fresh_at: float

    @staticmethod
    def at_start(p):
        return BinomialTail(p, 0.0, 0.0, 0, 1.0, 0.0, 1.0)

    def restarted(self):
        """The tail before the first size."""
        return BinomialTail(self.p, 0.0, 0.0, 0, 1.0, 0.0, 1.0)

    def grown(self, level):
        """One more size, and the rank that `level` then allows."""
        p, n, k = self.p, self.n + 1.0, self.k
        tail = self.tail + (1.0 - p) * self.mass
        mass = self.mass * (p * n / (n - k))
        if n < self.fresh_at and tail <= level * _CAUTION < tail + mass:
            return BinomialTail(p, n, k, int(n - k), mass, tail, self.fresh_at)
        return self.moved(n, mass, tail, level * _CAUTION)

    def moved(self, n, mass, tail, level):
        """The same with another k, or with a fresh sum."""
        p, k, fresh_at = self.p, self.k, self.fresh_at
        odds = (1.0 - p) / p
        if n >= fresh_at:
            tail = _sum_up(n, k, mass, odds)
            fresh_at = n + n // 64 + 1.0
        while tail > level and k < n:
            mass *= (n - k) * odds / (k + 1.0)
            k += 1.0
            tail = tail - mass if k < n else 0.0
        while tail + mass <= level and k > 0.0:
            tail += mass
            mass *= k / ((n - k + 1.0) * odds)
            k -= 1.0
        return BinomialTail(p, n, k, int(n - k), mass, tail, fresh_at)


def _sum_up(n, k, mass, odds):
    """P(Bin(n, q) > k) from P(Bin(n, q) = k), with odds = q / (1 - q)."""
    total, term = 0.0, mass
    while k < n and term > 1e-18 * total:
        term *= (n - k) * odds / (k + 1.0)
        total += term
        k += 1.0
    return total
