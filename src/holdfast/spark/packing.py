"""Rows as bytes: to Spark, thousands of rows of a group of keys are one row, so it moves and sorts few."""

import itertools

import numpy as np
import pyarrow as pa

from holdfast.io.sources import keys_of
from holdfast.spark.even_groups import even_numbers
from holdfast.spark.orders import in_order
from holdfast.spark.worker_memory import leave_out_loaded_modules

PACKED = "group int, rows binary"
_ROWS = 1 << 18


def to_bytes(table):
    """A table of Arrow in its stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def from_bytes(data):
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()


def joined_rows(packed, key, order):
    """The rows that were packed into these bytes as one table, in order."""
    return in_order(pa.concat_tables(map(from_bytes, packed)).combine_chunks(), key, order)


class Pack:
    """For mapInArrow: one row for each group, with its number and all rows of its keys."""

    def __init__(self, key, places, numbers=None):
        self.key, self.places = key, places
        self.numbers = np.arange(places.groups) if numbers is None else numbers

    def __call__(self, batches):
        for table in tables(batches, _ROWS):
            table = table.combine_chunks()
            keys = keys_of(table.column(self.key), self.key, "the rows")
            groups = self.places.group_of(self.places.pages_of(keys))
            order = np.argsort(groups.astype(np.min_scalar_type(self.places.groups)), kind="stable")
            found, cuts = np.unique(groups[order], return_index=True)
            cuts, table = np.append(cuts, len(order)), table.take(pa.array(order))
            packed = [to_bytes(table.slice(a, b - a)) for a, b in itertools.pairwise(cuts)]
            columns = [pa.array(self.numbers[found], pa.int32()), pa.array(packed, pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["group", "rows"])
        leave_out_loaded_modules()


class Unpack:
    """For mapInArrow: the rows that were packed into bytes."""

    def __call__(self, batches):
        for batch in batches:
            for data in batch.column(0).to_pylist():
                yield from from_bytes(data).to_batches()
        leave_out_loaded_modules()


class PlayGroups:
    """For mapInArrow: what a function yields for the rows of each group, packed and sorted by group."""

    def __init__(self, play, key, order):
        self.play, self.key, self.order = play, key, order

    def __call__(self, batches):
        pairs = (pair for batch in batches for pair in zip(*batch.to_pydict().values(), strict=True))
        for _, some in itertools.groupby(pairs, key=lambda pair: pair[0]):
            yield from self.play(joined_rows((data for _, data in some), self.key, self.order))
        leave_out_loaded_modules()


def in_even_groups(stream, key, places):
    """The rows of a stream, packed and grouped, for a stateful operator."""
    return stream.mapInArrow(Pack(key, places, even_numbers(places.groups)), PACKED).groupBy("group")


def play_in_groups(df, play, plan, places, partitions, schema):
    """The batch DataFrame that `play` yields for the rows of each group, in so many partitions."""
    packed = df.mapInArrow(Pack(plan.key, places), PACKED)
    parts = packed.repartitionById(partitions, packed.group % partitions).sortWithinPartitions("group")
    return parts.mapInArrow(PlayGroups(play, plan.key, plan.order), schema)


def tables(batches, rows):
    """Record batches joined into tables of about so many rows."""
    waiting, count = [], 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if count:
        yield pa.Table.from_batches(waiting)


def arrow_schema(schema):
    """The schema of Arrow for these columns of Spark."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")
