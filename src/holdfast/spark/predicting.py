"""Predict the rows of a DataFrame with the models of a fleet."""

import numpy as np

from holdfast.runs.files import RunError
from holdfast.spark.checks import check_packages
from holdfast.spark.columns import key_text
from holdfast.spark.models import page_of, plan_of
from holdfast.spark.plan import Plan
from holdfast.spark.playing import KeyedRun, keys_in

_BUCKET = "_holdfast_bucket"


def predict(models, df, buckets=None):
    """The rows of a batch DataFrame with one more column, `prediction`: a number or a label.

    It is null if the key has no model, or a cell cannot be read. If a cell is missing, the prediction is that
    of an average row. The rows are in any order.

    Parameters
    ----------
    models : DataFrame
        From `learn` or `Fleet.models`, or read back from Parquet.
    df : DataFrame
        With the columns that the models were learned from. The target may be missing.
    buckets : int, optional
        Models and rows are divided by key into so many parts, each of which must fit into the memory of a
        task. Default: four times `spark.sql.shuffle.partitions`.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import DoubleType, StringType, StructType

    check_packages()
    plan = plan_of(models)
    for name in [plan.key, *(column.name for column in plan.layout.columns)]:
        if name not in df.columns:
            raise RunError(f"the DataFrame has no column {name!r}, which the models have learned from")
    if "prediction" in df.columns:
        raise RunError("the DataFrame has a column 'prediction' already: rename it")
    count = buckets or 4 * int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    bucket = lambda text: functions.pmod(functions.xxhash64(text), functions.lit(count))  # noqa: E731
    kind = DoubleType() if plan.target.regression else StringType()
    schema = StructType(list(df.schema.fields)).add("prediction", kind)
    left = df.withColumn(_BUCKET, bucket(key_text(plan.key))).groupBy(_BUCKET)
    right = models.withColumn(_BUCKET, bucket(functions.col("key"))).groupBy(_BUCKET)
    text = plan.to_json()

    def predicted(rows, models):  # a plain function: Spark counts its arguments
        return predict_table(
            Plan.from_json(text), rows.drop_columns([_BUCKET]), models.drop_columns([_BUCKET])
        )

    return left.cogroup(right).applyInArrow(predicted, schema)


def predict_table(plan, rows, models):
    """The rows with their predictions, by the models in a table."""
    run = KeyedRun(plan)
    if models.num_rows:
        run.load(page_of(run, models), "these models")
    outcomes = run.predict(rows, keys_in(rows, plan)) if rows.num_rows else np.zeros((0, run.margins))
    return rows.append_column("prediction", run.as_column(outcomes))
