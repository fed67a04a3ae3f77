"""How many of the rounds so far may be outliers, carried along from round to round in O(1)."""

import math
from typing import NamedTuple

import numpy as np

_LEVEL = 6.0 / (math.pi * math.pi) * (1.0 - 1e-7)  # with more caution than a billion rounds need to round
_K, _MASS, _TAIL = range(3)


class Budget(NamedTuple):
    """The smallest k with P(Bin(n, share) > k) <= 6 delta / (pi n)^2, while the rounds n grow by one.

    While k stays, a round only adds to the tail, so no digits are lost: P(Bin(n + 1, share) > k) is
    P(Bin(n, share) > k) + share P(Bin(n, share) = k). Once in 1 / share rounds or so k moves. The tail is
    summed afresh whenever the rounds have doubled, which costs O(sqrt n).

    Examples
    --------
    >>> budget = Budget.at_start(share=0.1)
    >>> for n in range(1, 101):
    ...     k = budget.after(n, delta=0.01)
    >>> k
    27
    """

    share: float
    figures: np.ndarray  # k, P(Bin(n, share) = k), P(Bin(n, share) > k)

    @staticmethod
    def at_start(share):
        return Budget(share, np.array([0.0, 1.0, 0.0]))

    def restarted(self):
        """The budget before the first round."""
        self.figures[_K], self.figures[_MASS], self.figures[_TAIL] = 0.0, 1.0, 0.0
        return self

    def after(self, rounds, delta):
        """k after this many rounds, one more than the last time."""
        share, n, k = self.share, float(rounds), float(self.figures[_K])
        mass = float(self.figures[_MASS])
        tail = float(self.figures[_TAIL]) + share * mass
        mass *= (1.0 - share) * n / (n - k)
        if rounds & (rounds - 1) == 0:
            tail = _sum_up(n, k, mass, share)
        while tail * (n * n) > _LEVEL * delta and k < n:
            mass *= (n - k) * share / ((k + 1.0) * (1.0 - share))
            tail -= mass
            k += 1.0
        self.figures[_K], self.figures[_MASS], self.figures[_TAIL] = k, mass, tail
        return int(k)


def _sum_up(n, k, mass, share):
    """P(Bin(n, share) > k), from P(Bin(n, share) = k)."""
    total, term = 0.0, mass
    while k < n:
        term *= (n - k) * share / ((k + 1.0) * (1.0 - share))
        total += term
        k += 1.0
        if not term > 1e-18 * total:
            break
    return total
