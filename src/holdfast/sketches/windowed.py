"""Sketches that forget: the sizes of the last block of rounds and of the current one."""

import math
from typing import Any, NamedTuple

from holdfast.sketches.histogram import LogHistogram, keep_remainders, remainders_add_up
from holdfast.sketches.ranks import Ranks


class Windowed(NamedTuple):
    """Two sketches in place of one, so that it answers for the last `window` to 2 `window` sizes.

    Sizes come in blocks of `window`. One sketch holds those of the last block and the current one; the other
    holds those of the current block. When a block is full and another size comes, the first is emptied, and
    the two change places. So each size is pushed twice, and a sketch is emptied once a block. A round takes
    O(1) with `Largest` if few sizes enter it, and O(log n) with `Ranks`; for histograms there is
    `WindowedHistogram`.

    >>> from holdfast.sketches import Ranks
    >>> sketch = Windowed(Ranks.empty(), Ranks.empty(), 0, window=3)
    >>> for size in (9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0):
    ...     sketch = sketch.push(size)
    >>> sketch.seen()
    4
    >>> sketch, largest = sketch.at(4)
    >>> largest
    4.0
    """

    memory: Any  # of the last block and the current one
    block: Any  # of the current block
    in_block: int  # how many sizes the current block has
    window: int  # how many it will have

    def seen(self) -> int:
        """How many sizes are remembered."""
        return self.memory.seen()

    def push(self, size: float) -> "Windowed":
        """Remember a size; if it is the first of a block, forget the block before the last."""
        if not size < math.inf:
            return self
        memory, block, in_block = self.memory, self.block, self.in_block
        if in_block >= self.window:
            memory, block, in_block = block, memory.cleared(), 0
        return Windowed(memory.push(size), block.push(size), in_block + 1, self.window)

    def at(self, rank: int) -> tuple["Windowed", float]:
        """The sketch, and the rank-th smallest of the sizes remembered, 1 <= rank <= seen()."""
        memory, value = self.memory.at(rank)
        return Windowed(memory, self.block, self.in_block, self.window), value

    def smallest(self) -> float:
        """As `Largest.smallest`, of the sizes remembered."""
        return self.memory.smallest()

    def has_window(self, window: int | None) -> bool:
        """Whether its blocks have this length."""
        return self.window == window

    def valid(self) -> bool:
        """Whether pushing sizes can lead to this, as far as no round can reach outside of an array."""
        full = self.window + self.in_block
        return (
            self.memory.valid()
            and self.block.valid()
            and 0 <= self.in_block <= self.window
            and self.block.may_have_seen(self.in_block)
            and (self.memory.may_have_seen(self.in_block) or self.memory.may_have_seen(full))
        )

    def cleared(self) -> "Windowed":
        """The empty sketch, in the same arrays."""
        return Windowed(self.memory.cleared(), self.block.cleared(), 0, self.window)

    def merge(self, other: "Windowed") -> "Windowed":
        """The sizes of both, which must have seen different rounds, with windows of the same length.

        The two current blocks become one, which is full if it has `window` sizes or more.
        """
        memory, block = self.memory.merge(other.memory), self.block.merge(other.block)
        return Windowed(memory, block, self.in_block + other.in_block, self.window)


_SHIFT = 26
_ONE = (1 << _SHIFT) + 1  # a size in the memory and in the current block
_REST = (1 << _SHIFT) - 1
LONGEST = 1 << (_SHIFT - 1)  # window: then no count reaches 2^53, nor one of a block 2^26, also after a merge


class WindowedHistogram(NamedTuple):
    """`Windowed` with two histograms in one table, which is as fast as one histogram.

    Each count is 2^26 times that of the last block and the current one, plus that of the current block. A
    size adds 2^26 + 1. When a block ends, the counts of the current block take the place of the others. The
    rank-th smallest size is the (2^26 rank)-th of a `LogHistogram` with these counts, because the counts of
    the current block sum to less than 2^26.

    >>> sketch = WindowedHistogram.empty(window=3)
    >>> for size in (9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0):
    ...     sketch = sketch.push(size)
    >>> sketch.seen()
    4
    >>> sketch, largest = sketch.at(4)
    >>> largest
    4.0
    """

    counts: LogHistogram
    window: int

    @staticmethod
    def empty(window: int) -> "WindowedHistogram":
        """A sketch that has seen no size."""
        return WindowedHistogram(LogHistogram.empty(), window)

    def seen(self) -> int:
        """How many sizes are remembered."""
        return self.counts.seen() >> _SHIFT

    def push(self, size: float) -> "WindowedHistogram":
        """Remember a size; if it is the first of a block, forget the block before the last."""
        if not size < math.inf:
            return self
        if self.counts.seen() & _REST >= self.window:
            keep_remainders(self.counts.table, _SHIFT)
        self.counts.push(size, _ONE)
        return self

    def at(self, rank: int) -> tuple["WindowedHistogram", float]:
        """The sketch, and the lower edge of the bucket of the rank-th smallest size, 1 <= rank <= seen()."""
        _, value = self.counts.at(rank << _SHIFT)
        return self, value

    def has_window(self, window: int | None) -> bool:
        """Whether its blocks have this length."""
        return self.window == window

    def valid(self) -> bool:
        """Whether pushing sizes can lead to this, as far as no round can reach outside of the table."""
        n, block = self.seen(), self.counts.seen() & _REST
        lengths = block <= self.window and (n == block or n == self.window + block)
        return lengths and remainders_add_up(self.counts.table, _SHIFT)

    def cleared(self) -> "WindowedHistogram":
        """The empty sketch, in the same array."""
        return WindowedHistogram(self.counts.cleared(), self.window)

    def merge(self, other: "WindowedHistogram") -> "WindowedHistogram":
        """The sizes of both, which must have seen different rounds, with windows of the same length.

        The two current blocks become one, which is full if it has `window` sizes or more.
        """
        return WindowedHistogram(self.counts.merge(other.counts), self.window)


def check_window(window: int | None) -> None:
    """Raise if order statistics of so many rounds cannot be kept; None is for ever."""
    if window is not None and not 2 <= window <= LONGEST:
        raise ValueError(f"window is a number of rounds, at least 2 and at most {LONGEST:,}: got {window}")


def order_statistics(exact: bool, window: int | None) -> Any:
    """An empty sketch of all sizes, or of the last `window` to 2 `window`."""
    if window is None:
        return Ranks.empty() if exact else LogHistogram.empty()
    return Windowed(Ranks.empty(), Ranks.empty(), 0, window) if exact else WindowedHistogram.empty(window)
