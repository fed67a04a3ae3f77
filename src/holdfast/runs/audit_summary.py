"""What an audit says in short. Its parts are added one after the other, so none is read twice."""

import math
from collections import Counter

import numpy as np
import pyarrow.compute as pc

from holdfast.audit import WARM_UP
from holdfast.runs.audit import MEASURES
from holdfast.runs.groups import Groups
from holdfast.runs.quarantine import with_excess
from holdfast.runs.skipped_sample import SkippedSample

_SHOWN = (
    "round",
    "row",
    "reason",
    "column",
    "value",
    "detail",
    "learned",
    "measure",
    "size",
    "threshold",
    "times",
)


class AuditSummary:
    """Skipped rounds by column, groups of skipped rows, and the worst rows: at most `most` of each.

    Rounds of the warm-up are no outliers, so they are left out.
    """

    def __init__(self, run, most):
        self._run, self._most, self._parts = run, most, 0
        self._columns: Counter = Counter()
        self._groups, self._worst = Groups(most), []
        self.samples = {measure: SkippedSample(measure) for measure in MEASURES}

    def update(self):
        """Add the parts that the run has written since the last call; return the summary."""
        for table in self._run.read("audit", since=self._parts):
            self._add(table)
        self._parts = self._run.parts
        return self.summary()

    def _add(self, table):
        table = table.filter(pc.not_equal(table.column("reason"), WARM_UP))
        for row in table.group_by(["reason", "column"]).aggregate([([], "count_all")]).to_pylist():
            self._columns[row["reason"], row["column"]] += row["count_all"]
        for part in (self._groups, *self.samples.values()):
            part.add(table)
        table = with_excess(table)
        worst = np.argsort(-table.column("times").to_numpy(), kind="stable")[: self._most]
        names = [name for name in (*_SHOWN, "key", "label") if name in table.column_names]
        rows = [_known(row) for row in table.select(names).take(worst).to_pylist()]
        self._worst = sorted([*self._worst, *rows], key=lambda entry: -entry["times"])[: self._most]

    def summary(self):
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


def _known(entry):
    """The entry with None for NaN in the columns where it means unknown."""
    unknown = ("value", "low", "high")
    return {name: None if name in unknown and math.isnan(value) else value for name, value in entry.items()}
