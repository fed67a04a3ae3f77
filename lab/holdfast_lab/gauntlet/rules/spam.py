"""SPAM-like: entries of a gradient that are large beside their own history are clipped."""

import math

import numpy as np

from holdfast_lab.gauntlet.optimizers import Gradients, Optimizer


class Spam:
    """Clip each entry at √5000 times the root of its moving mean square; forget the moments every 500 steps.

    After forgetting, the step grows from 1 % for 150 steps, and for 20 steps nothing is clipped.

    Source: the paper (arXiv 2501.06842) and its `SPAM` in kozistr/pytorch_optimizer, with the defaults of the
    former. The mean square is kept here, with Adam's rate 0.999, so that the rule can be in front of any
    optimizer: it is SPAM-like. NaN is not larger than anything, so that it is used.
    """

    def __init__(self, optimizer: Optimizer, threshold: float = 5000.0, period: int = 500) -> None:
        self.optimizer, self.threshold, self.period = optimizer, threshold, period
        self.squares: list[np.ndarray] = []
        self.count, self.warm = 0, 150

    def step(self, gradients: Gradients) -> None:
        if self.count and self.count % self.period == 0:
            for square in self.squares:
                square[:] = 0.0
            self.optimizer.forget()
            self.warm = 0
        if not self.squares:
            self.squares = [np.zeros_like(g) for g in gradients]
        clipping = self.count % self.period >= 20
        self.count, self.warm = self.count + 1, self.warm + 1
        rate = 1.0 if self.warm > 150 else 1.0 - 0.99 * (1.0 + math.cos(math.pi * self.warm / 150)) / 2.0
        clipped = []
        with np.errstate(all="ignore"):
            for g, square in zip(gradients, self.squares, strict=True):
                limit = np.sqrt(self.threshold * square)
                each = np.where((np.abs(g) > limit) & clipping, np.sign(g) * limit, g)
                square *= 0.999
                square += 0.001 * each**2
                clipped.append(each)
        self.optimizer.step(clipped, rate)
