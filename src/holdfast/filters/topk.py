"""The Top-k filter (Algorithm 1): at most k rounds are outliers, of any size, in any order."""

import math
from typing import Any

import numpy as np

from holdfast.rule import rule
from holdfast.sketches.largest import Largest
from holdfast.sketches.windowed import Windowed


@rule
class TopK:
    """Keep a round unless its size exceeds `slack` times the (k+1)-th largest size so far.

    Among the k+1 largest sizes at least one belongs to an inlier, so the smallest of them is at most G(𝒮),
    and a kept round has size at most 2 G(𝒮). A skipped round joins the list, so at most k skipped rounds have
    sizes between any number and its half. The sizes of the skipped inliers are then a geometric sum: they
    cost at most 2 D G(𝒮) k, for any number of rounds.

    Parameters:
        k: How many outliers to withstand. Until k+1 sizes above zero were seen, only zeros are kept.
        slack: 2 in the paper, which is the best choice for the worst case. It must exceed 1: at 1 there is no
            bound on how many inliers are skipped.
        window: Remember only the last `window` to 2 `window` rounds, and withstand k outliers among them.
            After a lasting fall of all sizes the threshold follows within 2 `window` rounds. By default
            nothing is forgotten.

    Guarantee: Theorem 1: robust regret at most B_T(2 G(𝒮)) + 4 D G(𝒮) k for every set of inliers that leaves
    out at most k rounds, against any adversary. With a window, Theorem W (`docs/math.md`, 4.1): for every set
    of inliers that leaves out at most k of the rounds remembered, at any time; `bounds.theorem_w` computes
    it.

    >>> topk = TopK(k=1)
    >>> state = topk.init(dim=3)
    >>> for size in (1.0, 1.2, 90.0, 1.1):
    ...     state, threshold, kept = topk.decide(state, size)
    ...     print(f"{size:5.1f} {threshold:4.1f} {'kept' if kept else 'skipped'}")
      1.0  0.0 skipped
      1.2  2.0 kept
     90.0  2.4 skipped
      1.1  2.4 kept
    """

    k: int
    slack: float = 2.0
    window: int | None = None

    def check(self) -> None:
        if self.k < 0:
            raise ValueError(f"k counts outliers, so it cannot be negative: got {self.k}")
        if not 1.0 < self.slack < math.inf:
            raise ValueError(f"slack must exceed 1, and 2 is the paper's choice: got {self.slack}")
        if self.window is not None and self.window <= self.k:
            raise ValueError(
                f"window must exceed k, or all remembered rounds could be outliers: got k={self.k} and "
                f"window={self.window}"
            )

    def init(self, dim: int) -> Largest | Windowed:
        memory = Largest(np.zeros(self.k + 1))
        if self.window is None:
            return memory
        return Windowed(memory, Largest(np.zeros(self.k + 1)), 0, self.window)

    def valid(self, state: Any) -> bool:
        return state.has_window(self.window) and state.valid()

    def reset(self, state: Any, dim: int) -> Any:
        return state.cleared()

    def decide(self, state: Any, size: float) -> tuple[Any, float, bool]:
        state = state.push(size)
        threshold = self.slack * state.smallest()
        return state, threshold, size <= threshold and size < math.inf
