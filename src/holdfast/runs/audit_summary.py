"""What an audit says in short. Its parts are added one after the other, so none is read twice."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.audit import WARM_UP
from holdfast.runs.audit import MEASURES, with_times

if TYPE_CHECKING:
    from holdfast.runs.run import Run

_BETWEEN = 2  # rows of a group that were kept, one after the other, at most
_MOST_SAMPLED = 2_000  # rounds, for a plot

_UNKNOWN = ("size", "threshold", "times", "value", "low", "high")  # where NaN means unknown


class AuditSummary:
    """Skipped rounds by column, groups of skipped rows, and the worst rows: at most `most` of each.

    Rounds of the warm-up are no outliers, so they are left out.
    """

    def __init__(self, run: "Run", most: int) -> None:
        self._run, self._most, self._parts = run, most, 0
        self._columns: Counter[tuple[str, str]] = Counter()
        self._groups = Groups(most)
        self._worst: list[dict[str, Any]] = []
        self.samples = {measure: SkippedSample(measure) for measure in MEASURES}

    def update(self) -> dict[str, Any]:
        """Add the parts that the run has written since the last call; return the summary."""
        for table in self._run.read("audit", since=self._parts):
            self._add(table)
        self._parts = self._run.parts
        return self.summary()

    def _add(self, table: pa.Table) -> None:
        table = table.filter(pc.not_equal(table.column("reason"), WARM_UP))
        for row in table.group_by(["reason", "column"]).aggregate([([], "count_all")]).to_pylist():
            self._columns[row["reason"], row["column"]] += row["count_all"]
        self._groups.add(table)
        for sample in self.samples.values():
            sample.add(table)
        table = with_times(table)
        worst = np.argsort(-table.column("times").to_numpy(), kind="stable")[: self._most]
        rows = [_known(row) for row in table.take(worst).to_pylist()]
        self._worst = sorted([*self._worst, *rows], key=lambda row: -(row["times"] or 0.0))[: self._most]

    def summary(self) -> dict[str, Any]:
        columns = [(*pair, count) for pair, count in self._columns.most_common() if pair[1]]
        return {
            "columns": [
                {"reason": reason, "column": column, "count": count}
                for reason, column, count in columns[: self._most]
            ],
            "groups": [_known(group._asdict()) for group in self._groups.largest()],
            "group_count": self._groups.count(),
            "worst": self._worst,
        }


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry with None for NaN in the columns where it means unknown."""
    return {name: None if name in _UNKNOWN and math.isnan(value) else value for name, value in entry.items()}


# -- skipped rows that follow each other: a sensor that failed is one event, not a thousand rows


class Group(NamedTuple):
    """Skipped rows with at most two rows in between that were kept."""

    first: int
    last: int
    rows: int  # skipped
    reason: str  # the most frequent one
    column: str  # the most frequent one of this reason; empty if it is unknown
    low: float  # the smallest and the largest value of that column in the group
    high: float
    begin: str | None = None  # the times of the first and the last row, if the run has a column of times
    end: str | None = None


class _Sums:
    """What is needed of a group, while entries are added: of each reason and column, count and values."""

    def __init__(self, first: int) -> None:
        self.first = self.last = first
        self.rows = 0
        self.begin: str | None = None
        self.end: str | None = None
        self.pairs: dict[tuple[str, str], tuple[int, float, float]] = {}

    def add(self, rows: np.ndarray, table: pa.Table) -> None:
        self.rows += int(np.count_nonzero(np.diff(rows, prepend=self.last))) + (self.rows == 0)
        self.last = int(rows[-1])
        if "time" in table.column_names:
            times = [time for time in table.column("time").to_pylist() if time is not None]
            self.begin = self.begin or (times[0] if times else None)
            self.end = times[-1] if times else self.end
        columns = [table.column(name).to_pylist() for name in ("reason", "column", "value")]
        for reason, column, value in zip(*columns, strict=True):
            count, low, high = self.pairs.get((reason, column), (0, np.nan, np.nan))
            self.pairs[reason, column] = count + 1, np.fmin(low, value), np.fmax(high, value)

    def group(self) -> Group:
        (reason, column), (_, low, high) = max(self.pairs.items(), key=lambda pair: pair[1][0])
        values = float(low), float(high)
        return Group(self.first, self.last, self.rows, reason, column, *values, self.begin, self.end)


class Groups:
    """The largest groups of an audit, whose parts are added one after the other, and how many there are."""

    def __init__(self, most: int) -> None:
        self._most, self._closed = most, 0
        self._largest: list[Group] = []
        self._open: _Sums | None = None  # the last group, which may go on

    def add(self, table: pa.Table) -> None:
        rows = table.column("row").to_numpy()
        if not len(rows):
            return
        ends = 1 + np.flatnonzero(np.diff(rows) > 1 + _BETWEEN)
        spans = list(itertools.pairwise([0, *ends.tolist(), len(rows)]))
        if self._open is None or rows[0] - self._open.last > 1 + _BETWEEN:
            self._close()
            self._open = _Sums(int(rows[0]))
        self._add_entries(self._open, rows, table, *spans[0])
        if len(spans) > 1:
            self._close()
            self._add_whole(rows, table, spans[1:-1])
            self._open = self._add_entries(_Sums(int(rows[spans[-1][0]])), rows, table, *spans[-1])

    @staticmethod
    def _add_entries(sums: _Sums, rows: np.ndarray, table: pa.Table, start: int, stop: int) -> _Sums:
        sums.add(rows[start:stop], table.slice(start, stop - start))
        return sums

    def _add_whole(self, rows: np.ndarray, table: pa.Table, spans: Sequence[tuple[int, int]]) -> None:
        """Add groups that begin and end in this part; only the largest of them are looked at."""
        new = np.diff(rows, prepend=-1) > 0
        sizes = [int(new[start:stop].sum()) for start, stop in spans]
        least = sorted(sizes)[-self._most] if len(sizes) > self._most > 0 else 0
        for size, span in zip(sizes, spans, strict=True):
            if size >= least:
                self._open = self._add_entries(_Sums(int(rows[span[0]])), rows, table, *span)
                self._close()
            else:
                self._closed += 1

    def _close(self) -> None:
        if self._open is not None:
            self._closed += 1
            self._largest = self._with(self._open.group())
            self._open = None

    def _with(self, group: Group) -> list[Group]:
        """The largest groups and this one, which comes later; of equal ones the first stay."""
        return sorted([*self._largest, group], key=lambda one: -one.rows)[: self._most]

    def largest(self) -> list[Group]:
        return self._largest if self._open is None else self._with(self._open.group())

    def count(self) -> int:
        return self._closed + (self._open is not None)


class SkippedSample:
    """Every n-th round that the filter of a measure has skipped. n doubles if there are too many."""

    def __init__(self, measure: str) -> None:
        self._measure, self._stride, self._seen = measure, 1, 0
        self._table = np.zeros((0, 3))  # the number of the skipped round, its round, its size

    def add(self, table: pa.Table) -> None:
        mine = table.filter(pc.equal(table.column("reason"), self._measure))
        places = self._seen + np.arange(mine.num_rows)
        self._seen += mine.num_rows
        new = np.column_stack([places, mine.column("round"), mine.column("size")])
        self._table = np.concatenate([self._table, new[places % self._stride == 0]])
        while len(self._table) > _MOST_SAMPLED:
            self._stride *= 2
            self._table = self._table[self._table[:, 0] % self._stride == 0]

    def rounds_and_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        return self._table[:, 1], self._table[:, 2]
