"""Play the rows of a batch: the skipped rows and the models, as rows of one table."""

import numpy as np
import pyarrow as pa
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from holdfast.runs.audit import MEASURES
from holdfast.spark.models import from_run, model_schema
from holdfast.spark.orders import LATE, NO_ORDER
from holdfast.spark.packing import arrow_schema
from holdfast.spark.pages import Page
from holdfast.spark.plan import Plan
from holdfast.spark.playing import KeyedRun, keys_in

_SIZES = [f"{name}_{what}" for name in MEASURES for what in ("size", "threshold")]


def batch_schema(rows, plan):
    """The columns of models and audit together, and the names of those of the audit."""
    fields = {field.name: StructField(field.name, field.dataType) for field in model_schema()}
    audit = {"at": rows[plan.order].dataType} | dict.fromkeys(_SIZES, DoubleType())
    audit |= {"reason": StringType(), "column": StringType(), "value": DoubleType(), "detail": StringType()}
    audit |= {"learned": StringType()}
    fields |= {name: StructField(name, kind) for name, kind in audit.items()}
    return StructType(list(fields.values())), ["key", "label", *audit]


class PlayRows:
    """Plays all rows of some keys, and yields the skipped rows and the models."""

    def __init__(self, plan, compiled, schema):
        self.plan, self.order, self.compiled = plan.to_json(), plan.order, compiled
        self.schema, self._run = arrow_schema(schema), None

    def __call__(self, table):
        run = self._run = self._run or KeyedRun(Plan.from_json(self.plan), self.compiled)
        run.load(Page.empty(), "the rows")
        keys = keys_in(table, run.plan)
        yield from self._audit(table, keys, *run.play(table, keys))
        for batch in from_run(run) if run.games.keys else ():
            yield self._filled({name: batch.column(name) for name in batch.schema.names}, batch.num_rows)

    def _audit(self, table, keys, good, late, played):
        """The skipped rows: those that were played, and those that were late or have no order."""
        at = table.column(self.order)
        if played is not None and played.audit.num_rows:
            columns = {name: played.audit.column(name) for name in played.audit.column_names}
            columns["at"] = at.take(pa.array(good[played.audit.column("row").to_numpy()]))
            yield self._filled(columns, played.audit.num_rows)
        lost = np.setdiff1d(np.arange(table.num_rows), good)
        if len(lost):
            columns = {"at": at.take(pa.array(lost)), "key": keys.take(pa.array(lost))}
            columns["reason"] = pa.array(np.where(late[lost], LATE, NO_ORDER))
            yield self._filled(columns, len(lost))

    def _filled(self, columns, count):
        """A record batch with these columns, and null in all others."""
        arrays = []
        for field in self.schema:
            array = columns.get(field.name)
            array = pa.nulls(count, field.type) if array is None else array
            array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
            arrays.append(array.cast(field.type) if array.type != field.type else array)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
