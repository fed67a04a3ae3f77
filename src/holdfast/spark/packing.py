"""Rows as bytes: Spark calls Python for each row of a stateful operator, so a row of ours holds thousands.

Before the operator, the rows of a partition are packed by group of keys; after it, its answers are unpacked.
"""

import itertools

import numpy as np
import pyarrow as pa

from holdfast.io.sources import keys_of
from holdfast.spark.playing import tables

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


class Pack:
    """For mapInArrow: one row for each group, with all rows of its keys."""

    def __init__(self, key, places):
        self.key, self.places = key, places

    def __call__(self, batches):
        for table in tables(batches, _ROWS):
            table = table.combine_chunks()
            groups = self.places.group_of(
                self.places.pages_of(keys_of(table.column(self.key), self.key, "the rows"))
            )
            order = np.argsort(groups, kind="stable")
            found, cuts = np.unique(groups[order], return_index=True)
            cuts, table = np.append(cuts, len(order)), table.take(pa.array(order))
            packed = [to_bytes(table.slice(a, b - a)) for a, b in itertools.pairwise(cuts)]
            yield pa.RecordBatch.from_arrays(
                [pa.array(found, pa.int32()), pa.array(packed, pa.binary())], ["group", "rows"]
            )


class Unpack:
    """For mapInArrow: the rows that were packed into bytes."""

    def __call__(self, batches):
        for batch in batches:
            for data in batch.column(0).to_pylist():
                yield from from_bytes(data).to_batches()


def arrow_schema(schema):
    """The schema of Arrow for these columns of Spark."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")
