"""Levanter: leave out what is 6 deviations above the mean of the last 128 norms."""

import collections

import numpy as np


class Levanter:
    """Skip if the norm is more than 6 deviations above the mean of the 128 before it, after 64 steps.

    Source: stanford-crfm/levanter, src/levanter/optim/skipstep.py, with the defaults of `SkipStepConfig`; its
    rule for losses is left out. Skipped norms enter the mean. The updates are multiplied by 0.
    """

    ZEROES = True

    def __init__(self, interval: int = 128, sigma: float = 6.0) -> None:
        self.sigma, self.least = sigma, max(2, interval // 2)
        self.norms: collections.deque[float] = collections.deque(maxlen=interval)

    def keep(self, size: float) -> bool:
        fine = True
        if len(self.norms) >= self.least:
            with np.errstate(all="ignore"):
                past = np.array(self.norms)
                fine = bool(size <= past.mean() + self.sigma * np.maximum(past.std(), 1e-6))
        self.norms.append(size)
        return fine
