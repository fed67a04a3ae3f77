"""llm.c: leave out what is far above the mean of the last 128 norms, itself included."""

import collections

import numpy as np


class LlmC:
    """Skip if the norm is 5 deviations above the mean of the last 128, itself among them, from the 129th on.

    Source: karpathy/llm.c, llmc/outlier_detector.h and train_gpt2.cu (`-sg`). The threshold is 0 there, which
    is off; 5 is our choice, and 11.2 is the largest value that can be reached.
    """

    def __init__(self, window: int = 128, threshold: float = 5.0) -> None:
        self.threshold = threshold
        self.norms: collections.deque[float] = collections.deque(maxlen=window)

    def keep(self, size: float) -> bool:
        full = len(self.norms) == self.norms.maxlen
        self.norms.append(size)
        if not full:
            return True
        with np.errstate(all="ignore"):
            seen = np.array(self.norms)
            deviation = seen.std()
            return bool(deviation == 0.0 or not (size - seen.mean()) / deviation > self.threshold)
