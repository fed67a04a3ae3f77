"""Optax's `apply_if_finite`: leave out what is not finite, but not for ever."""

import math


class IfFinite:
    """Skip a gradient with NaN or infinity, unless the two before it had some too.

    Source: google-deepmind/optax, `apply_if_finite(inner, max_consecutive_errors=2)`; the number has no
    default. tests/lab/gauntlet/test_rules.py compares it with Optax, where that is installed.
    """

    def __init__(self, most: int = 2) -> None:
        self.most, self.errors = most, 0

    def keep(self, size: float) -> bool:
        self.errors = 0 if math.isfinite(size) else self.errors + 1
        return self.errors == 0 or self.errors > self.most
