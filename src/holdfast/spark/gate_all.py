"""One threshold for all values of a batch: the histograms of its partitions, merged."""

import math

import numpy as np
import pyarrow as pa
from pyspark.sql import functions

from holdfast.filters import Quantile
from holdfast.runs.files import RunError
from holdfast.runs.settings import outliers_for
from holdfast.sketches.histogram import LogHistogram
from holdfast.spark.columns import quoted_name

_SHIFT = 52 - LogHistogram.constants()["bits"]  # the bits of a float that its bucket does not depend on


def gate_all(df, value, outliers, window):
    """The rows, kept or not, with the upper edge of the bucket of the largest value that must be kept."""
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
    finite = ~functions.isnan(column) & (functions.abs(column) < functions.lit(math.inf))
    kept = functions.coalesce((column < functions.lit(edge)) & finite, functions.lit(False))
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
    if total == 0 or most >= total:
        return 0.0
    place = int(np.searchsorted(np.cumsum(counts), total - most))
    return float(np.int64((buckets[place] + 1) << _SHIFT).view(np.float64))
