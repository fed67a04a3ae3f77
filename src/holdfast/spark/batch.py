"""Learn from a batch DataFrame: a model for each key, and an audit of the skipped rows."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast.runs.audit import MEASURES
from holdfast.spark.models import describe, from_run, model_schema
from holdfast.spark.plan import first_rows, plan_from_rows, settings_of
from holdfast.spark.playing import LATE, NO_ORDER, ORDER, KeyedRun, tables
from holdfast.terminal import print_note

_ROWS = 1 << 16
_SIZES = [f"{name}_{what}" for name in MEASURES for what in ("size", "threshold")]


class Learned(NamedTuple):
    """The result of `learn`: two DataFrames."""

    models: Any
    audit: Any


def learn(
    df, *, key, target, order, features=None, drop=None, labels=None, sample=None, partitions=None, compiled=None,
    verbose=True, **settings,
):  # fmt: skip
    """Learn a model for each key of a batch DataFrame.

    The rows of a key are learned from in the order of the column `order`, whatever the partitions are: the models
    are those of `holdfast learn --key`, bit for bit. If two rows of a key have the same order, only one is learned
    from, and the other is "late" in the audit.

    Parameters
    ----------
    df : DataFrame
    key, target, order : names of columns
        A key is text, a whole number, a truth value or a date. An order is a whole number, a date or a timestamp.
    features, drop : names of columns, optional
        Predict from these columns, or from all but these. Default: from all but key, target and order.
    labels : texts, optional
        All labels, if the first rows do not have them.
    sample : DataFrame, optional
        Rows to choose the encoding of the columns from. Default: the first 10,000 rows.
    partitions : int, optional
        How many tasks learn. Default: `spark.sql.shuffle.partitions`.
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
        Both come from one computation, which is kept in Spark's cache: `models.unpersist()` frees it.
    """
    from pyspark.sql import functions as F

    from holdfast.spark.checks import check_packages

    check_packages()
    chosen = settings_of(key, target, order, features, drop, labels, settings)
    from holdfast.spark.plan import check_columns

    check_columns(df.schema, chosen, order)
    head = first_rows(df if sample is None else sample, key, order)
    plan = plan_from_rows(head, df.schema, chosen, order, print_note if verbose else lambda text: None)
    rows = with_order(df.select(*plan.columns()), order)
    parts = partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    rows = rows.repartition(parts, key_text(key)).sortWithinPartitions(ORDER, *tie_breakers(rows.schema))
    schema, audit = _schema(df.schema, plan)
    played = rows.mapInArrow(_Player(plan, compiled, schema), schema).persist()
    models = played.where(F.col("state").isNotNull()).select(*model_schema().names)
    skipped = played.where(F.col("reason").isNotNull()).select(*audit)
    return Learned(describe(models, plan), skipped)


def key_text(key):
    """The key as text, as in the models; a missing key is the empty text."""
    from pyspark.sql import functions as F

    return F.coalesce(F.col(f"`{key}`").cast("string"), F.lit(""))


def with_order(df, order):
    """The DataFrame with the order as a whole number: microseconds of a time, days of a date."""
    from pyspark.sql import functions as F

    column, kind = F.col(f"`{order}`"), df.schema[order].dataType.typeName()
    if kind == "timestamp":
        column = F.unix_micros(column)
    elif kind == "timestamp_ntz":
        column = F.timestamp_diff("MICROSECOND", F.lit("1970-01-01").cast("timestamp_ntz"), column)
    elif kind == "date":
        column = F.unix_date(column)
    return df.withColumn(ORDER, column.cast("long"))


def tie_breakers(schema):
    """The other columns that can be sorted by, so that the first of two rows with the same order is always the same."""
    from pyspark.sql.types import MapType

    return [f"`{field.name}`" for field in schema if field.name != ORDER and not isinstance(field.dataType, MapType)]


def _schema(rows, plan):
    """The columns of models and audit together, and the names of those of the audit."""
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    fields = {field.name: StructField(field.name, field.dataType) for field in model_schema()}
    audit = {"at": rows[plan.order].dataType} | dict.fromkeys(_SIZES, DoubleType())
    audit |= dict.fromkeys(("reason", "detail"), StringType())
    fields |= {name: StructField(name, kind) for name, kind in audit.items()}
    return StructType(list(fields.values())), ["key", "label", *audit]


class _Player:
    """Plays the rows of a partition: yields the skipped rows, and at the end the models."""

    def __init__(self, plan, compiled, schema):
        from pyspark.sql.pandas.types import to_arrow_schema

        self.plan, self.compiled = plan.to_json(), compiled
        self.schema = to_arrow_schema(schema, timezone="UTC")

    def __call__(self, batches):
        from holdfast.spark.plan import Plan

        plan = Plan.from_json(self.plan)
        run = KeyedRun(plan, self.compiled)
        for table in tables(batches, _ROWS):
            good, late, played = run.play(table)
            yield from self._audit(plan, table, good, late, played)
        for batch in from_run(run) if run.games.keys else ():
            yield self._filled({name: batch.column(name) for name in batch.schema.names}, batch.num_rows)

    def _audit(self, plan, table, good, late, played):
        """The skipped rows: those that were played, and those that were late or have no order."""
        if played is not None and played.audit.num_rows:
            columns = {name: played.audit.column(name) for name in (*_SIZES, "reason", "detail", "key")}
            if "label" in played.audit.column_names:
                columns["label"] = played.audit.column("label")
            columns["at"] = table.column(plan.order).take(pa.array(good[played.audit.column("row").to_numpy()]))
            yield self._filled(columns, played.audit.num_rows)
        lost = np.setdiff1d(np.arange(table.num_rows), good)
        if len(lost):
            from holdfast.io.sources import keys_of

            columns = {name: table.column(column).take(pa.array(lost)) for name, column in (("at", plan.order), ("key", plan.key))}
            columns["key"] = keys_of(columns["key"], plan.key, "the rows")
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
