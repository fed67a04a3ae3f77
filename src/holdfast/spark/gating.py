"""A filter without a model: which values of a column to trust."""

import json
import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.runs.files import RunError
from holdfast.runs.settings import outliers_for
from holdfast.sketches.histogram import LogHistogram
from holdfast.spark.answers import as_table
from holdfast.spark.checks import check_packages, check_streaming, time_mode
from holdfast.spark.gate_run import GateRun
from holdfast.spark.orders import ORDER, key_text, quoted_name, tie_breakers, with_order
from holdfast.spark.packing import PACKED, Pack, Unpack, arrow_schema
from holdfast.spark.pages import Places
from holdfast.spark.plan import check_key, check_order, kind_of
from holdfast.spark.playing import keys_in, tables
from holdfast.spark.processor import Processor

_ROWS = 1 << 16
_SHIFT = 52 - LogHistogram.constants()["bits"]  # the bits of a float that its bucket does not depend on
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal")


def gate(
    df,
    *,
    value,
    by=None,
    order=None,
    outliers="1%",
    window=None,
    ttl=None,
    partitions=None,
    groups=16,
    pages=16,
    compiled=None,
):
    """The rows of a DataFrame or a stream with two more columns: kept, and the threshold of the value.

    Parameters
    ----------
    df : DataFrame
        A batch, or with `by` also a stream.
    value : name of a column
        A number that is large if something is wrong, such as a residual. If it is missing or not finite, the
        row is not kept.
    by : name of a column, optional
        A filter for each key, which decides on each row from the earlier rows of the key, as `holdfast.Gate`
        does. By default there is one threshold for all rows of a batch: the histograms of all partitions are
        merged, and at most as many rows as there may be outliers are not kept, those with the largest values.
    order : name of a column
        The order of the rows, needed with `by`. Late and doubled rows are not kept.
    outliers : text or number
        A share such as "1%", a count such as 50, or "quantile:0.99", as in `holdfast learn`.
    window : int, optional
        With a share and `by`: the filter remembers so many rows to twice as many.
    ttl : float, optional
        Of a stream: a key that had no row for so many seconds is forgotten.
    partitions : int, optional
        Of a batch: how many tasks work. Default: `spark.sql.shuffle.partitions`.
    groups, pages, compiled
        As in `Fleet`.
    """
    from pyspark.sql.types import StructType

    check_packages()
    for name in ("kept", "threshold"):
        if name in df.columns:
            raise RunError(f"the DataFrame has a column {name!r} already: rename it")
    if value not in df.columns or kind_of(df.schema[value]) not in _NUMBERS:
        raise RunError(
            f"value must be a column of numbers: got {value!r}; the columns are {', '.join(df.columns[:20])}"
        )
    if by is None:
        return _gate_all(df, value, outliers, window)
    if order is None:
        raise RunError("a filter for each key needs the order of its rows: name a column with order=")
    check_key(df.schema, by)
    check_order(df.schema, order)
    schema = arrow_schema(
        StructType(list(df.schema.fields)).add("kept", "boolean").add("threshold", "double")
    )
    job = GateRows(GatePlan(value, by, order), filter_for(outliers, window), compiled, schema)
    rows, schema = with_order(df, order), _spark(schema)
    if df.isStreaming:
        check_streaming(df.sparkSession)
        places, ttl = Places(groups, pages), None if ttl is None else max(1, int(1000 * ttl))
        grouped = rows.mapInArrow(Pack(by, places), PACKED).groupBy("group")
        mode = time_mode(df.sparkSession, ttl is not None)
        return grouped.transformWithState(
            Processor(job, places, ttl), "rows binary", "append", mode
        ).mapInArrow(Unpack(), schema)
    parts = partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    rows = rows.repartition(parts, key_text(by)).sortWithinPartitions(ORDER, *tie_breakers(rows.schema))
    return rows.mapInArrow(job.play_all, schema)


class GatePlan(NamedTuple):
    """The columns of a gate."""

    value: str
    key: str
    order: str


class GateRows:
    """Every row is compared with the threshold of its key."""

    def __init__(self, plan, filter, compiled, schema):
        self.columns, self.filter, self.compiled, self.schema = plan, filter, compiled, schema
        self.plan = json.dumps({"format": "holdfast gate 1", "filter": repr(filter)} | plan._asdict())

    def new_run(self):
        return GateRun(self.columns, self.filter, self.compiled)

    def answers(self, run, table, keys, good, late, played):
        """The rows of the table, kept or not, and their thresholds."""
        kept, thresholds = np.zeros(table.num_rows, bool), np.full(table.num_rows, math.nan)
        if played is not None:
            kept[good], thresholds[good] = played
        columns = {name: table.column(name) for name in table.column_names}
        return as_table(columns | {"kept": kept, "threshold": thresholds}, self.schema)

    def play_all(self, batches):
        """For mapInArrow: the rows of a partition, sorted by order."""
        run = self.new_run()
        for table in tables(batches, _ROWS):
            keys = keys_in(table, self.columns)
            yield from self.answers(run, table, keys, *run.play(table, keys)).to_batches()


def filter_for(outliers, window):
    """The filter of each key."""
    chosen = outliers_for(str(outliers))
    chosen = 0.01 if chosen == "auto" else chosen
    if window is not None and not (isinstance(chosen, float) and isinstance(window, int) and window > 0):
        raise RunError(
            f"window is a number of rows, and needs a share of outliers: got window={window!r}, {outliers!r}"
        )
    if isinstance(chosen, Quantile):
        return chosen
    if chosen == 0:
        return Everything()
    return TopShare(chosen, window=window) if isinstance(chosen, float) else TopK(chosen)


def _gate_all(df, value, outliers, window):
    """One threshold for all rows: the upper edge of the bucket of the largest value that must be kept."""
    from pyspark.sql import functions

    if df.isStreaming:
        raise RunError(
            "a stream has no last row to compute one threshold from: give each key a filter with by="
        )
    if window is not None:
        raise RunError("one threshold for all rows has no window: name a column with by=")
    chosen = outliers_for(str(outliers))
    chosen = 0.01 if chosen == "auto" else 1.0 - chosen.p if isinstance(chosen, Quantile) else chosen
    column = functions.col(quoted_name(value)).cast("double")
    parts = df.select(column.alias("value")).mapInArrow(_count_buckets, "bucket long, count long")
    merged = parts.groupBy("bucket").agg(functions.sum("count").alias("count")).orderBy("bucket").collect()
    edge = threshold([row.bucket for row in merged], [row["count"] for row in merged], chosen)
    kept = functions.coalesce(
        (column < functions.lit(edge))
        & ~functions.isnan(column)
        & (functions.abs(column) < functions.lit(math.inf)),
        functions.lit(False),
    )
    return df.withColumn("kept", kept).withColumn("threshold", functions.lit(edge))


def _count_buckets(batches):
    """How many values of a partition are in each bucket of `LogHistogram`."""
    for batch in batches:
        values = batch.column(0).drop_null().to_numpy(zero_copy_only=False)
        values = np.maximum(values[np.isfinite(values)], 0.0) + 0.0  # no negative zero
        buckets, counts = np.unique(values.view(np.int64) >> _SHIFT, return_counts=True)
        yield pa.RecordBatch.from_arrays([pa.array(buckets), pa.array(counts)], ["bucket", "count"])


def threshold(buckets, counts, outliers):
    """All values below this are kept. `outliers` is a share or a count."""
    total = sum(counts)
    most = outliers if isinstance(outliers, int) else math.floor(outliers * total)
    below = np.cumsum(counts)
    if total == 0 or most >= total:
        return 0.0
    place = int(np.searchsorted(below, total - most))
    return float(np.int64((buckets[place] + 1) << _SHIFT).view(np.float64))


def _spark(schema):
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
