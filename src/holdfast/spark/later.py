"""Labels that come later: a row waits, with the features it was predicted from, until its label comes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, functions
from pyspark.sql.types import Row

from holdfast.io import cells
from holdfast.runs.config import Settings
from holdfast.runs.files import RunError
from holdfast.spark.checks import quoted_name
from holdfast.spark.orders import LATE, order_numbers
from holdfast.spark.packing import from_bytes, to_bytes
from holdfast.spark.pages import Places, from_text, to_text
from holdfast.spark.playing import keys_in
from holdfast.spark.processor import WHERE, Processor, answer_columns, as_table

IS_LABEL, SEEN, ASKED = "_holdfast_is_label", "_holdfast_seen", "_holdfast_asked"
WAITING, UNKNOWN = "waiting", "unknown id"
_FORECAST = pa.list_(pa.float64())


class LaterProcessor(Processor):
    """A row is predicted and waits: for at most `wait` milliseconds, and at most `most` rows in a page."""

    def __init__(self, job: Any, places: Places, ttl: int | None, id: str, wait: int, most: int) -> None:
        super().__init__(job, places, ttl)
        self.id, self.wait, self.most = id, wait, most

    def init(self, handle: Any) -> None:
        super().init(handle)
        self.waiting = handle.getMapState(WAITING, "page int", "content string", self.wait)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802
        now = timerValues.getCurrentProcessingTimeInMs()
        for part, _, some in self.loaded_parts(rows, now):
            is_label = part.column(IS_LABEL).combine_chunks()
            rows, labels = part.filter(pc.invert(is_label)), part.filter(is_label)
            waiting = self._waiting(some, rows.schema, now)
            outcome, waiting = self._predict(rows, waiting, now)
            yield Row(rows=to_bytes(outcome))
            outcome, waiting = self._learn(labels, waiting, now)
            yield Row(rows=to_bytes(outcome))
            self._store(waiting, some)

    def _waiting(self, pages: list[int], schema: pa.Schema, now: int) -> pa.Table:
        """The rows of these pages that wait, without those that have waited too long."""
        schema = schema.append(pa.field(SEEN, pa.int64())).append(pa.field(ASKED, _FORECAST))
        found = [self.waiting.getValue((int(page),)) for page in pages]
        texts = (content[0] for content in found if content is not None)
        parts = [from_bytes(from_text(text, WHERE)).cast(schema) for text in texts]
        table = pa.concat_tables([schema.empty_table(), *parts])
        return table.filter(pc.greater(table.column(SEEN), now - self.wait))

    def _predict(self, rows: pa.Table, waiting: pa.Table, now: int) -> tuple[pa.Table, pa.Table]:
        """Predict rows by the models as they are before this batch. All that are new begin to wait."""
        names, known = self._names(rows), set(self._names(waiting).to_pylist())
        _, first = np.unique(names.to_numpy(zero_copy_only=False), return_index=True)
        new = np.zeros(rows.num_rows, bool)
        new[first] = True
        new &= np.array([name not in known for name in names.to_pylist()], bool)
        keys = keys_in(rows, self.run.config)
        outcomes = self.run.predict(rows, keys) if rows.num_rows else np.zeros((0, self.run.margins))
        outcomes[~new] = np.nan
        reasons = pa.array([None if each else LATE for each in new], pa.string())
        empty, kept = np.full(rows.num_rows, np.nan), pa.nulls(rows.num_rows, pa.bool_())
        columns = {"prediction": self.run.as_column(outcomes), "reason": reasons, "kept": kept}
        seen = pa.array(np.full(rows.num_rows, now), pa.int64())
        asked = pa.array(list(outcomes), _FORECAST)
        new_rows = rows.append_column(SEEN, seen).append_column(ASKED, asked).filter(pa.array(new))
        waiting = pa.concat_tables([waiting, new_rows])
        return self._table(rows, keys, columns | {"size": empty, "threshold": empty}), waiting

    def _learn(self, labels: pa.Table, waiting: pa.Table, now: int) -> tuple[pa.Table, pa.Table]:
        """Learn from the waiting rows whose label has come."""
        names = self._names(labels)
        place = pc.index_in(names, self._names(waiting)).to_numpy(zero_copy_only=False)
        _, first = np.unique(names.to_numpy(zero_copy_only=False), return_index=True)
        good = np.sort(first[~np.isnan(place[first].astype(float))])
        plan, run, keys, played = self.run.config, self.run, keys_in(labels, self.run.config), None
        if len(good):
            match = place[good].astype(np.int64)
            rows, known = waiting.take(pa.array(match)), labels.take(pa.array(good))
            for name in (plan.target.name, plan.order):
                rows = rows.set_column(rows.schema.get_field_index(name), name, known.column(name))
            own = keys.take(pa.array(good))
            asked = np.array(rows.column(ASKED).to_pylist()).reshape(len(good), run.margins)
            played = run.learn_rows(rows, own, asked)
            numbers = order_numbers(rows, plan.order)
            run.orders.update(numbers, own, np.arange(len(good)), np.zeros(len(good), bool), now)
            self.write()
            waiting = waiting.take(pa.array(np.setdiff1d(np.arange(waiting.num_rows), match)))
        reasons = np.full(labels.num_rows, UNKNOWN, object)
        return self._table(labels, keys, answer_columns(run, good, played, reasons)), waiting

    def _store(self, waiting: pa.Table, pages: list[int]) -> None:
        """Write the rows that wait, the latest of each page."""
        numbers = (
            self.places.pages_of(keys_in(waiting, self.run.config)) if waiting.num_rows else np.zeros(0, int)
        )
        for page in pages:
            own = np.flatnonzero(numbers == page)[-self.most :]
            if len(own):
                self.waiting.updateValue((int(page),), (to_text(to_bytes(waiting.take(pa.array(own)))),))
            elif self.waiting.containsKey((int(page),)):
                self.waiting.removeKey((int(page),))

    def _names(self, table: pa.Table) -> Any:
        """Key and id of each row as one text."""
        ids = pc.fill_null(cells.labels(table.column(self.id)), "")
        return pc.binary_join_element_wise(keys_in(table, self.run.config), ids, "\0")

    def _table(self, rows: pa.Table, keys: Any, columns: dict[str, Any]) -> pa.Table:
        columns |= {"key": keys, "id": rows.column(self.id), "at": rows.column(self.run.config.order)}
        return as_table(columns, self.job.schema)


def with_labels(stream: DataFrame, labels: DataFrame, settings: Settings, id: str, order: str) -> DataFrame:
    """Rows and labels as one stream."""
    own = [str(settings.key), id, order, settings.target]
    for name in own:
        if name not in labels.columns or name not in (*stream.columns, settings.target):
            where = "stream of labels" if name not in labels.columns else "stream"
            raise RunError(f"the {where} has no column {name!r}: rows and labels have key, id and order")
    empty = functions.lit(None).cast(labels.schema[settings.target].dataType)
    rows = stream.withColumn(settings.target, empty).withColumn(IS_LABEL, functions.lit(False))
    labels = labels.select(*map(quoted_name, own)).withColumn(IS_LABEL, functions.lit(True))
    return rows.unionByName(labels, allowMissingColumns=True)
