"""Our filters as rules: what `holdfast.torch.guard` decides by, and Algorithm 1."""

import holdfast as hf


class Guard:
    """The filter of `holdfast.torch.guard`; by default 10 % of the last 1,000 to 2,000 steps may be bad."""

    def __init__(self, outliers: float = 0.1, window: int = 1000) -> None:
        self.gate = hf.Gate(hf.TopShare(outliers, window=window))

    def keep(self, size: float) -> bool:
        return self.gate.keep(size)


class Textbook:
    """Algorithm 1 of the paper, the Top-k filter. It is told how many rounds are bad."""

    def __init__(self, k: int) -> None:
        self.gate = hf.Gate(hf.TopK(k))

    def keep(self, size: float) -> bool:
        return self.gate.keep(size)
