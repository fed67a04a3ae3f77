"""axlearn: leave out what is 20 times the moving mean of the norms that were used."""

import math


class Axlearn:
    """Skip what is not below 20 times the moving mean of the norms of the steps that were taken.

    Source: apple/axlearn, axlearn/common/optimizers.py, `skip_and_clip_by_global_norm` with
    `drop_norm_by_grad_norm_ema()`; the decay has no default, 0.99 is the example. The mean starts at 1.
    """

    def __init__(self, decay: float = 0.99, multiplier: float = 20.0) -> None:
        self.decay, self.multiplier = decay, multiplier
        self.mean, self.count = 1.0, 0

    def keep(self, size: float) -> bool:
        if not (math.isfinite(size) and size < self.multiplier * self.mean):
            return False
        decay = self.decay * (1.0 - self.decay**self.count) / (1.0 - self.decay ** (self.count + 1))
        self.mean = decay * self.mean + (1.0 - decay) * size
        self.count += 1
        return True
