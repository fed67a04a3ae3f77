"""Learn from a batch DataFrame: a model for each key, and an audit of the skipped rows."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, functions
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from holdfast.fleet.states import KeyStates
from holdfast.runs.config import Config
from holdfast.spark.checks import check_count, check_packages, partition_count, quoted_name
from holdfast.spark.models import describe, from_run, model_schema
from holdfast.spark.orders import LATE, NO_ORDER
from holdfast.spark.packing import arrow_schema, play_in_groups
from holdfast.spark.pages import Places
from holdfast.spark.plan import check_columns, first_rows, plan_from_rows, read_plan, settings_of
from holdfast.spark.playing import KeyedRun, Played, keys_in
from holdfast.terminal import print_note

_GROUPS = 8  # for each partition


@dataclasses.dataclass(frozen=True)
class Learned:
    """The result of `learn`: two DataFrames, made by one computation, which is kept in Spark's cache."""

    models: DataFrame
    audit: DataFrame
    played: DataFrame = dataclasses.field(repr=False)

    def unpersist(self) -> None:
        """Free the cache."""
        self.played.unpersist()


def learn(
    df: DataFrame,
    *,
    key: str,
    target: str,
    order: str,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    sample: DataFrame | None = None,
    partitions: int | None = None,
    groups: int | None = None,
    compiled: bool | None = None,
    verbose: bool = True,
    **settings: Any,
) -> Learned:
    """Learn a model for each key of a batch DataFrame.

    The rows of a key are learned from in the order of the column `order`, whatever the partitions are: the
    models are those of `holdfast learn --key --no-prior`, bit for bit. If two rows of a key have the same
    order, only one is learned from, and the other is "late" in the audit.

    Parameters:
        df (DataFrame): The rows.
        key, target, order (names of columns): A key is text, a whole number, a truth value or a date. An
            order is a whole number, a date or a timestamp.
        features, drop (names of columns, optional): Predict from these columns, or from all but these.
            Default: from all but key, target and order.
        labels (texts, optional): All labels, if the first rows do not have them.
        sample (DataFrame, optional): Rows to choose the encoding of the columns from. Default: the first
            10,000 rows.
        partitions: How many tasks learn. Default: `spark.sql.shuffle.partitions`.
        groups: The keys are divided into so many groups. A task learns group after group, and the rows of a
            group must fit into its memory. Default: 8 for each partition.
        compiled: Whether to compile. The result is the same. Default: as `holdfast learn`.
        verbose: Print task and encoding, as `holdfast learn` does.
        **settings: task, loss, outliers, learner, scale, memory, patience, delay, missing: as in `holdfast
            learn --help`.

    Returns:
        Learned: `models`: key, label, counts, weights in the units of the data, and state. `audit`: the
            skipped rows. Both come from one computation, which is kept in Spark's cache; `unpersist()` frees
            it.
    """
    check_packages()
    if df.isStreaming:
        raise ValueError("this DataFrame is a stream: use holdfast.spark.Fleet")
    chosen = settings_of(key, target, order, features, drop, labels, settings)
    check_columns(df.schema, chosen, order)
    parts = partition_count(partitions, df.sparkSession)
    places = Places(_GROUPS * parts if groups is None else check_count(groups, "groups"), 1)
    head = first_rows(df if sample is None else sample, key, order)
    plan = plan_from_rows(head, df.schema, chosen, order, print_note if verbose else lambda text: None)
    rows = df.select(*map(quoted_name, plan.columns()))
    schema, audit = batch_schema(df.schema, plan)
    played = play_in_groups(
        rows, PlayRows(plan, compiled, schema), key, order, places, parts, schema
    ).persist()
    models = played.where(functions.col("state").isNotNull()).select(*model_schema().names)
    skipped = played.where(functions.col("reason").isNotNull()).select(*audit)
    return Learned(describe(models, plan), skipped, played)


# -- in the tasks: skipped rows and models, as rows of one table


def batch_schema(rows: StructType, plan: Config) -> tuple[StructType, list[str]]:
    """The columns of models and audit together, and the names of those of the audit."""
    fields = {field.name: StructField(field.name, field.dataType) for field in model_schema()}
    audit = {"at": rows[plan.order].dataType, "reason": StringType(), "check": StringType()}
    audit |= {"size": DoubleType(), "threshold": DoubleType(), "column": StringType()}
    audit |= {"value": DoubleType(), "detail": StringType(), "learned": StringType()}
    fields |= {name: StructField(name, kind) for name, kind in audit.items()}
    return StructType(list(fields.values())), ["key", "label", *audit]


class PlayRows:
    """Plays all rows of some keys, and yields the skipped rows and the models."""

    def __init__(self, plan: Config, compiled: bool | None, schema: StructType) -> None:
        self.plan, self.order, self.compiled = plan.to_text(), plan.order, compiled
        self.schema = arrow_schema(schema)
        self._run: KeyedRun | None = None

    def __call__(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        run = self._run = self._run or KeyedRun(read_plan(self.plan), self.compiled)
        run.load(KeyStates.empty(run.columns), "the rows")
        keys = keys_in(table, run.config)
        yield from self._audit(table, keys, *run.play(table, keys))
        for batch in from_run(run) if run.games.keys else ():
            yield self._filled({name: batch.column(name) for name in batch.schema.names}, batch.num_rows)

    def _audit(
        self, table: pa.Table, keys: Any, good: np.ndarray, late: np.ndarray, played: Played | None
    ) -> Iterator[pa.RecordBatch]:
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

    def _filled(self, columns: dict[str, Any], count: int) -> pa.RecordBatch:
        """A record batch with these columns, and null in all others."""
        arrays = []
        for field in self.schema:
            array = columns.get(field.name)
            array = pa.nulls(count, field.type) if array is None else array
            array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
            arrays.append(array.cast(field.type) if array.type != field.type else array)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
