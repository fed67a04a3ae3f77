"""Order statistics in O(1) a round and constant memory, from counts in logarithmic buckets."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from holdfast.rule import rarely_called
from holdfast.vectors import scale_by

_BITS = 7  # an octave has 2^7 = 128 buckets
_OCTAVES = 2047  # exponents of a finite float, the first for 0 and what is too small for one of its own
_NEAR = 8  # steps the cursor takes from bucket to bucket before the search starts from the octaves
_WHOLE = 2.0**53
_SEEN, _CURSOR, _BELOW, _OCTAVE = range(4)
_BUCKET = _OCTAVE + _OCTAVES


def is_whole(number: float) -> bool:
    """Whether a float is a whole number of at most 2^53, so that its neighbours are floats too."""
    return abs(number) <= _WHOLE and math.floor(number) == number


class LogHistogram(NamedTuple):
    """How many sizes fell into each of 128 equal buckets of every octave [2^e, 2^(e+1)).

    The bucket of a size is in the bits of the float. A cursor points to the bucket of the last rank, and
    usually moves to a neighbour. If the new rank is further away, it is searched from the counts per octave.
    So a round costs at most 2,047 + 128 additions whatever the sizes are, and usually a few. The buckets
    take 2 MB of addresses; the operating system uses 4 KB of memory for every four octaves in use.

    Error: if X is the exact order statistic, `at` returns v with v <= X < v (1 + 1/128), always; the rank is
    exact. (Sizes below 2^-1022 are rounded down by at most 2^-1022.) Sizes that are not finite are not
    remembered.

    >>> sketch = LogHistogram.empty()
    >>> for size in range(1, 1001):
    ...     sketch = sketch.push(float(size))
    >>> sketch, value = sketch.at(990)
    >>> value
    988.0
    """

    table: np.ndarray  # sizes seen, cursor, sizes below the cursor; counts of octaves; counts of buckets

    @staticmethod
    def empty() -> "LogHistogram":
        """A sketch that has seen no size."""
        return LogHistogram(np.zeros(_BUCKET + (_OCTAVES << _BITS), np.int64))

    @staticmethod
    def constants() -> dict[str, int]:
        """By name, what the meaning of a flattened sketch depends on."""
        return {"bits": _BITS, "octaves": _OCTAVES}

    def seen(self) -> int:
        """How many sizes were pushed."""
        return int(self.table[_SEEN])

    def push(self, size: float, unit: int = 1) -> "LogHistogram":
        """Remember a size, `unit` times."""
        if not size < math.inf:
            return self
        table, number = self.table, int(np.float64(size if size > 0.0 else 0.0).view(np.int64))
        bucket = number >> (52 - _BITS)
        table[_BUCKET + bucket] += unit
        table[_OCTAVE + (number >> 52)] += unit
        table[_SEEN] += unit
        table[_BELOW] += unit if bucket < table[_CURSOR] else 0
        return self

    def at(self, rank: int) -> tuple["LogHistogram", float]:
        """The sketch, and the lower edge of the bucket of the rank-th smallest size, 1 <= rank <= seen()."""
        table = self.table
        cursor = int(table[_CURSOR])
        if not 0 < rank - table[_BELOW] <= table[_BUCKET + cursor]:
            cursor, below = self.bucket_of(rank)
            table[_CURSOR], table[_BELOW] = cursor, below
        return self, float(np.int64(cursor << (52 - _BITS)).view(np.float64))

    def bucket_of(self, rank: int) -> tuple[int, int]:
        """The bucket of a rank and the number of sizes before it, searched from the cursor."""
        cursor, below = int(self.table[_CURSOR]), int(self.table[_BELOW])
        for _ in range(_NEAR):
            if rank <= below:
                cursor -= 1
                below -= int(self.table[_BUCKET + cursor])
            elif rank > below + self.table[_BUCKET + cursor]:
                below += int(self.table[_BUCKET + cursor])
                cursor += 1
            else:
                return cursor, below
        return self.search_octaves(rank)

    def search_octaves(self, rank: int) -> tuple[int, int]:
        """The bucket of a rank and the number of sizes before it: first the octave, then the bucket."""
        below, octave = 0, 0
        while below + self.table[_OCTAVE + octave] < rank:
            below += int(self.table[_OCTAVE + octave])
            octave += 1
        bucket = octave << _BITS
        while below + self.table[_BUCKET + bucket] < rank:
            below += int(self.table[_BUCKET + bucket])
            bucket += 1
        return bucket, below

    def has_window(self, window: int | None) -> bool:
        """True if `window` is None: this sketch forgets nothing."""
        return window is None

    def cleared(self) -> "LogHistogram":
        """The empty sketch, in the same array; only octaves in use take time."""
        clear_octaves(self.table)
        return self

    def buckets_in_use(self) -> int:
        """How many buckets have a size."""
        return int(np.count_nonzero(self.table[_BUCKET:]))

    def write_to(self, buffer: np.ndarray, at: int) -> int:
        """Write the buckets in use to a buffer from index `at` on, and empty them; return the index after."""
        return _write_table(self.table, buffer, at)

    def read_from(self, buffer: np.ndarray, at: int) -> tuple["LogHistogram", int]:
        """The sketch that was written there, in this array, which must be empty; and the index after it."""
        return self, _read_table(self.table, buffer, at)

    def check_stored(self, buffer: np.ndarray, at: int, end: int) -> int:
        """The index after the sketch that was written there; -1 if none was, or it goes beyond `end`."""
        first = at + _OCTAVE + 1
        if first > end:
            return -1
        for i in range(at, first):
            if not (is_whole(buffer[i]) and buffer[i] >= 0.0):
                return -1
        seen, cursor, below = buffer[at + _SEEN], buffer[at + _CURSOR], buffer[at + _BELOW]
        used = buffer[first - 1]
        if not (used <= _OCTAVES << _BITS and first + 2 * int(used) <= end and cursor < _OCTAVES << _BITS):
            return -1
        after, last, total, before = first + 2 * int(used), -1.0, 0.0, 0.0
        for i in range(first, after, 2):
            bucket, count = buffer[i], buffer[i + 1]
            if not (is_whole(bucket) and last < bucket < _OCTAVES << _BITS):
                return -1
            if not (is_whole(count) and 1.0 <= count <= seen - total):
                return -1
            last, total = bucket, total + count
            before += count if bucket < cursor else 0.0
        return after if total == seen and before == below else -1

    def valid(self) -> bool:
        """True: `check_stored` has checked every number that the sketch was read from."""
        return True

    def merge(self, other: "LogHistogram") -> "LogHistogram":
        """The counts of both added up. The two must have seen different rounds."""
        self.table[_OCTAVE:] += other.table[_OCTAVE:]
        self.table[_SEEN] += other.table[_SEEN]
        self.table[_CURSOR], self.table[_BELOW] = 0, 0
        return self

    def __reduce__(self) -> tuple[Callable[..., "LogHistogram"], tuple[np.ndarray, np.ndarray]]:
        used = np.flatnonzero(self.table)
        return _rebuilt, (used, self.table[used])


@rarely_called
def clear_octaves(table: np.ndarray) -> None:
    """Set the counts of a table to 0. Octaves near the cursor come first, so that few empty ones are read."""
    left, middle, distance = int(table[_SEEN]), int(table[_CURSOR]) >> _BITS, 0
    while left > 0 and distance < _OCTAVES:
        for octave in (middle + distance, middle - distance):
            if 0 <= octave < _OCTAVES and table[_OCTAVE + octave] > 0:
                left -= int(table[_OCTAVE + octave])
                table[_OCTAVE + octave] = 0
                scale_by(table[_BUCKET + (octave << _BITS) : _BUCKET + ((octave + 1) << _BITS)], 0)
        distance += 1
    table[:_OCTAVE] = 0


@rarely_called
def keep_remainders(table: np.ndarray, shift: int) -> None:
    """Replace each count by its remainder modulo 2^shift, times 2^shift."""
    rest = (1 << shift) - 1
    left, middle, distance = int(table[_SEEN]), int(table[_CURSOR]) >> _BITS, 0
    while left > 0 and distance < _OCTAVES:
        for octave in (middle + distance, middle - 1 - distance):
            if 0 <= octave < _OCTAVES and table[_OCTAVE + octave] > 0:
                left -= int(table[_OCTAVE + octave])
                table[_OCTAVE + octave] = (table[_OCTAVE + octave] & rest) << shift
                counts = table[_BUCKET + (octave << _BITS) : _BUCKET + ((octave + 1) << _BITS)]
                for i in range(len(counts)):
                    counts[i] = (counts[i] & rest) << shift
        distance += 1
    table[_SEEN] = (table[_SEEN] & rest) << shift
    table[_BELOW] = (table[_BELOW] & rest) << shift


def remainders_add_up(table: np.ndarray, shift: int) -> bool:
    """Whether the remainders of the counts modulo 2^shift sum to that of the total, also below the cursor."""
    rest, total, below = (1 << shift) - 1, 0, 0
    for octave in np.flatnonzero(table[_OCTAVE:_BUCKET]):
        for bucket in range(octave << _BITS, (octave + 1) << _BITS):
            total += table[_BUCKET + bucket] & rest
            below += table[_BUCKET + bucket] & rest if bucket < table[_CURSOR] else 0
    return total == table[_SEEN] & rest and below == table[_BELOW] & rest


def _rebuilt(used: np.ndarray, values: np.ndarray) -> LogHistogram:
    """A histogram from the entries in use: pickled, it takes kilobytes instead of megabytes."""
    sketch = LogHistogram.empty()
    sketch.table[used] = values
    return sketch


@rarely_called
def _write_table(table: np.ndarray, buffer: np.ndarray, at: int) -> int:
    """Write the buckets in use to a buffer, and empty them; return the index after them."""
    end, octaves, counts = at + _OCTAVE + 1, table[_OCTAVE:_BUCKET], table[_BUCKET:]
    for octave in np.flatnonzero(octaves):
        octaves[octave] = 0
        first = octave << _BITS
        for bucket in first + np.flatnonzero(counts[first : first + (1 << _BITS)]):
            buffer[end], buffer[end + 1] = bucket, counts[bucket]
            counts[bucket] = 0
            end += 2
    for i in range(_OCTAVE):  # an assignment of slices takes a second to compile
        buffer[at + i], table[i] = table[i], 0
    buffer[at + _OCTAVE] = (end - at - _OCTAVE - 1) // 2
    return end


@rarely_called
def _read_table(table: np.ndarray, buffer: np.ndarray, at: int) -> int:
    """Read the buckets that were written there; return the index after them."""
    first = at + _OCTAVE + 1
    end = first + 2 * int(buffer[first - 1])
    for i in range(first, end, 2):
        bucket, count = int(buffer[i]), int(buffer[i + 1])
        table[_BUCKET + bucket] = count
        table[_OCTAVE + (bucket >> _BITS)] += count
    for i in range(_OCTAVE):
        table[i] = buffer[at + i]
    return end
