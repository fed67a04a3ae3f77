"""The stateful operator of a stream: it plays the rows of a group of keys, keeps their pages, and answers."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import Row

from holdfast.fleet.states import KeyStates, joined
from holdfast.runs.config import Config
from holdfast.spark.orders import LATE, NO_ORDER
from holdfast.spark.packing import joined_rows, leave_out_loaded_modules, to_bytes
from holdfast.spark.pages import Places, page_text, read_page, split, without_old
from holdfast.spark.plan import read_plan
from holdfast.spark.playing import KeyedRun, Played, keys_in

STATE, WHERE = "pages", "the checkpoint"
_MOST_BYTES = 64 << 20  # of states that are played together
# Runs to play in: a Python worker of Spark works for many tasks.
_RUNS: dict[tuple[str, bool | None], Any] = {}


class Processor(StatefulProcessor):
    """Input: rows in packed form. Output: what `answers` of the job makes of them, packed too."""

    def __init__(self, job: Any, places: Places, ttl: int | None) -> None:
        self.job, self.places, self.ttl = job, places, ttl

    def init(self, handle: Any) -> None:
        self.run = run_for(self.job)
        self.pages = handle.getMapState(STATE, "page int", "content string", self.ttl)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802
        now = timerValues.getCurrentProcessingTimeInMs()
        for part, keys, _ in self.loaded_parts(rows, now):
            good, late, played = self.run.play(part, keys, now)
            if played is not None or late.any():
                self.write()
            yield Row(rows=to_bytes(self.job.answers(self.run, part, keys, good, late, played)))

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802
        """Store a page of models that were learned before."""
        self.pages.updateValue((initialState.page,), (initialState.content,))

    def loaded_parts(self, rows: Any, now: int) -> Iterator[tuple[pa.Table, Any, list[int]]]:
        """The rows, in order, their keys and pages: as many as have their pages loaded at a time."""
        plan = self.run.config
        table = joined_rows((row.rows for row in rows), plan.key, plan.order)
        keys = keys_in(table, plan)
        numbers = self.places.pages_of(keys)
        pages = np.unique(numbers)
        for some in self._load_in_turn(pages, now):
            if len(some) == len(pages):
                yield table, keys, some
            else:
                mine = pa.array(np.flatnonzero(np.isin(numbers, some)))
                yield table.take(mine), keys.take(mine), some
        leave_out_loaded_modules()

    def _load_in_turn(self, numbers: np.ndarray, now: int) -> Iterator[list[int]]:
        """Load these pages without old keys, as many at a time as memory allows; yield which."""
        found: list[KeyStates] = []
        some: list[int] = []
        size = 0
        for number in numbers:
            content = self.pages.getValue((int(number),))
            some.append(number)
            if content is not None:
                page = read_page(content[0], self.job.plan, self.run, WHERE, self.places)
                size += sum(map(len, page.states))
                found.append(without_old(page, now, self.ttl, self.run.labels))
            if size > _MOST_BYTES or number == numbers[-1]:
                self.run.load(joined(found, self.run.columns), WHERE)
                yield some
                found, some, size = [], [], 0

    def write(self) -> None:
        """Store the pages of all keys that are loaded."""
        for number, page in split(self.run.stored(), self.places, self.run.labels):
            content = page_text(page, self.job.plan, self.run.state_layout, self.places)
            self.pages.updateValue((number,), (content,))


def run_for(job: Any) -> Any:
    """A run for this job, used again by later tasks of this process."""
    place = job.plan, job.compiled
    if place not in _RUNS:
        _RUNS[place] = job.new_run()
    return _RUNS[place]


# -- what a stream gives back for its rows


class LearnRows:
    """Every row is predicted and learned from."""

    def __init__(self, plan: Config, compiled: bool | None, schema: pa.Schema) -> None:
        self.plan, self.compiled, self.schema = plan.to_text(), compiled, schema

    def new_run(self) -> KeyedRun:
        return KeyedRun(read_plan(self.plan), self.compiled)

    def answers(
        self,
        run: KeyedRun,
        table: pa.Table,
        keys: Any,
        good: np.ndarray,
        late: np.ndarray,
        played: Played | None,
    ) -> pa.Table:
        """A row for each row of the table: prediction, decision, reason, size and threshold."""
        found = answer_columns(run, good, played, np.where(late, LATE, NO_ORDER).astype(object))
        return as_table(found | {"key": keys, "at": table.column(run.config.order)}, self.schema)


def answer_columns(
    run: KeyedRun, good: np.ndarray, played: Played | None, reasons: np.ndarray
) -> dict[str, Any]:
    """What a stream gives back, from the reasons of rows that were not played and those that were, `good`."""
    count = len(reasons)
    outcomes, kept = np.full((count, run.margins), np.nan), np.zeros(count, bool)
    sizes, thresholds = np.full(count, np.nan), np.full(count, np.nan)
    if played is not None:
        outcomes[good], kept[good], reasons[good] = played.predictions, played.kept, None
        sizes[good], thresholds[good] = played.sizes, played.thresholds
        _set_reasons(played.audit, good, reasons, sizes, thresholds)
    columns = {"prediction": run.as_column(outcomes), "kept": kept, "size": sizes, "threshold": thresholds}
    return columns | {"reason": pa.array(reasons, pa.string())}


def _set_reasons(
    audit: pa.Table, good: np.ndarray, reasons: np.ndarray, sizes: np.ndarray, thresholds: np.ndarray
) -> None:
    """Write the reason of each skipped row, and what was compared; of several labels, that of the first."""
    backwards = slice(None, None, -1)
    rows = good[audit.column("row").to_numpy()][backwards]
    for name, found in (("reason", reasons), ("size", sizes), ("threshold", thresholds)):
        found[rows] = audit.column(name).to_numpy(zero_copy_only=False)[backwards]


def as_table(columns: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """Columns by name as a table of this schema; null where a number is NaN."""
    arrays = []
    for field in schema:
        column = columns[field.name]
        if isinstance(column, np.ndarray):
            column = pa.array(column, mask=np.isnan(column) if column.dtype.kind == "f" else None)
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.table(arrays, schema=schema)
