"""A filter without a model: which values of a column to trust."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, functions
from pyspark.sql.types import StructType

from holdfast.filters import Quantile
from holdfast.fleet.states import KeyStates
from holdfast.levels.baseline import Baseline
from holdfast.options import filter_of, read_outliers
from holdfast.runs.files import RunError
from holdfast.sketches.histogram import LogHistogram
from holdfast.spark.checks import (
    NUMBERS,
    check_count,
    check_key,
    check_order,
    check_packages,
    check_streaming,
    kind_of,
    milliseconds,
    partition_count,
    quoted_name,
    time_mode,
)
from holdfast.spark.gate_run import GatePlan, GateRun, names_of_numbers
from holdfast.spark.packing import Unpack, arrow_schema, in_even_groups, play_in_groups
from holdfast.spark.pages import Places
from holdfast.spark.playing import keys_in
from holdfast.spark.processor import Processor, as_table

_SHIFT = 52 - LogHistogram.constants()["bits"]  # the bits of a float that its bucket does not depend on


def gate(
    df: DataFrame,
    *,
    value: str,
    by: str | None = None,
    order: str | None = None,
    outliers: str | float = "1%",
    window: int | None = None,
    level: bool = False,
    season: int = 0,
    ttl: float | None = None,
    partitions: int | None = None,
    groups: int = 16,
    pages: int = 4,
    compiled: bool | None = None,
) -> DataFrame:
    """The rows of a DataFrame or a stream with two more columns: kept, and the threshold of the value.

    With `level`, they are kept, level, spread, low and high, as `holdfast.Level` says of the values of a key.

    Parameters:
        df (DataFrame): A batch, or with `by` also a stream.
        value (name of a column): A number that is large if something is wrong, such as a residual. If it is
            missing or not finite, the row is not kept.
        by (name of a column, optional): A filter for each key, which decides on each row from the earlier
            rows of the key, as `holdfast.Gate` does. By default there is one threshold for all rows of a
            batch: the histograms of all partitions are merged, and at most as many rows as there may be
            outliers are not kept, those with the largest values.
        order (name of a column): The order of the rows, needed with `by`. Late and doubled rows are not kept.
        outliers (text or number): A share such as "1%", a count such as 50, or "quantile:0.99", as in
            `holdfast learn`.
        window: With a share and `by`: the filter remembers so many rows to twice as many.
        level: Follow the level of the values, which may be any numbers, such as a temperature. `by` and
            `order` are needed, and `outliers` and `window` do not count. `low` and `high` are the 90 %
            interval that was given for the value, missing for the first 16.
        season: With `level`: values repeat after so many rows of a key, such as 24 for hours; 0 for none.
        ttl: Of a stream: a key that had no row for so many seconds is forgotten.
        partitions: Of a batch: how many tasks work. Default: `spark.sql.shuffle.partitions`.
        groups, pages, compiled: As in `Fleet`.
    """
    check_packages()
    rule = Baseline(season=season) if level else filter_for(outliers, window)
    new = ("kept", *names_of_numbers(rule))
    for name in new:
        if name in df.columns:
            raise RunError(f"the DataFrame has a column {name!r} already: rename it")
    if value not in df.columns or kind_of(df.schema[value]) not in NUMBERS:
        raise RunError(
            f"value must be a column of numbers: got {value!r}; the columns are {', '.join(df.columns[:20])}"
        )
    if level and by is None:
        raise RunError("a level is that of the values of a key: name its column with by=")
    if season and not level:
        raise RunError(f"season is about the level: add level=True, or leave out season={season!r}")
    if by is None:
        return gate_all(df, value, outliers, window)
    if order is None:
        raise RunError("a filter for each key needs the order of its rows: name a column with order=")
    check_key(df.schema, by)
    check_order(df.schema, order)
    schema = StructType(list(df.schema.fields)).add("kept", "boolean")
    for name in new[1:]:
        schema = schema.add(name, "double")
    plan = GatePlan(value, by, order)
    places = Places(check_count(groups, "groups"), check_count(pages, "pages"))
    job = GateRows(plan, rule, compiled, arrow_schema(schema))
    if not df.isStreaming:
        parts = partition_count(partitions, df.sparkSession)
        return play_in_groups(df, job.play_all, by, order, places, parts, schema)
    check_streaming(df.sparkSession)
    expires = None if ttl is None else milliseconds(ttl, "ttl")
    mode, processor = time_mode(df.sparkSession, ttl is not None), Processor(job, places, expires)
    packed = in_even_groups(df, by, places)
    return packed.transformWithState(processor, "rows binary", "append", mode).mapInArrow(Unpack(), schema)


class GateRows:
    """Every row is compared with the threshold of its key."""

    def __init__(self, plan: GatePlan, rule: Any, compiled: bool | None, schema: pa.Schema) -> None:
        self.columns, self.rule, self.compiled, self.schema = plan, rule, compiled, schema
        self._run: GateRun | None = None
        self.plan = json.dumps({"format": "holdfast gate 1", "filter": repr(rule)} | plan._asdict())

    def new_run(self) -> GateRun:
        return GateRun(self.columns, self.rule, self.compiled)

    def answers(
        self,
        run: GateRun,
        table: pa.Table,
        keys: Any,
        good: np.ndarray,
        late: np.ndarray,
        played: tuple[np.ndarray, np.ndarray] | None,
    ) -> pa.Table:
        """The rows of the table, kept or not, and what is known of them."""
        names = run.names
        kept, numbers = np.zeros(table.num_rows, bool), np.full((table.num_rows, len(names)), math.nan)
        if played is not None:
            kept[good], numbers[good] = played
        columns = {name: table.column(name) for name in table.column_names} | {"kept": kept}
        return as_table(columns | dict(zip(names, numbers.T, strict=True)), self.schema)

    def play_all(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """The same for all rows of some keys, in record batches."""
        run = self._run = self._run or self.new_run()
        run.load(KeyStates.empty(run.columns), "the rows")
        keys = keys_in(table, self.columns)
        yield from self.answers(run, table, keys, *run.play(table, keys)).to_batches()


def filter_for(outliers: Any, window: Any) -> Any:
    """The filter of each key."""
    chosen = read_outliers(outliers)
    chosen = 0.01 if chosen == "auto" else chosen
    if window is not None and not (isinstance(chosen, float) and isinstance(window, int) and window > 0):
        raise RunError(
            f"window is a number of rows, and needs a share of outliers: got window={window!r}, {outliers!r}"
        )
    return filter_of(chosen, window=window)


# -- one threshold for all values of a batch: the histograms of its partitions, merged


def gate_all(df: DataFrame, value: str, outliers: str | float, window: int | None) -> DataFrame:
    """The rows, kept or not, with the upper edge of the bucket of the largest value that must be kept."""
    if df.isStreaming:
        raise RunError(
            "a stream has no last row to compute one threshold from: give each key a filter with by="
        )
    if window is not None:
        raise RunError("one threshold for all rows has no window: name a column with by=")
    chosen = read_outliers(outliers)
    chosen = 0.01 if chosen == "auto" else 1.0 - chosen.p if isinstance(chosen, Quantile) else chosen
    column = functions.col(quoted_name(value)).cast("double")
    parts = df.select(column.alias("value")).mapInArrow(_count_buckets, "bucket long, count long")
    merged = parts.groupBy("bucket").agg(functions.sum("count").alias("count")).orderBy("bucket").collect()
    edge = threshold([row.bucket for row in merged], [row["count"] for row in merged], chosen)
    finite = ~functions.isnan(column) & (functions.abs(column) < functions.lit(math.inf))
    kept = functions.coalesce((column < functions.lit(edge)) & finite, functions.lit(False))
    return df.withColumn("kept", kept).withColumn("threshold", functions.lit(edge))


def _count_buckets(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many values of a partition are in each bucket of `LogHistogram`."""
    for batch in batches:
        values = batch.column(0).drop_null().to_numpy(zero_copy_only=False)
        values = np.maximum(values[np.isfinite(values)], 0.0) + 0.0  # no negative zero
        buckets, counts = np.unique(values.view(np.int64) >> _SHIFT, return_counts=True)
        yield pa.RecordBatch.from_arrays([pa.array(buckets), pa.array(counts)], ["bucket", "count"])


def threshold(buckets: list[int], counts: list[int], outliers: float) -> float:
    """All values below this are kept. `outliers` is a share or a count."""
    total = sum(counts)
    most = outliers if isinstance(outliers, int) else math.floor(outliers * total)
    if total == 0 or most >= total:
        return 0.0
    place = int(np.searchsorted(np.cumsum(counts), total - most))
    return float(np.int64((buckets[place] + 1) << _SHIFT).view(np.float64))
