"""A sketch that forgets: the sizes of the last block of rounds and of the current one."""

import math
from typing import Any, NamedTuple


class Windowed(NamedTuple):
    """Two sketches in place of one, so that it answers for the last `window` to 2 `window` sizes.

    Sizes come in blocks of `window`. One sketch holds those of the last block and the current one; the other
    holds those of the current block. When a block is full and another size comes, the first becomes a copy of
    the second, and the second is emptied. A size is pushed twice, and the copy is made once a block. So a
    round takes O(1) with `Largest` (if k is at most the window) and `LogHistogram`, and O(log n) with `Ranks`.

    Examples
    --------
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
    count: int  # how many sizes the current block has
    window: int  # how many it will have

    def seen(self):
        """How many sizes are remembered."""
        return self.memory.seen()

    def push(self, size):
        """Remember a size; if it is the first of a block, forget the block before the last."""
        if not size < math.inf:
            return self
        memory, block, count = self.memory, self.block, self.count
        if count >= self.window:
            memory, block, count = memory.copied_from(block), block.cleared(), 0
        return Windowed(memory.push(size), block.push(size), count + 1, self.window)

    def at(self, rank):
        """The sketch, and the rank-th smallest of the sizes remembered, 1 <= rank <= seen()."""
        memory, value = self.memory.at(rank)
        return Windowed(memory, self.block, self.count, self.window), value

    def smallest(self):
        """As `Largest.smallest`, of the sizes remembered."""
        return self.memory.smallest()

    def has_window(self, window):
        """Whether its blocks have this length."""
        return self.window == window

    def valid(self):
        """Whether pushing sizes can lead to this, as far as no round can reach outside of an array."""
        full = self.window + self.count
        return (
            self.memory.valid()
            and self.block.valid()
            and 0 <= self.count <= self.window
            and self.block.may_have_seen(self.count)
            and (self.memory.may_have_seen(self.count) or self.memory.may_have_seen(full))
        )

    def cleared(self):
        """The empty sketch, in the same arrays."""
        return Windowed(self.memory.cleared(), self.block.cleared(), 0, self.window)

    def merge(self, other):
        """The sizes of both, which must have seen different rounds, with windows of the same length.

        The two current blocks become one, which is full if it has `window` sizes or more.
        """
        memory, block = self.memory.merge(other.memory), self.block.merge(other.block)
        return Windowed(memory, block, self.count + other.count, self.window)
