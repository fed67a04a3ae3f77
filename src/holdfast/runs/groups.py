"""Skipped rows that follow each other, as groups: a sensor that failed is one event, not a thousand rows."""

import heapq
import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np

_COLUMNS = ("row", "reason", "column", "value")
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


def largest_groups(tables, count):
    """The groups with the most skipped rows, from the parts of an audit, and the number of all groups."""
    largest: list = []
    total, waiting = 0, None
    for table in tables:
        part = {name: table.column(name).to_numpy(zero_copy_only=False) for name in _COLUMNS}
        if waiting is not None:
            part = {name: np.concatenate([waiting[name], column]) for name, column in part.items()}
        starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(part["row"]) > 1 + _BETWEEN)])
        for start, stop in itertools.pairwise(starts):
            total += 1
            _keep(largest, {name: column[start:stop] for name, column in part.items()}, total, count)
        waiting = {name: column[starts[-1] :] for name, column in part.items()}
    if waiting is not None and len(waiting["row"]):
        total += 1
        _keep(largest, waiting, total, count)
    found = sorted(largest, key=lambda entry: (-entry[0], -entry[1]))
    return [_described(rows) for _, _, rows in found], total


def _keep(largest, rows, number, count):
    """Put a group on the heap of the largest ones; of equal ones the first stays."""
    size = 1 + np.count_nonzero(np.diff(rows["row"]))
    if len(largest) < count or (largest and size > largest[0][0]):
        heapq.heappush(largest, (size, -number, rows))
        if len(largest) > count:
            heapq.heappop(largest)


def _described(rows):
    pairs = list(zip(rows["reason"], rows["column"], strict=True))
    ((reason, column), _), *_ = Counter(pairs).most_common(1)
    values = rows["value"][[pair == (reason, column) for pair in pairs]]
    values = values[~np.isnan(values)]
    numbers = np.unique(rows["row"])
    low, high = (float(values.min()), float(values.max())) if len(values) else (np.nan, np.nan)
    return Group(int(numbers[0]), int(numbers[-1]), len(numbers), reason, column, low, high)


def counts_by_column(tables):
    """How many entries of an audit each reason and column has, the largest first."""
    counts: dict[tuple[str, str], int] = {}
    for table in tables:
        for row in table.group_by(["reason", "column"]).aggregate([([], "count_all")]).to_pylist():
            pair = row["reason"], row["column"]
            counts[pair] = counts.get(pair, 0) + row["count_all"]
    return sorted(((*pair, count) for pair, count in counts.items()), key=lambda entry: -entry[2])
