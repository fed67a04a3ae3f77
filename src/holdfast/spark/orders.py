"""The order of the rows of each key: which rows are late or doubled."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ORDER = "_holdfast_order"  # the order as a whole number
LATE, NO_ORDER = "late", "no order"
COUNTERS = ("order", "seen", "late")  # of each key: its last order, when it had a row (ms), and its late rows
FIRST = np.iinfo(np.int64).min  # before any order
_SEEN = COUNTERS.index("seen")


class LastOrders:
    """Counters of some keys, whose indices are in the dictionary `places`."""

    def __init__(self, places):
        self.places, self.counters = places, np.zeros((0, len(COUNTERS)), np.int64)

    def load(self, places, counters):
        """Go on from these counters; raises ValueError if they have another type or shape."""
        if counters.dtype != np.int64 or counters.shape != (len(places), len(COUNTERS)):
            raise ValueError(f"{len(places):,} keys cannot have counters of shape {counters.shape}")
        self.places, self.counters = places, np.array(counters)

    def sorted_out(self, table, keys):
        """Which rows can be played, as indices, and which are late. All others have no order."""
        column = pc.cast(table.column(ORDER).combine_chunks(), pa.int64())
        missing = column.is_null().to_numpy(zero_copy_only=False)
        numbers, (codes, places) = column.fill_null(FIRST).to_numpy(), self._coded(keys)
        last = np.full(len(places), FIRST)
        last[places >= 0] = self.counters[places[places >= 0], 0]
        by_key = np.lexsort((numbers, codes))
        by_key = by_key[~missing[by_key]]
        codes, late = codes[by_key], np.zeros(len(numbers), bool)
        sorted_numbers = numbers[by_key]
        late[by_key[1:]] = (codes[1:] == codes[:-1]) & (sorted_numbers[1:] == sorted_numbers[:-1])
        late[by_key] |= sorted_numbers <= last[codes]
        return np.flatnonzero(~(late | missing)), late

    def update(self, table, keys, good, late, now):
        """Remember the last order of each key, and count the late rows. By now `places` has the new keys."""
        new = len(self.places) - len(self.counters)
        self.counters = np.concatenate([self.counters, np.tile(np.array([[FIRST, 0, 0]]), (new, 1))])
        places, numbers = self.indices(keys), table.column(ORDER).combine_chunks().fill_null(FIRST).to_numpy()
        np.maximum.at(self.counters[:, 0], places[good], numbers[good])
        self.counters[places[good], _SEEN] = now
        known = late & (places >= 0)
        np.add.at(self.counters[:, 2], places[known], 1)

    def indices(self, keys):
        """The index of the key of each row; -1 if it is unknown."""
        codes, places = self._coded(keys)
        return places[codes]

    def _coded(self, keys):
        """For each row a code of its key, and for each code the index of the key, or -1."""
        coded = pc.dictionary_encode(keys)
        names = coded.dictionary.to_pylist()
        return coded.indices.to_numpy(), np.array([self.places.get(name, -1) for name in names], np.int64)


def too_old(counters, now, ttl):
    """Which keys had no row for `ttl` milliseconds; none if `ttl` is None."""
    if ttl is None:
        return np.zeros(len(counters), bool)
    return counters[:, _SEEN] + ttl <= now


def in_order(table):
    """The rows sorted by order; rows of the same order by the other columns."""
    order = table.column(ORDER).combine_chunks().fill_null(FIRST).to_numpy()
    if len(np.unique(order)) < len(order):
        names = [name for name in table.column_names if name != ORDER]
        rest = [name for name in names if not pa.types.is_nested(table.column(name).type)]
        return table.sort_by([(ORDER, "ascending"), *((name, "ascending") for name in rest)])
    if (order[1:] > order[:-1]).all():
        return table
    return table.take(pa.array(np.argsort(order, kind="stable")))


def with_order(df, order):
    """The DataFrame with the order as a whole number: microseconds of a time, days of a date."""
    from pyspark.sql import functions

    column, kind = functions.col(quoted_name(order)), df.schema[order].dataType.typeName()
    if kind == "timestamp":
        column = functions.unix_micros(column)
    elif kind == "timestamp_ntz":
        column = functions.timestamp_diff(
            "MICROSECOND", functions.lit("1970-01-01").cast("timestamp_ntz"), column
        )
    elif kind == "date":
        column = functions.unix_date(column)
    return df.withColumn(ORDER, column.cast("long"))


def tie_breakers(schema):
    """The columns to sort by after the order, so that rows of the same order are always sorted alike."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    nested = (ArrayType, MapType, StructType)
    return [
        quoted_name(field.name)
        for field in schema
        if field.name != ORDER and not isinstance(field.dataType, nested)
    ]


def key_text(key):
    """The key as text, as in the models; a missing key is the empty text."""
    from pyspark.sql import functions

    return functions.coalesce(functions.col(quoted_name(key)).cast("string"), functions.lit(""))


def quoted_name(column):
    """The name of a column as Spark's functions read it, also if there is a dot in it."""
    return "`" + column.replace("`", "``") + "`"
