"""The stateful operator of a stream: it plays the rows of a group of keys and keeps their pages."""

import numpy as np
import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import Row

from holdfast.io.sources import keys_of
from holdfast.spark.packing import from_bytes, to_bytes
from holdfast.spark.pages import expired, joined, load_into, read_page, split
from holdfast.spark.plan import Plan
from holdfast.spark.playing import LATE, NO_ORDER, ORDER, KeyedRun

STATE = "pages"
_RUNS: dict = {}  # runs without keys, ready to play; a Python worker of Spark works for many tasks


class FleetProcessor(StatefulProcessor):
    """Input: rows in packed form. Output: a decision for every row, packed too."""

    def __init__(self, plan, places, ttl, compiled, schema):
        self.plan, self.places, self.ttl, self.compiled = plan.to_json(), places, ttl, compiled
        self.schema = schema  # of the output, as Arrow

    def init(self, handle):
        self.run = _run_for(self.plan, self.compiled)
        self.pages = handle.getMapState(STATE, "page int", "content binary", self.ttl)

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        table = in_order(pa.concat_tables([from_bytes(row.rows) for row in rows]))
        now = timerValues.getCurrentProcessingTimeInMs()
        keys = keys_of(table.column(self.run.plan.key), self.run.plan.key, "the rows")
        self.read(np.unique(self.places.pages_of(keys)), now)
        good, late, played = self.run.play(table, now)
        if played is not None:
            self.write()
        yield Row(rows=to_bytes(self.answers(table, keys, good, late, played)))

    def handleInitialState(self, key, initialState, timerValues):  # noqa: N802
        """Store a page of models that were learned before."""
        self.pages.updateValue((initialState.page,), (initialState.content,))

    def read(self, numbers, now):
        """Let the run go on from these pages, without the keys that are too old."""
        found, labels = [], len(self.run.games.labels)
        for number in numbers:
            content = self.pages.getValue((int(number),))
            if content is not None:
                page = read_page(content[0], self.plan, self.run.games.layout, "the checkpoint")
                found.append(page.without(expired(page, now, self.ttl), labels))
        load_into(self.run, joined(found, labels), "the checkpoint")

    def write(self):
        for number, page in split(self.run, self.places.page_of):
            self.pages.updateValue((number,), (page.to_bytes(self.plan, self.run.games.layout),))

    def answers(self, table, keys, good, late, played):
        """A row for each row of the table."""
        run, count = self.run, table.num_rows
        outcomes = np.full((count, len(run.games.labels)), np.nan)
        kept, sizes, thresholds = np.zeros(count, bool), np.full(count, np.nan), np.full(count, np.nan)
        reasons = np.full(count, None, object)
        reasons[:] = NO_ORDER
        reasons[late] = LATE
        if played is not None:
            outcomes[good], kept[good] = played.predictions, played.kept
            sizes[good], thresholds[good], reasons[good] = played.sizes, played.thresholds, None
            audit = played.audit
            # With several labels a row may be there more than once: the first label counts.
            rows = good[audit.column("row").to_numpy()][::-1]
            why = audit.column("reason").to_numpy(zero_copy_only=False)[::-1]
            reasons[rows] = why
            for measure in ("features", "target", "gradient"):
                some = why == measure
                sizes[rows[some]] = audit.column(f"{measure}_size").to_numpy()[::-1][some]
                thresholds[rows[some]] = audit.column(f"{measure}_threshold").to_numpy()[::-1][some]
        columns = {
            "key": keys,
            "at": table.column(run.plan.order),
            "prediction": run.answers(outcomes),
            "kept": pa.array(kept),
            "reason": pa.array(reasons, pa.string()),
            "size": pa.array(sizes, mask=np.isnan(sizes)),
            "threshold": pa.array(thresholds, mask=np.isnan(thresholds)),
        }
        return pa.table([_as(columns[field.name], field.type) for field in self.schema], schema=self.schema)


def in_order(table):
    """The rows sorted by order; rows of the same order by the other columns."""
    order = table.column(ORDER).to_numpy()
    if len(np.unique(order)) < len(order):
        rest = [name for name in table.column_names if name != ORDER and not pa.types.is_map(table.column(name).type)]
        return table.sort_by([(ORDER, "ascending"), *((name, "ascending") for name in rest)])
    if (order[1:] > order[:-1]).all():
        return table
    return table.take(pa.array(np.argsort(order, kind="stable")))


def _run_for(plan, compiled):
    """A run for this plan, used again by later tasks of this process."""
    if (plan, compiled) not in _RUNS:
        _RUNS[plan, compiled] = KeyedRun(Plan.from_json(plan), compiled)
    return _RUNS[plan, compiled]


def _as(column, kind):
    return column if column.type == kind else column.cast(kind)
