"""The stateful operator of a stream: it plays the rows of a group of keys and keeps their pages."""

import numpy as np
import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import Row

from holdfast.spark.packing import joined_rows, to_bytes
from holdfast.spark.pages import joined, read_page
from holdfast.spark.playing import keys_in
from holdfast.spark.worker_memory import leave_out_loaded_modules

STATE, WHERE = "pages", "the checkpoint"
_MOST_BYTES = 64 << 20  # of states that are played together
_RUNS: dict = {}  # runs to play in: a Python worker of Spark works for many tasks


class Processor(StatefulProcessor):
    """Input: rows in packed form. Output: what `answers` of the job makes of them, packed too."""

    def __init__(self, job, places, ttl):
        self.job, self.places, self.ttl = job, places, ttl

    def init(self, handle):
        self.run = run_for(self.job)
        self.pages = handle.getMapState(STATE, "page int", "content string", self.ttl)

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802
        now = timerValues.getCurrentProcessingTimeInMs()
        for part, keys, _ in self.loaded_parts(rows, now):
            good, late, played = self.run.play(part, keys, now)
            if played is not None or late.any():
                self.write()
            yield Row(rows=to_bytes(self.job.answers(self.run, part, keys, good, late, played)))

    def handleInitialState(self, key, initialState, timerValues):  # noqa: N802
        """Store a page of models that were learned before."""
        self.pages.updateValue((initialState.page,), (initialState.content,))

    def loaded_parts(self, rows, now):
        """The rows, in order, their keys and pages: as many as have their pages loaded at a time."""
        plan = self.run.plan
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

    def _load_in_turn(self, numbers, now):
        """Load these pages without old keys, as many at a time as memory allows; yield which."""
        found, some, size = [], [], 0
        for number in numbers:
            content = self.pages.getValue((int(number),))
            some.append(number)
            if content is not None:
                page = read_page(content[0], self.job.plan, self.run.state_layout, WHERE, self.places)
                size += page.words.nbytes
                found.append(page.without_old(now, self.ttl, self.run.labels))
            if size > _MOST_BYTES or number == numbers[-1]:
                self.run.load(joined(found), WHERE)
                yield some
                found, some, size = [], [], 0

    def write(self):
        """Store the pages of all keys that are loaded."""
        for number, page in self.run.page().split(self.places, self.run.labels):
            content = page.to_text(self.job.plan, self.run.state_layout, self.places)
            self.pages.updateValue((number,), (content,))


def run_for(job):
    """A run for this job, used again by later tasks of this process."""
    place = job.plan, job.compiled
    if place not in _RUNS:
        _RUNS[place] = job.new_run()
    return _RUNS[place]
