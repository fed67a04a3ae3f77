"""What moves weights along gradients: AdamW, and one that only records what arrives.

An optimizer has `step(gradients)`; a contestant of the tracks `steps` and `games` stands in front of it and
calls it, or not. `arrays()` are its weights and its memory, for those that multiply a step by 0.
"""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

Gradients = Sequence[np.ndarray]


class Optimizer(Protocol):
    """What stands behind a contestant."""

    def step(self, gradients: Gradients, rate: float = 1.0) -> None: ...

    def arrays(self) -> list[np.ndarray]: ...

    def forget(self) -> None: ...


def norm_of(gradients: Gradients) -> float:
    """The Euclidean norm of all gradients together, without overflow; NaN if there is one."""
    with np.errstate(all="ignore"):
        largest = max((float(np.max(np.abs(g))) for g in gradients if g.size), default=0.0)
        if any(np.isnan(g).any() for g in gradients):
            return math.nan
        if largest == 0.0 or math.isinf(largest):
            return largest
        return largest * math.sqrt(sum(float(np.sum((g / largest) ** 2)) for g in gradients))


class AdamW:
    """AdamW with the defaults of PyTorch but for the rate."""

    def __init__(self, weights: Sequence[np.ndarray], rate: float = 3e-3, decay: float = 0.01) -> None:
        self.weights, self.rate, self.decay = list(weights), rate, decay
        self.means = [np.zeros_like(w) for w in weights]
        self.squares = [np.zeros_like(w) for w in weights]
        self.count = 0

    def step(self, gradients: Gradients, rate: float = 1.0) -> None:
        self.count += 1
        with np.errstate(all="ignore"):
            for w, m, v, g in zip(self.weights, self.means, self.squares, gradients, strict=True):
                m *= 0.9
                m += 0.1 * g
                v *= 0.999
                v += 0.001 * g * g
                w *= 1.0 - rate * self.rate * self.decay
                size = np.sqrt(v / (1.0 - 0.999**self.count)) + 1e-8
                w -= rate * self.rate * (m / (1.0 - 0.9**self.count)) / size

    def arrays(self) -> list[np.ndarray]:
        return [*self.weights, *self.means, *self.squares]

    def forget(self) -> None:
        self.count = 0
        for array in (*self.means, *self.squares):
            array[:] = 0.0


class Recorder:
    """It moves nothing; `arrived` is the norm of the gradient that came, 0 if none did.

    It is an array of the optimizer, so that who multiplies a step by 0 leaves 0 or NaN in it.
    """

    def __init__(self) -> None:
        self.arrived = np.zeros(1)

    def step(self, gradients: Gradients, rate: float = 1.0) -> None:
        self.arrived[:] = rate * norm_of(gradients)

    def arrays(self) -> list[np.ndarray]:
        return [self.arrived]

    def forget(self) -> None:
        """There is no memory."""
