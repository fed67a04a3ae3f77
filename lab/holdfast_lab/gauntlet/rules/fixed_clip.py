"""A fixed limit on the norm, as in most training loops."""

import numpy as np


class FixedClip:
    """`torch.nn.utils.clip_grad_norm_(parameters, 1.0)`: multiply by 1 / (norm + 1e-6), if that is below 1.

    Source: pytorch/pytorch, torch/nn/utils/clip_grad.py. The norm 1 is the default of Hugging Face's Trainer.
    The minimum of 1 and NaN is NaN, as there.
    """

    def __init__(self, limit: float = 1.0) -> None:
        self.limit = limit

    def keep(self, size: float) -> float:
        return float(np.minimum(self.limit / (size + 1e-6), 1.0))
