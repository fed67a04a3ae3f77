"""The order of the rows of each key: which rows are late or doubled."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LATE, NO_ORDER = "late", "no order"
COUNTERS = ("order", "seen", "late")  # of each key: its last order, when it had a row (ms), and its late rows
FIRST = np.iinfo(np.int64).min  # before any order
_SEEN = COUNTERS.index("seen")


class LastOrders:
    """Counters of some keys, whose indices are in the dictionary `places`."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self.places, self.counters = places, np.zeros((0, len(COUNTERS)), np.int64)

    def load(self, places: Mapping[str, int], counters: np.ndarray) -> None:
        """Go on from these counters; raises ValueError if they have another type or shape."""
        if counters.dtype != np.int64 or counters.shape != (len(places), len(COUNTERS)):
            raise ValueError(f"{len(places):,} keys cannot have counters of shape {counters.shape}")
        self.places, self.counters = places, np.array(counters)

    def sorted_out(self, numbers: np.ndarray, keys: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which rows can be played, as indices, and which are late. All others have no order."""
        missing, (codes, places) = numbers == FIRST, self._coded(keys)
        last = np.full(len(places), FIRST)
        last[places >= 0] = self.counters[places[places >= 0], 0]
        late = ~missing & ((numbers <= last[codes]) | _doubled(numbers, codes))
        return np.flatnonzero(~(late | missing)), late

    def update(self, numbers: np.ndarray, keys: Any, good: np.ndarray, late: np.ndarray, now: int) -> None:
        """Remember the last order of each key, and count the late rows. By now `places` has the new keys."""
        new = len(self.places) - len(self.counters)
        self.counters = np.concatenate([self.counters, np.tile(np.array([[FIRST, 0, 0]]), (new, 1))])
        places = self.indices(keys)
        np.maximum.at(self.counters[:, 0], places[good], numbers[good])
        self.counters[places[good], _SEEN] = now
        np.add.at(self.counters[:, 2], places[late & (places >= 0)], 1)

    def indices(self, keys: Any) -> np.ndarray:
        """The index of the key of each row; -1 if it is unknown."""
        codes, places = self._coded(keys)
        return places[codes]

    def _coded(self, keys: Any) -> tuple[np.ndarray, np.ndarray]:
        """For each row a code of its key, and for each code the index of the key, or -1."""
        coded = pc.dictionary_encode(keys)
        names = coded.dictionary.to_pylist()
        return coded.indices.to_numpy(), np.array([self.places.get(name, -1) for name in names], np.int64)


def too_old(counters: np.ndarray, now: int, ttl: int | None) -> np.ndarray:
    """Which keys had no row for `ttl` milliseconds; none if `ttl` is None."""
    if ttl is None:
        return np.zeros(len(counters), bool)
    return counters[:, _SEEN] + ttl <= now


def order_numbers(table: pa.Table, name: str) -> np.ndarray:
    """The order of each row as a whole number: microseconds of a time, days of a date; FIRST if missing."""
    column = table.column(name).combine_chunks()
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64()).fill_null(FIRST).to_numpy()


def in_order(table: pa.Table, key: str, order: str) -> pa.Table:
    """The rows sorted by order; rows of the same key and order by the other columns."""
    numbers = order_numbers(table, order)
    if not (numbers[1:] >= numbers[:-1]).all():
        by = np.argsort(numbers, kind="stable")
        table, numbers = table.take(pa.array(by)), numbers[by]
    codes = pc.dictionary_encode(table.column(key).combine_chunks(), null_encoding="encode").indices
    if not _doubled(numbers, codes.to_numpy()).any():
        return table
    others = [name for name in table.column_names if not pa.types.is_nested(table.column(name).type)]
    return table.sort_by([(name, "ascending") for name in dict.fromkeys([order, *others])])


def _doubled(numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Which rows have the key and the order of an earlier row."""
    found = np.zeros(len(numbers), bool)
    if (numbers[1:] > numbers[:-1]).all():
        return found
    by_key = np.lexsort((numbers, codes))
    first, codes = numbers[by_key], codes[by_key]
    found[by_key[1:]] = (codes[1:] == codes[:-1]) & (first[1:] == first[:-1])
    return found
