"""MaxText: leave out what is 6 deviations above the mean of the last 128 norms."""

import collections

import numpy as np


class MaxText:
    """Skip if the norm is more than 6 deviations above the mean of the 128 before it, from the 64th step on.

    Source: AI-Hypercomputer/maxtext, optimizers.py, `skip_step_on_spikes`, with interval 128 and factor 6;
    its rule for losses is left out. Skipped norms enter the mean, "so spikes can become the new baseline". It
    branches.
    """

    def __init__(self, interval: int = 128, factor: float = 6.0) -> None:
        self.factor, self.least = factor, max(2, interval // 2)
        self.norms: collections.deque[float] = collections.deque(maxlen=interval)

    def keep(self, size: float) -> bool:
        fine = True
        if len(self.norms) + 1 >= self.least:
            with np.errstate(all="ignore"):
                past = np.array(self.norms)
                fine = bool(size - past.mean() <= self.factor * past.std(ddof=1))
        self.norms.append(size)
        return fine
