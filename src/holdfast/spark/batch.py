"""Learn from a batch DataFrame: a model for each key, and an audit of the skipped rows."""

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.runs.audit import MEASURES
from holdfast.spark.checks import check_packages
from holdfast.spark.columns import quoted_name
from holdfast.spark.models import describe, from_run, model_schema
from holdfast.spark.orders import LATE, NO_ORDER
from holdfast.spark.packing import arrow_schema, play_in_groups
from holdfast.spark.pages import Page, Places
from holdfast.spark.plan import Plan, check_columns, first_rows, plan_from_rows, settings_of
from holdfast.spark.playing import KeyedRun, keys_in
from holdfast.terminal import print_note

_GROUPS = 8  # for each partition
_SIZES = [f"{name}_{what}" for name in MEASURES for what in ("size", "threshold")]


@dataclasses.dataclass(frozen=True)
class Learned:
    """The result of `learn`: two DataFrames, made by one computation, which is kept in Spark's cache."""

    models: Any
    audit: Any
    played: Any = dataclasses.field(repr=False)

    def unpersist(self):
        """Free the cache."""
        self.played.unpersist()


def learn(
    df,
    *,
    key,
    target,
    order,
    features=None,
    drop=None,
    labels=None,
    sample=None,
    partitions=None,
    groups=None,
    compiled=None,
    verbose=True,
    **settings,
):
    """Learn a model for each key of a batch DataFrame.

    The rows of a key are learned from in the order of the column `order`, whatever the partitions are: the
    models are those of `holdfast learn --key`, bit for bit. If two rows of a key have the same order, only
    one is learned from, and the other is "late" in the audit.

    Parameters
    ----------
    df : DataFrame
    key, target, order : names of columns
        A key is text, a whole number, a truth value or a date. An order is a whole number, a date or a
        timestamp.
    features, drop : names of columns, optional
        Predict from these columns, or from all but these. Default: from all but key, target and order.
    labels : texts, optional
        All labels, if the first rows do not have them.
    sample : DataFrame, optional
        Rows to choose the encoding of the columns from. Default: the first 10,000 rows.
    partitions : int, optional
        How many tasks learn. Default: `spark.sql.shuffle.partitions`.
    groups : int, optional
        The keys are divided into so many groups. A task learns group after group, and the rows of a group
        must fit into its memory. Default: 8 for each partition.
    compiled : bool, optional
        Whether to compile. The result is the same. Default: as `holdfast learn`.
    verbose : bool
        Print task and encoding, as `holdfast learn` does.
    **settings
        task, loss, outliers, learner, scale, memory, patience, missing: as in `holdfast learn --help`.

    Returns
    -------
    Learned
        `models`: key, label, counts, weights in the units of the data, and state. `audit`: the skipped rows.
        Both come from one computation, which is kept in Spark's cache; `unpersist()` frees it.
    """
    from pyspark.sql import functions

    check_packages()
    if df.isStreaming:
        raise ValueError("this DataFrame is a stream: use holdfast.spark.Fleet")
    chosen = settings_of(key, target, order, features, drop, labels, settings)
    check_columns(df.schema, chosen, order)
    head = first_rows(df if sample is None else sample, key, order)
    plan = plan_from_rows(head, df.schema, chosen, order, print_note if verbose else lambda text: None)
    rows = df.select(*map(quoted_name, plan.columns()))
    parts = partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    schema, audit = _schema(df.schema, plan)
    play, places = PlayRows(plan, compiled, schema), Places(groups or _GROUPS * parts, 1)
    played = play_in_groups(rows, play, plan, places, parts, schema).persist()
    models = played.where(functions.col("state").isNotNull()).select(*model_schema().names)
    skipped = played.where(functions.col("reason").isNotNull()).select(*audit)
    return Learned(describe(models, plan), skipped, played)


def _schema(rows, plan):
    """The columns of models and audit together, and the names of those of the audit."""
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    fields = {field.name: StructField(field.name, field.dataType) for field in model_schema()}
    audit = {"at": rows[plan.order].dataType} | dict.fromkeys(_SIZES, DoubleType())
    audit |= dict.fromkeys(("reason", "detail"), StringType())
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
