"""An even sample of the rounds that a filter has skipped, for a plot."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.audit import NOT_READABLE

_MOST = 2_000  # rounds


class SkippedSample:
    """Every n-th round that the filter of a measure has skipped. n doubles if there are too many."""

    def __init__(self, measure):
        self._measure, self._stride, self._seen = measure, 1, 0
        self._table = np.zeros((0, 3))  # the number of the skipped round, its round, its size

    def add(self, table):
        """Add the next part of the audit."""
        mine = table.filter(pc.is_in(table.column("reason"), pa.array([self._measure, NOT_READABLE])))
        places = self._seen + np.arange(mine.num_rows)
        self._seen += mine.num_rows
        new = np.column_stack([places, mine.column("round"), mine.column(f"{self._measure}_size")])
        self._table = np.concatenate([self._table, new[places % self._stride == 0]])
        while len(self._table) > _MOST:
            self._stride *= 2
            self._table = self._table[self._table[:, 0] % self._stride == 0]

    def rounds_and_sizes(self):
        return self._table[:, 1], self._table[:, 2]
