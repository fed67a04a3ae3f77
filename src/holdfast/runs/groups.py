"""Skipped rows that follow each other, as groups: a sensor that failed is one event, not a thousand rows."""

import itertools
from typing import NamedTuple

import numpy as np

_BETWEEN = 2  # rows in between that were kept, at most


class Group(NamedTuple):
    """Skipped rows with at most two rows in between that were kept."""

    first: int
    last: int
    rows: int  # skipped
    reason: str  # the most frequent one
    column: str  # the most frequent one of this reason; empty if it is unknown
    low: float  # the smallest and the largest value of that column in the group
    high: float


class _Sums:
    """What is needed of a group, while entries are added: of each reason and column, count and values."""

    def __init__(self, first):
        self.first = self.last = first
        self.rows, self.pairs = 0, {}

    def add(self, rows, table):
        """Add entries of the audit that follow."""
        self.rows += int(np.count_nonzero(np.diff(rows, prepend=self.last))) + (self.rows == 0)
        self.last = int(rows[-1])
        columns = [table.column(name).to_pylist() for name in ("reason", "column", "value")]
        for reason, column, value in zip(*columns, strict=True):
            count, low, high = self.pairs.get((reason, column), (0, np.nan, np.nan))
            self.pairs[reason, column] = count + 1, np.fmin(low, value), np.fmax(high, value)

    def group(self):
        (reason, column), (_, low, high) = max(self.pairs.items(), key=lambda pair: pair[1][0])
        return Group(self.first, self.last, self.rows, reason, column, float(low), float(high))


class Groups:
    """The largest groups of an audit, whose parts are added one after the other, and how many there are."""

    def __init__(self, most):
        self._most, self._closed = most, 0
        self._largest: list[Group] = []
        self._open: _Sums | None = None  # the last group, which may go on

    def add(self, table):
        """Add the next part of an audit."""
        rows = table.column("row").to_numpy()
        if not len(rows):
            return
        ends = 1 + np.flatnonzero(np.diff(rows) > 1 + _BETWEEN)
        spans = list(itertools.pairwise([0, *ends.tolist(), len(rows)]))
        if self._open is None or rows[0] - self._open.last > 1 + _BETWEEN:
            self._close()
            self._open = _Sums(int(rows[0]))
        self._add_entries(rows, table, *spans[0])
        if len(spans) > 1:
            self._close()
            self._add_whole(rows, table, spans[1:-1])
            self._open = _Sums(int(rows[spans[-1][0]]))
            self._add_entries(rows, table, *spans[-1])

    def _add_entries(self, rows, table, start, stop):
        self._open.add(rows[start:stop], table.slice(start, stop - start))

    def _add_whole(self, rows, table, spans):
        """Add groups that begin and end in this part; only the largest of them are looked at."""
        new = np.diff(rows, prepend=-1) > 0
        sizes = [int(new[start:stop].sum()) for start, stop in spans]
        least = sorted(sizes)[-self._most] if len(sizes) > self._most > 0 else 0
        for size, span in zip(sizes, spans, strict=True):
            if size >= least:
                self._open = _Sums(int(rows[span[0]]))
                self._add_entries(rows, table, *span)
                self._close()
            else:
                self._closed += 1

    def _close(self):
        if self._open is not None:
            self._closed += 1
            self._largest = self._with(self._open.group())
            self._open = None

    def _with(self, group):
        """The largest groups and this one, which comes later; of equal ones the first stay."""
        return sorted([*self._largest, group], key=lambda one: -one.rows)[: self._most]

    def largest(self):
        return self._largest if self._open is None else self._with(self._open.group())

    def count(self):
        return self._closed + (self._open is not None)
