"""Order statistics in O(1) a round and constant memory, from counts in logarithmic buckets."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rarely_called

_BITS = 7  # an octave has 2^7 = 128 buckets
_OCTAVES = 2047  # exponents of a finite float, the first for 0 and what is too small for one of its own
_NEAR = 8  # steps the cursor takes from bucket to bucket before the search starts from the octaves
_WHOLE = 2.0**53
_SEEN, _CURSOR, _BELOW, _OCTAVE = range(4)
_BUCKET = _OCTAVE + _OCTAVES


def is_whole(number):
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

    Examples
    --------
    >>> sketch = LogHistogram.empty()
    >>> for size in range(1, 1001):
    ...     sketch = sketch.push(float(size))
    >>> sketch, value = sketch.at(990)
    >>> value
    988.0
    """

    table: np.ndarray  # sizes seen, cursor, sizes below the cursor; counts of octaves; counts of buckets

    @staticmethod
    def empty():
        return LogHistogram(np.zeros(_BUCKET + (_OCTAVES << _BITS), np.int64))

    @staticmethod
    def constants():
        """By name, what the meaning of a flattened sketch depends on."""
        return {"bits": _BITS, "octaves": _OCTAVES}

    def seen(self):
        """How many sizes were pushed."""
        return int(self.table[_SEEN])

    def push(self, size):
        """Remember a size."""
        if not size < math.inf:
            return self
        number = int(np.float64(size if size > 0.0 else 0.0).view(np.int64))
        bucket = number >> (52 - _BITS)
        self.table[_BUCKET + bucket] += 1
        self.table[_OCTAVE + (number >> 52)] += 1
        self.table[_SEEN] += 1
        self.table[_BELOW] += 1 if bucket < self.table[_CURSOR] else 0
        return self

    def at(self, rank):
        """The sketch, and the lower edge of the bucket of the rank-th smallest size, 1 <= rank <= seen()."""
        cursor, below = int(self.table[_CURSOR]), int(self.table[_BELOW])
        if not 0 < rank - below <= self.table[_BUCKET + cursor]:
            cursor, below = self.bucket_of(rank)
            self.table[_CURSOR], self.table[_BELOW] = cursor, below
        return self, float(np.int64(cursor << (52 - _BITS)).view(np.float64))

    def bucket_of(self, rank):
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

    def search_octaves(self, rank):
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

    def has_window(self, window):
        """True if `window` is None: this sketch forgets nothing."""
        return window is None

    def may_have_seen(self, n):
        """Whether n sizes can lead to this."""
        return self.table[_SEEN] == n

    def copied_from(self, other):
        """The sizes of another sketch, in this array; only octaves in use take time."""
        copy_octaves(self.table, other.table)
        return self

    def cleared(self):
        """The empty sketch, in the same array; only octaves in use take time."""
        clear_octaves(self.table)
        return self

    def write_to(self, buffer, at):
        """Write the buckets in use to a buffer from index `at` on, and empty them; return the index after."""
        end, octaves, counts = at + _OCTAVE + 1, self.table[_OCTAVE:_BUCKET], self.table[_BUCKET:]
        for octave in np.flatnonzero(octaves):
            octaves[octave] = 0
            first = octave << _BITS
            for bucket in first + np.flatnonzero(counts[first : first + (1 << _BITS)]):
                buffer[end], buffer[end + 1] = bucket, counts[bucket]
                counts[bucket] = 0
                end += 2
        buffer[at : at + _OCTAVE] = self.table[:_OCTAVE]
        buffer[at + _OCTAVE] = (end - at - _OCTAVE - 1) // 2
        return end

    def read_from(self, buffer, at):
        """The sketch that was written there, in this array, which must be empty; and the index after it."""
        first = at + _OCTAVE + 1
        end = first + 2 * int(buffer[first - 1])
        for i in range(first, end, 2):
            bucket, count = int(buffer[i]), int(buffer[i + 1])
            self.table[_BUCKET + bucket] = count
            self.table[_OCTAVE + (bucket >> _BITS)] += count
        self.table[:_OCTAVE] = buffer[at : at + _OCTAVE]
        return self, end

    def check_stored(self, buffer, at, end):
        """The index after the sketch that was written there; -1 if none was, or it goes beyond `end`."""
        first = at + _OCTAVE + 1
        if first > end:
            return -1
        for i in range(at, first):
            if not (is_whole(buffer[i]) and buffer[i] >= 0.0):
                return -1
        seen, cursor, below, used = buffer[at + _SEEN], buffer[at + _CURSOR], buffer[at + _BELOW], buffer[first - 1]
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

    def valid(self):
        """True: `check_stored` has checked every number that the sketch was read from."""
        return True

    def merge(self, other):
        """The counts of both added up. The two must have seen different rounds."""
        self.table[_OCTAVE:] += other.table[_OCTAVE:]
        self.table[_SEEN] += other.table[_SEEN]
        self.table[_CURSOR], self.table[_BELOW] = 0, 0
        return self

    def __reduce__(self):
        used = np.flatnonzero(self.table)
        return _rebuilt, (used, self.table[used])


@rarely_called
def copy_octaves(table, source):
    """Copy the counts of one table to another."""
    octaves = table[_OCTAVE:_BUCKET] + source[_OCTAVE:_BUCKET]
    for octave in np.flatnonzero(octaves):
        first = _BUCKET + (octave << _BITS)
        table[first : first + (1 << _BITS)] = source[first : first + (1 << _BITS)]
    table[:_BUCKET] = source[:_BUCKET]


@rarely_called
def clear_octaves(table):
    """Set the counts of a table to 0."""
    for octave in np.flatnonzero(table[_OCTAVE:_BUCKET]):
        first = _BUCKET + (octave << _BITS)
        table[first : first + (1 << _BITS)] = 0
    table[:_BUCKET] = 0


def _rebuilt(used, values):
    """A histogram from the entries in use: pickled, it takes kilobytes instead of megabytes."""
    sketch = LogHistogram.empty()
    sketch.table[used] = values
    return sketch
