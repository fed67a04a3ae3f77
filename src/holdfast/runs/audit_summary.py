"""What an audit says in short. Its parts are added one after the other, so none is read twice."""

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.audit import WARM_UP
from holdfast.runs.audit import MEASURES, with_times
from holdfast.runs.trace import ThinnedTable

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
        # Of the rounds that each filter has skipped: their number, round and size.
        self.samples = {measure: ThinnedTable(3, _MOST_SAMPLED) for measure in MEASURES}
        self._sampled = dict.fromkeys(MEASURES, 0)

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
        for measure, sample in self.samples.items():
            mine = table.filter(pc.equal(table.column("reason"), measure))
            sample.add(self._sampled[measure], [mine.column(name).to_numpy() for name in ("round", "size")])
            self._sampled[measure] += mine.num_rows
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
        self.first, self.last, self.rows = first, first - 1, 0
        self.begin: str | None = None
        self.end: str | None = None
        self.pairs: dict[tuple[str, str], tuple[int, float, float]] = {}

    def add(self, row: int, reason: str, column: str, value: float, time: str | None) -> None:
        self.rows += row != self.last
        self.last = row
        self.begin, self.end = self.begin or time, time or self.end
        count, low, high = self.pairs.get((reason, column), (0, math.nan, math.nan))
        if not math.isnan(value):
            low, high = low if low <= value else value, high if high >= value else value
        self.pairs[reason, column] = count + 1, low, high

    def group(self) -> Group:
        (reason, column), (_, low, high) = max(self.pairs.items(), key=lambda pair: pair[1][0])
        return Group(self.first, self.last, self.rows, reason, column, low, high, self.begin, self.end)


class Groups:
    """The largest groups of an audit, whose parts are added one after the other, and how many there are."""

    def __init__(self, most: int) -> None:
        self._most, self._closed = most, 0
        self._largest: list[Group] = []
        self._open: _Sums | None = None  # the last group, which may go on

    def add(self, table: pa.Table) -> None:
        times = table.column("time").to_pylist() if "time" in table.column_names else itertools.repeat(None)
        columns = [table.column(name).to_pylist() for name in ("row", "reason", "column", "value")]
        for row, *entry in zip(*columns, times, strict=False):
            if self._open is None or row - self._open.last > 1 + _BETWEEN:
                self._largest, self._closed = self.largest(), self.count()
                self._open = _Sums(row)
            self._open.add(row, *entry)

    def largest(self) -> list[Group]:
        """The largest ones first; of equal ones the first."""
        if self._open is None:
            return self._largest
        if self._largest and len(self._largest) == self._most and self._open.rows <= self._largest[-1].rows:
            return self._largest
        return sorted([*self._largest, self._open.group()], key=lambda one: -one.rows)[: self._most]

    def count(self) -> int:
        return self._closed + (self._open is not None)
