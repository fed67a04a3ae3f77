"""Exact order statistics: every size is kept."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.sketches.heap import insert, pop


class Ranks(NamedTuple):
    """All sizes, in two heaps: the `held` smallest ones, and the others.

    Exact, but memory grows with the rounds: the reference for `LogHistogram`, and what `exact=True` uses. A
    rank that moves by one costs O(log n). Sizes that are not finite are not remembered.

    >>> sketch = Ranks.empty()
    >>> for size in (3.0, 1.0, 2.0):
    ...     sketch = sketch.push(size)
    >>> sketch, second = sketch.at(2)
    >>> second
    2.0
    """

    small: np.ndarray  # negated, so that the largest of the small ones is on top
    large: np.ndarray
    held: int
    others: int

    @staticmethod
    def empty() -> "Ranks":
        """A sketch that has seen no size."""
        return Ranks(np.zeros(16), np.zeros(16), 0, 0)

    def seen(self) -> int:
        """How many sizes were pushed."""
        return self.held + self.others

    def push(self, size: float) -> "Ranks":
        """Remember a size."""
        if not size < math.inf:
            return self
        small, large = _with_space(self.small, self.held), _with_space(self.large, self.others)
        if self.held > 0 and size < -small[0]:
            insert(small, self.held, -size)
            return Ranks(small, large, self.held + 1, self.others)
        insert(large, self.others, size)
        return Ranks(small, large, self.held, self.others + 1)

    def at(self, rank: int) -> tuple["Ranks", float]:
        """The sketch, with its `rank` smallest sizes in one heap, and the largest of these.

        It needs 1 <= rank <= seen().
        """
        small, large, held, others = self.small, self.large, self.held, self.others
        while held < rank:
            small = _with_space(small, held)
            insert(small, held, -large[0])
            pop(large, others)
            held, others = held + 1, others - 1
        while held > rank:
            large = _with_space(large, others)
            insert(large, others, -small[0])
            pop(small, held)
            held, others = held - 1, others + 1
        return Ranks(small, large, held, others), float(-small[0])

    def valid(self) -> bool:
        """Whether pushing sizes can lead to this, as far as no round can reach outside of the arrays."""
        return 0 <= self.held <= len(self.small) and 0 <= self.others <= len(self.large)

    def has_window(self, window: int | None) -> bool:
        """True if `window` is None: this sketch forgets nothing."""
        return window is None

    def may_have_seen(self, n: int) -> bool:
        """Whether n sizes can lead to this."""
        return self.seen() == n

    def cleared(self) -> "Ranks":
        """The empty sketch, in the same arrays."""
        return Ranks(self.small, self.large, 0, 0)

    def merge(self, other: "Ranks") -> "Ranks":
        """The sizes of both, which must have seen different rounds."""
        merged = self
        for i in range(other.held):
            merged = merged.push(-other.small[i])
        for i in range(other.others):
            merged = merged.push(other.large[i])
        return merged


def _with_space(heap: np.ndarray, length: int) -> np.ndarray:
    """The heap, in a longer array if this one is full."""
    if length < len(heap):
        return heap
    longer = np.zeros(2 * len(heap))
    longer[:length] = heap[:length]
    return longer
