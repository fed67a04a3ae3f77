"""What is done with a gradient before the optimizer's step: rules of other projects, and ours.

Each has `step()`, which looks at `p.grad` of the weights and moves them or not, and `limit()`: the largest
norm of a gradient that the rule takes in the next step. The rules are those of the gauntlet, which sees norms
only; here they stand before AdamW of PyTorch.
"""

import copy
import math
from collections.abc import Callable
from typing import Any

import torch

from holdfast.torch import guard
from holdfast_lab.gauntlet.rules.autoclip import AutoClip
from holdfast_lab.gauntlet.rules.axlearn import Axlearn
from holdfast_lab.gauntlet.rules.fixed_clip import FixedClip
from holdfast_lab.gauntlet.rules.if_finite import IfFinite
from holdfast_lab.gauntlet.rules.llm_c import LlmC
from holdfast_lab.gauntlet.rules.olmo_core import OLMoCore
from holdfast_lab.gauntlet.rules.zclip import ZClip

BEYOND = 1e6  # what an adversary sends to a rule without limit


class Nothing:
    """AdamW by itself."""

    title = "nothing"

    def __init__(self, net):
        self.weights = list(net.parameters())
        self.optimizer = torch.optim.AdamW(self.weights, lr=3e-3)

    def norm(self):
        return float(torch.nn.utils.get_total_norm([p.grad for p in self.weights]))

    def step(self):
        self.optimizer.step()

    def limit(self):
        return BEYOND


class Ruled(Nothing):
    """AdamW behind a rule with `keep(norm)`: True, False, or a factor of the gradient."""

    make: Callable[[], Any]

    def __init__(self, net):
        super().__init__(net)
        self.rule = type(self).make()

    def step(self):
        answer = self.rule.keep(self.norm())
        if not isinstance(answer, bool):
            for p in self.weights:
                p.grad.mul_(answer)
            self.optimizer.step()
        elif answer:
            self.optimizer.step()
        elif getattr(self.rule, "ZEROES", False):
            self._multiply_by_zero()

    def _multiply_by_zero(self):
        """Take the step, and add 0 times what it changed to what was there before."""
        old = [p.detach().clone() for p in self.weights]
        state = [{name: v.clone() for name, v in self.optimizer.state[p].items()} for p in self.weights]
        self.optimizer.step()
        with torch.no_grad():
            for p, before, kept in zip(self.weights, old, state, strict=True):
                p.copy_(before + 0.0 * (p - before))
                for name, value in kept.items():
                    new = self.optimizer.state[p][name]
                    new.copy_(value + 0.0 * (new - value))

    def limit(self):
        if self._takes(BEYOND):
            return BEYOND
        low, high = 0.0, BEYOND
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._takes(middle) else (low, middle)
        return low

    def _takes(self, norm):
        return copy.deepcopy(self.rule).keep(norm) is not False


class Clip(Ruled):
    """`torch.nn.utils.clip_grad_norm_` at 1."""

    title, make = "clip_grad_norm_", FixedClip


class AutoClipped(Ruled):
    """AutoClip's rule: clip at the 10th percentile of all norms so far."""

    title, make = "AutoClip's rule", AutoClip


class ZClipped(Ruled):
    """ZClip's rule: a norm far above its moving mean is clipped, and others at 1."""

    title, make = "ZClip's rule", ZClip


class SixSigma(Ruled):
    """The rule of OLMo-core: skip what is 6 deviations above the mean of the last 128 norms."""

    title, make = "OLMo-core's rule", OLMoCore


class ZScore(Ruled):
    """The rule of llm.c: skip what is 5 deviations above the mean of the last 128 norms, with the new one."""

    title, make = "llm.c's rule", LlmC


class MovingMean(Ruled):
    """A rule of axlearn: skip what is 20 times the moving mean of the norms of steps that were taken."""

    title, make = "axlearn's rule", Axlearn


class Finite(Ruled):
    """The rule of `optax.apply_if_finite` with 2 errors: the third gradient in a row with NaN is taken."""

    title, make = "apply_if_finite's rule", IfFinite


class ZeroNaN(Nothing):
    """What hand-made guards do: a gradient with NaN is replaced by zeros, and the step is taken."""

    title = "NaN set to 0"

    def step(self):
        if not math.isfinite(self.norm()):
            for p in self.weights:
                p.grad.zero_()
        self.optimizer.step()


class FixedThreshold(Nothing):
    """Skip norms above a number that was chosen before the run."""

    title = "fixed threshold"

    def __init__(self, net, threshold=100.0):
        super().__init__(net)
        self.threshold = threshold

    def limit(self):
        return self.threshold

    def step(self):
        if self.norm() <= self.threshold:
            self.optimizer.step()


class Ours(Nothing):
    """`holdfast.torch.guard` as it is: 10 % of the steps may be bad."""

    title = "guard, outliers=0.1"

    def __init__(self, net, outliers=0.1, window=1000):
        super().__init__(net)
        guard(self.optimizer, outliers=outliers, window=window)

    def limit(self):
        own = self.optimizer.holdfast.filter
        budget = own.budgets[min(int(own.counts[0, 0]) + 1, len(own.budgets) - 1)]
        return own.rule.slack * float(own.largest[0, budget])


class OursAtOnePercent(Ours):
    """`holdfast.torch.guard` if 1 % of the steps may be bad. D and F have more than that."""

    title = "guard, outliers=0.01"

    def __init__(self, net):
        super().__init__(net, outliers=0.01)


RULES = [
    Nothing,
    Clip,
    AutoClipped,
    ZClipped,
    SixSigma,
    ZScore,
    MovingMean,
    Finite,
    ZeroNaN,
    Ours,
    OursAtOnePercent,
]
