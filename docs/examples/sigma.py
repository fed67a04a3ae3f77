"""The z-score rule: skip what lies a few standard deviations above the mean of what was kept."""

import math
from typing import NamedTuple

from holdfast import rule


class Kept(NamedTuple):
    """How many sizes were kept, their mean, and the sum of their squared distances from it."""

    n: int
    mean: float
    squares: float

    def with_one_more(self, size):  # Welford's recurrence
        n = self.n + 1
        mean = self.mean + (size - self.mean) / n
        return Kept(n, mean, self.squares + (size - self.mean) * (size - mean))

    def deviation(self):
        return math.sqrt(self.squares / (self.n - 1))


@rule
class Sigma:
    """Keep a round unless its size exceeds the mean of the kept sizes by `n_sigma` standard deviations.

    The usual first attempt. It fails in two ways. A large size during the warm-up raises mean and deviation
    so far that the next large size is kept too (masking). And if the first sizes were alike, all later ones
    that are a little larger are skipped for ever (lock-out), because the mean is taken of kept sizes only.

    Parameters:
        n_sigma: How many standard deviations above the mean are still normal.
        warmup: How many rounds are kept in any case, at least 2.

    >>> sigma = Sigma(n_sigma=3.0, warmup=3)
    >>> state = sigma.init(dim=1)
    >>> for size in (1.0, 1.2, 1.1, 90.0, 1.3):
    ...     state, threshold, kept = sigma.decide(state, size)
    ...     print(f"{size:5.1f} {threshold:4.1f} {'kept' if kept else 'skipped'}")
      1.0  inf kept
      1.2  inf kept
      1.1  inf kept
     90.0  1.4 skipped
      1.3  1.4 kept

    Guarantee: none; a rule of thumb.
    """

    n_sigma: float = 3.0
    warmup: int = 10

    def check(self):
        if not self.n_sigma > 0.0:
            raise ValueError(
                f"n_sigma counts standard deviations, so it must be positive: got {self.n_sigma}"
            )
        if self.warmup < 2:
            raise ValueError(
                f"a standard deviation takes two sizes, so warmup is at least 2: got {self.warmup}"
            )

    def init(self, dim):
        return Kept(0, 0.0, 0.0)

    def decide(self, state, size):
        threshold = math.inf
        if state.n >= self.warmup:
            threshold = state.mean + self.n_sigma * state.deviation()
        kept = size <= threshold and size < math.inf
        if kept:
            state = state.with_one_more(size)
        return state, threshold, kept
