"""Rows as bytes: to Spark, thousands of rows of a group of keys are one row, so it moves and sorts few."""

import gc
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, GroupedData
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from holdfast.io.sources import keys_of
from holdfast.spark.orders import in_order
from holdfast.spark.pages import Places

PACKED = "group int, rows binary"
_ROWS = 1 << 18
_SEED = 42  # of the hash by which Spark assigns rows to tasks
_DONE = {"modules": 0}
Batches = Iterable[pa.RecordBatch]


def to_bytes(table: pa.Table) -> bytes:
    """A table of Arrow in its stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def from_bytes(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()


def joined_rows(packed: Iterable[bytes], key: str, order: str) -> pa.Table:
    """The rows that were packed into these bytes as one table, in order."""
    return in_order(pa.concat_tables(map(from_bytes, packed)).combine_chunks(), key, order)


class Pack:
    """For mapInArrow: one row for each group, with its number and all rows of its keys."""

    def __init__(self, key: str, places: Places, numbers: np.ndarray | None = None) -> None:
        self.key, self.places = key, places
        self.numbers = np.arange(places.groups) if numbers is None else numbers

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
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

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for data in batch.column(0).to_pylist():
                yield from from_bytes(data).to_batches()
        leave_out_loaded_modules()


class PlayGroups:
    """For mapInArrow: what a function yields for the rows of each group, packed and sorted by group."""

    def __init__(self, play: Callable[[pa.Table], Iterable[pa.RecordBatch]], key: str, order: str) -> None:
        self.play, self.key, self.order = play, key, order

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        pairs = (pair for batch in batches for pair in zip(*batch.to_pydict().values(), strict=True))
        for _, some in itertools.groupby(pairs, key=lambda pair: pair[0]):
            yield from self.play(joined_rows((data for _, data in some), self.key, self.order))
        leave_out_loaded_modules()


def in_even_groups(stream: DataFrame, key: str, places: Places) -> GroupedData:
    """The rows of a stream, packed and grouped, for a stateful operator."""
    return stream.mapInArrow(Pack(key, places, even_numbers(places.groups)), PACKED).groupBy("group")


def play_in_groups(
    df: DataFrame,
    play: Callable[[pa.Table], Iterable[pa.RecordBatch]],
    key: str,
    order: str,
    places: Places,
    partitions: int,
    schema: StructType,
) -> DataFrame:
    """The batch DataFrame that `play` yields for the rows of each group, in so many partitions."""
    packed = df.mapInArrow(Pack(key, places), PACKED)
    parts = packed.repartitionById(partitions, packed.group % partitions).sortWithinPartitions("group")
    return parts.mapInArrow(PlayGroups(play, key, order), schema)


def tables(batches: Batches, rows: int) -> Iterator[pa.Table]:
    """Record batches joined into tables of about so many rows."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if count:
        yield pa.Table.from_batches(waiting)


def arrow_schema(schema: StructType) -> pa.Schema:
    """The schema of Arrow for these columns of Spark."""
    return to_arrow_schema(schema, timezone="UTC")


def even_numbers(groups: int) -> np.ndarray:
    """For each group the least number whose hash has the group as its remainder, divided by `groups`.

    If the number of tasks divides `groups`, every task has as many groups. With the numbers 0, 1, ... one of
    8 tasks would have 4 of 16 groups, and another none.
    """
    found, first = np.full(groups, -1, np.int32), 0
    while (found < 0).any():
        numbers = np.arange(first, first + 4 * groups, dtype=np.int32)
        seen, places = np.unique(spark_hash(numbers) % groups, return_index=True)
        new = found[seen] < 0
        found[seen[new]] = numbers[places[new]]
        first += len(numbers)
    return found


@np.errstate(over="ignore")
def spark_hash(numbers: np.ndarray) -> np.ndarray:
    """Spark's function `hash` for columns of the type int: MurmurHash3, 32 bits."""
    word = np.uint32
    key = _turned(numbers.astype(word) * word(0xCC9E2D51), 15) * word(0x1B873593)
    found = _turned(word(_SEED) ^ key, 13) * word(5) + word(0xE6546B64)
    found ^= word(4)  # bytes of a number
    found = (found ^ (found >> word(16))) * word(0x85EBCA6B)
    found = (found ^ (found >> word(13))) * word(0xC2B2AE35)
    return (found ^ (found >> word(16))).view(np.int32)


def _turned(words: np.ndarray, bits: int) -> np.ndarray:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))


def leave_out_loaded_modules() -> None:
    """If modules were loaded since the last call, let garbage collection leave out all that exists by now.

    A Python worker of Spark collects garbage after every task. With numba and pandas loaded this takes 0.1 s,
    which is more than the task.
    """
    if len(sys.modules) > _DONE["modules"]:
        gc.collect()
        gc.freeze()
        _DONE["modules"] = len(sys.modules)
