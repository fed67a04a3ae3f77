"""A filter without a model: which values of a column to trust."""

import json
import math
from typing import NamedTuple

import numpy as np
from pyspark.sql.types import StructType

from holdfast.filters import Everything, Quantile, TopK, TopShare
from holdfast.runs.files import RunError
from holdfast.runs.settings import outliers_for
from holdfast.spark.answers import as_table
from holdfast.spark.checks import check_packages, check_streaming, milliseconds, time_mode
from holdfast.spark.columns import NUMBERS, check_count, check_key, check_order, kind_of, partition_count
from holdfast.spark.gate_all import gate_all
from holdfast.spark.gate_run import GateRun
from holdfast.spark.packing import Unpack, arrow_schema, in_even_groups, play_in_groups
from holdfast.spark.pages import Page, Places
from holdfast.spark.playing import keys_in
from holdfast.spark.processor import Processor


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
    pages=4,
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
    check_packages()
    for name in ("kept", "threshold"):
        if name in df.columns:
            raise RunError(f"the DataFrame has a column {name!r} already: rename it")
    if value not in df.columns or kind_of(df.schema[value]) not in NUMBERS:
        raise RunError(
            f"value must be a column of numbers: got {value!r}; the columns are {', '.join(df.columns[:20])}"
        )
    if by is None:
        return gate_all(df, value, outliers, window)
    if order is None:
        raise RunError("a filter for each key needs the order of its rows: name a column with order=")
    check_key(df.schema, by)
    check_order(df.schema, order)
    schema = StructType(list(df.schema.fields)).add("kept", "boolean").add("threshold", "double")
    plan = GatePlan(value, by, order)
    places = Places(check_count(groups, "groups"), check_count(pages, "pages"))
    job = GateRows(plan, filter_for(outliers, window), compiled, arrow_schema(schema))
    if not df.isStreaming:
        parts = partition_count(partitions, df.sparkSession)
        return play_in_groups(df, job.play_all, plan, places, parts, schema)
    check_streaming(df.sparkSession)
    ttl = None if ttl is None else milliseconds(ttl, "ttl")
    mode, processor = time_mode(df.sparkSession, ttl is not None), Processor(job, places, ttl)
    packed = in_even_groups(df, by, places)
    return packed.transformWithState(processor, "rows binary", "append", mode).mapInArrow(Unpack(), schema)


class GatePlan(NamedTuple):
    """The columns of a gate."""

    value: str
    key: str
    order: str


class GateRows:
    """Every row is compared with the threshold of its key."""

    def __init__(self, plan, filter, compiled, schema):
        self.columns, self.filter, self.compiled, self.schema = plan, filter, compiled, schema
        self._run = None
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

    def play_all(self, table):
        """The same for all rows of some keys, in record batches."""
        run = self._run = self._run or self.new_run()
        run.load(Page.empty(), "the rows")
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
