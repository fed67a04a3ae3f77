"""Models as rows of a DataFrame, one for each key and label, with its packed state; and how they predict."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, functions
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DoubleType, StringType, StructType

from holdfast.fleet.grouped_rounds import COUNTS
from holdfast.fleet.key_table import KEY_COLUMNS
from holdfast.fleet.states import KeyStates
from holdfast.intervals.widths import check_coverage
from holdfast.runs.config import Config
from holdfast.runs.files import RunError
from holdfast.spark.checks import check_packages, key_text
from holdfast.spark.key_widths import with_widths
from holdfast.spark.orders import COUNTERS
from holdfast.spark.pages import another_layout
from holdfast.spark.plan import read_plan
from holdfast.spark.playing import KeyedRun, keys_in

SUMS = KEY_COLUMNS[2:]  # the sum of the errors of a key, and how many there are
DESCRIPTION = "holdfast"  # in the metadata of the column `state`
_BUCKET = "_holdfast_bucket"
_STEP = 10_000  # models in one record batch
_SCHEMA = pa.schema(
    {"key": pa.string(), "label": pa.string()}
    | dict.fromkeys(COUNTS, pa.int64())
    | dict.fromkeys(COUNTERS, pa.int64())
    | dict.fromkeys(SUMS, pa.float64())
    | {"weights": pa.list_(pa.float64()), "layout": pa.string(), "widths": pa.binary(), "state": pa.binary()}
)


def model_schema() -> StructType:
    """The columns of a DataFrame of models."""
    return from_arrow_schema(_SCHEMA)


def describe(models: DataFrame, plan: Config) -> DataFrame:
    """The DataFrame, with the plan in the metadata of its last column."""
    return models.withMetadata("state", {DESCRIPTION: plan.to_text()})


def plan_of(models: DataFrame) -> Config:
    """The plan of a DataFrame of models; raises if its columns are not those of models."""
    missing = [name for name in _SCHEMA.names if name not in models.columns]
    if missing:
        raise RunError(f"these are no models of holdfast.spark: there is no column {missing[0]!r}")
    text = models.schema["state"].metadata.get(DESCRIPTION)
    if text is None:
        raise RunError(
            "these models have lost the description of their columns, the metadata of the column 'state': "
            "store them as Parquet, and do not compute that column again"
        )
    return read_plan(text)


def from_run(run: KeyedRun) -> Iterator[pa.RecordBatch]:
    """The models of a run in this process, in record batches."""
    stored, labels, p = run.stored_games(), list(run.games.labels), run.games.parameters()
    with np.errstate(all="ignore"):
        weights = p.coefficients()
    of_key = np.repeat(np.arange(len(stored.keys)), len(labels))
    rest = [None] * (len(labels) - 1)  # the widths of a key are in the row of its first label
    widths = pa.array(
        [each for own in run.widths.stored(len(stored.keys)) for each in (own, *rest)], pa.binary()
    )
    names, texts = pa.array(stored.keys, pa.string()), pa.array(labels * len(stored.keys), pa.string())
    for first in range(0, len(of_key), _STEP):
        some = slice(first, first + _STEP)
        keys = of_key[some]
        arrays = [
            names.take(pa.array(keys)),
            texts.slice(first, len(keys)),
            *map(pa.array, stored.counts[some].T),
            *map(pa.array, stored.columns["counters"][keys].T),
            *map(pa.array, stored.columns["sums"][keys][:, 2:].T),
            pa.array(list(weights[some]), pa.list_(pa.float64())),
            pa.array([run.state_layout] * len(keys)),
            widths.slice(first, len(keys)),
            pa.array(stored.states[some], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def states_of(run: KeyedRun, table: pa.Table, where: str = "these models") -> KeyStates:
    """The states in a table of models for this run, with those of widths.

    The table has one row for each key and label.
    """
    labels = list(run.games.labels)
    place = pc.index_in(table.column("label"), pa.array(labels, pa.string()))
    if place.null_count:
        raise RunError(f"{where}: a label is none of {', '.join(labels)}; learn again")
    table = table.append_column("_label", pc.cast(place, pa.int64()))
    table = table.sort_by([("key", "ascending"), ("_label", "ascending")])
    keys = table.column("key").to_pylist()[:: len(labels)]
    every = np.tile(np.arange(len(labels)), len(keys))
    if len(set(keys)) < len(keys) or not np.array_equal(table.column("_label").to_numpy(), every):
        raise RunError(f"{where}: a key is there twice, or lacks a label; give the models of one fleet")
    if any(layout != run.state_layout for layout in pc.unique(table.column("layout")).to_pylist()):
        raise another_layout(where)
    states = table.column("state").to_pylist()
    counts, first = _numbers(table, COUNTS, np.int64), slice(None, None, len(labels))
    counters = _numbers(table, COUNTERS, np.int64)[first]
    # Each game has all rounds of the key. If there are several, this is at least the number that all kept.
    kept = counts[:, 1].reshape(-1, len(labels)).min(axis=1)
    sums = np.column_stack([counts[first, 0], kept, _numbers(table, SUMS, np.float64)[first]])
    widths = table.column("widths").to_pylist()[first]
    if None in widths:
        raise RunError(f"{where}: the first label of a key has no widths; give the models of one fleet")
    games = KeyStates(keys, states, counts, {"counters": counters, "sums": sums})
    return with_widths(games, widths, len(labels))


def _numbers(table: pa.Table, names: tuple[str, ...], kind: Any) -> np.ndarray:
    return np.column_stack([table.column(name).to_numpy().astype(kind) for name in names])


# -- predict


def predict(
    models: DataFrame, df: DataFrame, buckets: int | None = None, coverage: float | None = None
) -> DataFrame:
    """The rows of a batch DataFrame with one more column, `prediction`: a number or a label.

    With `coverage` there are also `low` and `high`, or `labels`. The prediction is null if the key has no
    model. A cell that is missing or cannot be read, or so far that a row with it would not be
    learned from, does not count; the others do. The rows are in any order.

    Parameters:
        models (DataFrame): From `learn` or `Fleet.models`, or read back from Parquet.
        df (DataFrame): With the columns that the models were learned from. The target may be missing.
        buckets: Models and rows are divided by key into so many parts, each of which must fit into the memory
            of a task. Default: four times `spark.sql.shuffle.partitions`.
        coverage: From 0.5 to 0.99, such as 0.9: also the interval around each number, in the columns `low`
            and `high`, or `labels`, all labels that may be right. How wide intervals are has followed the
            forecasts for the rows of the key, as `RobustRegressor.predict_interval` says. They are null if
            the key has had fewer than 32 forecasts, or if a cell is missing or too far.
    """
    check_packages()
    if coverage is not None:
        check_coverage(coverage)
    plan = plan_of(models)
    key = str(plan.key)
    for name in [key, *(column.name for column in plan.layout.columns)]:
        if name not in df.columns:
            raise RunError(f"the DataFrame has no column {name!r}, which the models have learned from")
    new = answer_schema(plan, coverage)
    for name in new.names:
        if name in df.columns:
            raise RunError(f"the DataFrame has a column {name!r} already: rename it")
    count = buckets or 4 * int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    schema = StructType([*df.schema.fields, *new.fields])
    left = df.withColumn(_BUCKET, _bucket(key_text(key), count)).groupBy(_BUCKET)
    right = models.withColumn(_BUCKET, _bucket(functions.col("key"), count)).groupBy(_BUCKET)
    text = plan.to_text()

    # A plain function, because Spark counts its arguments.
    def predicted(rows: pa.Table, models: pa.Table) -> pa.Table:
        rows, models = rows.drop_columns([_BUCKET]), models.drop_columns([_BUCKET])
        return predict_table(read_plan(text), rows, models, coverage)

    return left.cogroup(right).applyInArrow(predicted, schema)


def _bucket(text: Column, count: int) -> Column:
    return functions.pmod(functions.xxhash64(text), functions.lit(count))


def answer_schema(plan: Config, coverage: float | None) -> StructType:
    """The columns of a prediction, and of its interval or set of labels."""
    numbers = plan.target.regression
    schema = StructType().add("prediction", DoubleType() if numbers else StringType())
    if coverage is None:
        return schema
    if numbers:
        return schema.add("low", DoubleType()).add("high", DoubleType())
    return schema.add("labels", ArrayType(StringType()))


def predict_table(plan: Config, rows: pa.Table, models: pa.Table, coverage: float | None = None) -> pa.Table:
    """The rows with their predictions, by the models in a table, and with a coverage their intervals."""
    run = KeyedRun(plan)
    if models.num_rows:
        run.load(states_of(run, models), "these models")
    keys, more = keys_in(rows, plan), dict[str, Any]()
    if coverage is None:
        outcomes = run.predict(rows, keys) if rows.num_rows else np.zeros((0, run.margins))
    else:
        outcomes, more = run.intervals(rows, keys, coverage)
    rows = rows.append_column("prediction", run.as_column(outcomes))
    for name, column in more.items():
        rows = rows.append_column(name, column)
    return rows
