"""AutoClip: clip at a percentile of all norms so far."""

import numpy as np

from holdfast_lab.gauntlet.rules.fixed_clip import FixedClip


class AutoClip:
    """Clip at the 10th percentile of all norms, the new one included.

    Source: pseeth/autoclip, autoclip.py (commit 7de6a2f). The percentile has no default there; 10 is what the
    paper recommends (arXiv 2007.14469).
    """

    def __init__(self, percentile: float = 10.0) -> None:
        self.percentile = percentile
        self.norms: list[float] = []

    def keep(self, size: float) -> float:
        self.norms.append(size)
        with np.errstate(invalid="ignore"):
            return FixedClip(float(np.percentile(self.norms, self.percentile))).keep(size)
