"""Learn from a batch DataFrame: a model for each key, and an audit of the skipped rows."""

import dataclasses
from typing import Any

from holdfast.spark.batch_rows import PlayRows, batch_schema
from holdfast.spark.checks import check_packages
from holdfast.spark.columns import check_count, partition_count, quoted_name
from holdfast.spark.guess_plan import check_columns, first_rows, plan_from_rows
from holdfast.spark.models import describe, model_schema
from holdfast.spark.packing import play_in_groups
from holdfast.spark.pages import Places
from holdfast.spark.plan import settings_of
from holdfast.terminal import print_note

_GROUPS = 8  # for each partition


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
    models are those of `holdfast learn --key --no-prior`, bit for bit. If two rows of a key have the same
    order, only one is learned from, and the other is "late" in the audit.

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
        task, loss, outliers, learner, scale, memory, patience, delay, missing: as in `holdfast learn --help`.

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
    parts = partition_count(partitions, df.sparkSession)
    places = Places(_GROUPS * parts if groups is None else check_count(groups, "groups"), 1)
    head = first_rows(df if sample is None else sample, key, order)
    plan = plan_from_rows(head, df.schema, chosen, order, print_note if verbose else lambda text: None)
    rows = df.select(*map(quoted_name, plan.columns()))
    schema, audit = batch_schema(df.schema, plan)
    played = play_in_groups(rows, PlayRows(plan, compiled, schema), plan, places, parts, schema).persist()
    models = played.where(functions.col("state").isNotNull()).select(*model_schema().names)
    skipped = played.where(functions.col("reason").isNotNull()).select(*audit)
    return Learned(describe(models, plan), skipped, played)
