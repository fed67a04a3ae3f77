"""What is done with a gradient before the optimizer's step: rules in use elsewhere, restated by us, and ours.

Each has `step()`, which looks at `p.grad` of the weights and moves them or not, and `limit()`: the largest
norm of a gradient that the rule takes in the next step.
"""

import collections
import math

import numpy as np
import torch

from holdfast.torch import guard

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


class Clip(Nothing):
    """`torch.nn.utils.clip_grad_norm_` at 1."""

    title = "clip_grad_norm_"

    def step(self):
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()


class AutoClip(Nothing):
    """AutoClip's rule: clip at the 10th percentile of all norms so far."""

    title = "AutoClip's rule"

    def __init__(self, net):
        super().__init__(net)
        self.norms = []

    def step(self):
        self.norms.append(self.norm())
        percentile = torch.quantile(torch.tensor(self.norms), 0.1)
        torch.nn.utils.clip_grad_norm_(self.weights, float(percentile))
        self.optimizer.step()


class ZClip(Nothing):
    """ZClip's rule: a norm more than 2.5 deviations above its moving mean is clipped, and others at 1.

    The mean and the variance forget with the rate 0.03, start after 25 steps and see the clipped norms.
    """

    title = "ZClip's rule"

    def __init__(self, net):
        super().__init__(net)
        self.first: list[float] = []
        self.mean: float | None = None
        self.variance = 0.0

    def step(self):
        norm = self.norm()
        if self.mean is None:
            self.first.append(min(norm, 1.0))
            if len(self.first) == 25:
                self.mean, self.variance = float(np.mean(self.first)), float(np.var(self.first))
            torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        else:
            deviation = math.sqrt(self.variance) + 1e-6
            z = (norm - self.mean) / deviation
            clipped = self.mean + 2.5 * deviation / (z / 2.5) if z > 2.5 else norm
            torch.nn.utils.clip_grad_norm_(self.weights, min(clipped, 1.0))
            self.variance = 0.97 * self.variance + 0.03 * (clipped - self.mean) ** 2
            self.mean = 0.97 * self.mean + 0.03 * clipped
        self.optimizer.step()


class SixSigma(Nothing):
    """The rule of OLMo-core: skip what is 6 deviations above the mean of the last 128 norms, after 64 steps.

    Skipped norms enter the mean. A step is skipped as there: the update is multiplied by 0.
    """

    title = "OLMo-core's rule"

    def __init__(self, net):
        super().__init__(net)
        self.norms: collections.deque[float] = collections.deque(maxlen=128)

    def limit(self):
        if len(self.norms) < 64:
            return BEYOND
        return float(np.mean(self.norms) + 6.0 * np.std(self.norms, ddof=1))

    def step(self):
        norm, limit = self.norm(), self.limit()
        factor = 1.0 if len(self.norms) < 64 or norm <= limit else 0.0
        self.norms.append(norm)
        old = [p.detach().clone() for p in self.weights]
        state = [{name: v.clone() for name, v in self.optimizer.state[p].items()} for p in self.weights]
        self.optimizer.step()
        with torch.no_grad():
            for p, before, kept in zip(self.weights, old, state, strict=True):
                p.copy_(before + factor * (p - before))
                for name, value in kept.items():
                    new = self.optimizer.state[p][name]
                    new.copy_(value + factor * (new - value))


class ZScore(Nothing):
    """The rule of llm.c: skip what is 5 deviations above the mean of the last 128 norms, with the new one."""

    title = "llm.c's rule"

    def __init__(self, net):
        super().__init__(net)
        self.norms: collections.deque[float] = collections.deque(maxlen=128)

    def z(self, norm):
        seen = [*self.norms, norm][-128:]
        deviation = np.std(seen)
        return (norm - np.mean(seen)) / deviation if deviation != 0.0 else 0.0

    def limit(self):
        if len(self.norms) < 128:
            return BEYOND
        low, high = 0.0, BEYOND
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.z(middle) <= 5.0 else (low, middle)
        return low

    def step(self):
        norm = self.norm()
        skipped = len(self.norms) == 128 and self.z(norm) > 5.0
        self.norms.append(norm)
        if not skipped:
            self.optimizer.step()


class MovingMean(Nothing):
    """A rule of axlearn: skip what is 20 times the moving mean of the norms of steps that were taken."""

    title = "axlearn's rule"

    def __init__(self, net):
        super().__init__(net)
        self.mean = None

    def limit(self):
        return BEYOND if self.mean is None else 20.0 * self.mean

    def step(self):
        norm = self.norm()
        if math.isfinite(norm) and (self.mean is None or norm < self.limit()):
            self.mean = norm if self.mean is None else 0.99 * self.mean + 0.01 * norm
            self.optimizer.step()


class IfFinite(Nothing):
    """The rule of `optax.apply_if_finite` with 2 errors: the third gradient in a row with NaN is taken."""

    title = "apply_if_finite's rule"

    def __init__(self, net):
        super().__init__(net)
        self.errors = 0

    def step(self):
        self.errors = 0 if math.isfinite(self.norm()) else self.errors + 1
        if self.errors == 0 or self.errors > 2:
            self.optimizer.step()


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
    """`holdfast.torch.guard` if 10 % of the steps may be bad."""

    title = "guard, outliers=0.1"

    def __init__(self, net, outliers=0.1, window=1000):
        super().__init__(net)
        guard(self.optimizer, outliers=outliers, window=window)

    def limit(self):
        own = self.optimizer.holdfast.filter
        budget = own.budgets[min(int(own.counts[0, 0]) + 1, len(own.budgets) - 1)]
        return own.rule.slack * float(own.largest[0, budget])


class OursByDefault(Ours):
    """`holdfast.torch.guard` as it is: 1 % of the steps may be bad. D and F have more than that."""

    title = "guard, outliers=0.01"

    def __init__(self, net):
        super().__init__(net, outliers=0.01)


RULES = [Nothing, Clip, AutoClip, ZClip, SixSigma, ZScore, MovingMean, IfFinite, ZeroNaN, Ours, OursByDefault]
