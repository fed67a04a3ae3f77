"""The binomial tail of a filter with a window, whose n falls back at the end of each block."""

from typing import NamedTuple

import numpy as np

from holdfast.filters.binomial import BinomialTail


class WindowedTail(NamedTuple):
    """A `BinomialTail` for n = 1, ..., 2 W, then W + 1, ..., 2 W again and again.

    The numbers of n = W are saved, and restored after n = 2 W.

    Examples
    --------
    >>> tail = WindowedTail.of_quantile(0.5, window=2)
    >>> [tail.next_round(level=0.3) for _ in range(8)]
    [1, 1, 2, 3, 2, 3, 2, 3]
    """

    tail: BinomialTail
    saved: np.ndarray
    window: int

    @staticmethod
    def of_quantile(p, window):
        tail = BinomialTail.of_quantile(p)
        return WindowedTail(tail, np.zeros(len(tail.figures)), window)

    def has_window(self, window):
        """Whether its blocks have this length."""
        return self.window == window

    def is_for(self, p):
        """As `BinomialTail.is_for`."""
        return self.tail.is_for(p)

    def cleared(self):
        """The tail before the first round, in the same arrays."""
        self.saved[:] = 0.0
        return WindowedTail(self.tail.cleared(), self.saved, self.window)

    def valid(self, n):
        """As `BinomialTail.valid`, with n < 2 W."""
        saved = BinomialTail(self.tail.share, self.tail.rest, self.saved)
        return self.tail.valid(n) and (n < self.window or saved.valid(self.window))

    def next_round(self, level, weight=1.0):
        """Add a round, and return the smallest k for level / weight."""
        k = self.tail.next_round(level, weight)
        n = self.tail.figures[0]
        if n == self.window:
            self.saved[:] = self.tail.figures
        if n == 2 * self.window:
            self.tail.figures[:] = self.saved
        return k
