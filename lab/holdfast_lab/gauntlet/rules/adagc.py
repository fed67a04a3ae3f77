"""AdaGC: each tensor is clipped at its own moving norm."""

import numpy as np

from holdfast_lab.gauntlet.optimizers import Gradients, Optimizer, norm_of


class AdaGC:
    """Clip each tensor at 1.05 times the mean of its clipped norms; at first all together at 1.

    Source: kozistr/pytorch_optimizer 4.1.0, `AdaGC`, with its defaults; arXiv 2502.11034. In the first 99
    steps the mean is the smallest norm so far. NaN stays in the mean.
    """

    def __init__(
        self, optimizer: Optimizer, relative: float = 1.05, absolute: float = 1.0, decay: float = 0.98
    ) -> None:
        self.optimizer, self.relative, self.absolute, self.decay = optimizer, relative, absolute, decay
        self.means: list[float] = []
        self.count = 0

    def step(self, gradients: Gradients) -> None:
        self.count += 1
        if self.count < 100:
            factor = np.minimum(self.absolute / (norm_of(gradients) + 1e-8), 1.0)
            clipped = [factor * g for g in gradients]
            norms = [norm_of([g]) for g in clipped]
            means = self.means if self.count > 1 else norms
            self.means = [float(np.minimum(a, b)) for a, b in zip(means, norms, strict=True)]
        else:
            with np.errstate(all="ignore"):
                factors = [
                    np.minimum(self.relative * mean / np.float64(norm_of([g])), 1.0)
                    for g, mean in zip(gradients, self.means, strict=True)
                ]
                clipped = [factor * g for factor, g in zip(factors, gradients, strict=True)]
            self.means = [
                self.decay * mean + (1.0 - self.decay) * norm_of([g])
                for g, mean in zip(clipped, self.means, strict=True)
            ]
        self.optimizer.step(clipped)
