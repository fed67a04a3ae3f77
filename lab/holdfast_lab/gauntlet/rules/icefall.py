"""icefall: clip at twice the median of the last 100 norms."""

import math

import numpy as np

_EARLY = (10, 20, 40)  # steps after which the median is taken before there are 100 norms


class Icefall:
    """Clip at 2 times the median of the last 100 norms, renewed every 100 steps; 4 times in the first 100.

    Source: k2-fsa/icefall, egs/librispeech/ASR/zipformer/optim.py, `ScaledAdam._get_clipping_scale`, with
    clipping_scale 2 and clipping_update_period 100. There the norms are of gradients times the size of their
    parameters; here they are plain. A gradient with NaN is replaced by zeros, and it raises if the median is
    not finite.
    """

    ZERO_GRADIENT = True

    def __init__(self, scale: float = 2.0, period: int = 100) -> None:
        self.scale, self.period, self.step, self.limit = scale, period, 0, math.inf
        self.norms = np.zeros(period)

    def keep(self, size: float) -> float:
        step, self.step = self.step, self.step + 1
        if step == 0:
            return 1.0
        self.norms[step % self.period] = size
        early = step in _EARLY
        if step % self.period == 0 or early:
            past = np.sort(self.norms)[-step:] if early else np.sort(self.norms)
            median = float(past[min(len(past) - 1, len(past) // 4 * 2)])
            if not math.isfinite(median):
                raise RuntimeError("Too many grads were not finite")
            self.limit = self.scale * median * (2.0 if early else 1.0)
        factor = self.limit / (size + 1e-20)
        return min(1.0, factor) if factor == factor else 0.0
