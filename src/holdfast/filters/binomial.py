"""Tails of the binomial distribution, carried along from round to round in O(1)."""

from typing import NamedTuple

_CAUTION = 1.0 - 1e-9  # more than what rounding can accumulate between two fresh sums


class BinomialTail(NamedTuple):
    """The largest rank r with P(Bin(n, p) < r) <= level, while n grows by one a round.

    The rank-th smallest of n independent sizes then exceeds their p-quantile with probability at most
    `level`, whatever their distribution. Rank and n each move by one with a multiplication; since small
    differences lose digits, the tail is summed afresh whenever n has grown by a 64th, which costs O(sqrt n).

    Examples
    --------
    >>> tail = BinomialTail.at_start(p=0.9)
    >>> for _ in range(100):
    ...     tail = tail.grown(level=1e-3)
    >>> tail.rank
    80
    """

    p: float
    n: int
    rank: int
    mass: float  # P(Bin(n, p) = rank)
    tail: float  # P(Bin(n, p) <= rank)
    fresh_at: int

    @staticmethod
    def at_start(p):
        return BinomialTail(p, 0, 0, 1.0, 1.0, 1)

    def restarted(self):
        """The tail before the first size."""
        return BinomialTail(self.p, 0, 0, 1.0, 1.0, 1)

    def grown(self, level):
        """One more size, and the rank that `level` then allows."""
        p, n, rank = self.p, self.n + 1, self.rank
        odds = (1.0 - p) / p
        tail = self.tail - p * self.mass
        mass = self.mass * ((1.0 - p) * n / (n - rank))
        fresh_at = self.fresh_at
        if n >= fresh_at:
            tail = _sum_down(n, rank, mass, odds)
            fresh_at = n + n // 64 + 1
        level *= _CAUTION
        while tail <= level and rank < n:
            mass *= (n - rank) / ((rank + 1) * odds)
            rank += 1
            tail += mass
        if tail - mass > level and rank > 0:
            while tail - mass > level and rank > 0:
                tail -= mass
                mass *= rank * odds / (n - rank + 1)
                rank -= 1
            tail = _sum_down(n, rank, mass, odds)
        return BinomialTail(p, n, rank, mass, tail, fresh_at)


def _sum_down(n, rank, mass, odds):
    """P(Bin(n, p) <= rank) from its largest term, with odds = (1 - p) / p."""
    total, term, r = mass, mass, rank
    while r > 0 and term > 1e-18 * total:
        term *= r * odds / (n - r + 1)
        total += term
        r -= 1
    return total
