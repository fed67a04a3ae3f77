"""OLMo-core: leave out what is 6 deviations above the mean of the last 128 norms."""

import collections

import numpy as np


class OLMoCore:
    """Skip if the norm is more than 6 deviations above the mean of the 128 before it, from the 64th step on.

    Source: allenai/OLMo-core 3.0.0, olmo_core/optim/skip_step_optimizer.py, with its defaults; its rule for
    losses is left out. Skipped norms enter the mean. The step is multiplied by 0.
    """

    ZEROES = True

    def __init__(self, interval: int = 128, sigma: float = 6.0) -> None:
        self.sigma, self.least = sigma, max(2, interval // 2)
        self.norms: collections.deque[float] = collections.deque(maxlen=interval + 1)

    def keep(self, size: float) -> bool:
        self.norms.append(size)
        if len(self.norms) < self.least:
            return True
        with np.errstate(all="ignore"):
            past = np.array(self.norms)[:-1]
            return bool(size - past.mean() <= self.sigma * past.std(ddof=1))
