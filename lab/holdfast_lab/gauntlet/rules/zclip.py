"""ZClip: clip what is far above a moving mean."""

import math


class ZClip:
    """A norm more than 2.5 deviations above its moving mean is clipped, and others at 1.

    Source: bluorion-com/ZClip, zclip/zclip.py (commit 1acb085), with the defaults of `ZClip()`. The first 25
    norms start the mean and the variance, unclipped; then the clipped norms enter them. A comparison with NaN
    is false, so that a gradient with NaN is used, and the mean is NaN from then on.
    """

    def __init__(
        self, alpha: float = 0.97, z_thresh: float = 2.5, max_norm: float = 1.0, warmup: int = 25
    ) -> None:
        self.alpha, self.z_thresh, self.max_norm, self.warmup = alpha, z_thresh, max_norm, warmup
        self.first: list[float] = []
        self.mean, self.variance = math.nan, math.nan

    def keep(self, size: float) -> float:
        if len(self.first) < self.warmup:
            self.first.append(size)
            if len(self.first) == self.warmup:
                self.mean = sum(self.first) / self.warmup
                self.variance = sum((each - self.mean) ** 2 for each in self.first) / self.warmup
            return self._factor(size, self.max_norm)
        deviation = math.sqrt(self.variance) if self.variance >= 0.0 else math.nan
        z = (size - self.mean) / (deviation + 1e-6)
        clipped = self.mean + self.z_thresh * deviation / (z / self.z_thresh) if z > self.z_thresh else size
        factor = self._factor(size, self.max_norm if self.max_norm < clipped else clipped)
        self.mean = self.alpha * self.mean + (1.0 - self.alpha) * clipped
        try:
            square = (clipped - self.mean) ** 2
        except OverflowError:
            square = math.inf
        self.variance = self.alpha * self.variance + (1.0 - self.alpha) * square
        return factor

    def _factor(self, size: float, limit: float) -> float:
        return limit / (size + 1e-6) if size > limit else 1.0
