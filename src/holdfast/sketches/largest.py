"""The largest sizes seen so far, as Algorithm 1 keeps them."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.sketches.heap import is_heap, replace_top
from holdfast.vectors import scale_by


class Largest(NamedTuple):
    """The list of Algorithm 1: the largest sizes, as many as the array is long, zeros while fewer were seen.

    Exact. O(1) for a size that does not enter and O(log k) for one that does. Sizes that are not finite
    are not remembered.

    >>> sketch = Largest(np.zeros(2))
    >>> for size in (3.0, 1.0, 2.0):
    ...     sketch = sketch.push(size)
    >>> sketch.smallest()
    2.0
    """

    heap: np.ndarray

    def push(self, size: float) -> "Largest":
        """Remember `size` if it is among the largest."""
        if self.heap[0] < size < math.inf:
            replace_top(self.heap, len(self.heap), size)
        return self

    def smallest(self) -> float:
        """The smallest of the largest: the (k+1)-th largest size seen, 0 if there were fewer."""
        return float(self.heap[0])

    def valid(self) -> bool:
        """Whether pushing sizes can lead to this."""
        return is_heap(self.heap, len(self.heap)) and bool((self.heap < math.inf).all())

    def has_window(self, window: int | None) -> bool:
        """True if `window` is None: this sketch forgets nothing."""
        return window is None

    def may_have_seen(self, n: int) -> bool:
        """Whether n sizes can lead to this."""
        return bool(np.count_nonzero(self.heap) <= n)

    def cleared(self) -> "Largest":
        """The empty sketch, in the same array."""
        scale_by(self.heap, 0.0)
        return self

    def merge(self, other: "Largest") -> "Largest":
        """The largest of both. The two must have seen different rounds: one counted twice voids Lemma A1."""
        for size in other.heap:
            self.push(size)
        return self
