"""Order statistics in O(1) a round and constant memory, from counts in logarithmic buckets."""

import math
from typing import NamedTuple

import numpy as np

_BITS = 7  # an octave has 2^7 = 128 buckets
_OCTAVES = 2047  # exponents of a finite float, the first for 0 and what is too small for one of its own
_NEAR = 8  # buckets the cursor walks before it descends from the octaves
_WHOLE = 2.0**53
_SEEN, _CURSOR, _BELOW, _OCTAVE = range(4)
_BUCKET = _OCTAVE + _OCTAVES


def is_whole(number):
    """Whether a float is a whole number, and small enough for the one before and after it to be, too."""
    return abs(number) <= _WHOLE and math.floor(number) == number


class LogHistogram(NamedTuple):
    """How many sizes fell into each of 128 equal buckets of every octave [2^e, 2^(e+1)).

    The bucket is read off the bits of the float. A cursor stands at the wanted rank and moves to a
    neighbour now and then; when it has to go further it descends through the counts per octave, so a
    round costs at most 2,047 + 128 additions whatever the sizes are, and a handful as a rule. The
    buckets take 2 MB of addresses, of which the operating system backs 4 KB for every four octaves in use.

    Error: if X is the exact order statistic, `at` returns v with v <= X < v (1 + 1/128), for sure and
    with the rank exact. (Sizes below 2^-1022 are rounded down by at most 2^-1022.) Sizes
    that are not finite are not remembered.

    Examples
    --------
    >>> sketch = LogHistogram.empty()
    >>> for size in range(1, 1001):
    ...     sketch = sketch.push(float(size))
    >>> sketch, value = sketch.at(990)
    >>> value
    988.0
    """

    table: np.ndarray  # sizes seen, the cursor's bucket, how many are before it; counts of octaves, buckets

    @staticmethod
    def empty():
        """A sketch that has seen no size."""
        return LogHistogram(np.zeros(_BUCKET + (_OCTAVES << _BITS), np.int64))

    @staticmethod
    def constants():
        """What the numbers of a flattened sketch mean depends on these, by name."""
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
            cursor, below = self.moved(rank)
            self.table[_CURSOR], self.table[_BELOW] = cursor, below
        return self, float(np.int64(cursor << (52 - _BITS)).view(np.float64))

    def moved(self, rank):
        """The bucket of a rank and the number of sizes before it: some steps away, or found from the top."""
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
        return self.descended(rank)

    def descended(self, rank):
        """The bucket of a rank and the number of sizes before it, found from the octaves down."""
        below, octave = 0, 0
        while below + self.table[_OCTAVE + octave] < rank:
            below += int(self.table[_OCTAVE + octave])
            octave += 1
        bucket = octave << _BITS
        while below + self.table[_BUCKET + bucket] < rank:
            below += int(self.table[_BUCKET + bucket])
            bucket += 1
        return bucket, below

    def cleared(self):
        """The empty sketch, in the same array; only octaves in use take time."""
        for octave in range(_OCTAVES):
            if self.table[_OCTAVE + octave] > 0:
                self.table[_OCTAVE + octave] = 0
                for bucket in range(octave << _BITS, (octave + 1) << _BITS):
                    self.table[_BUCKET + bucket] = 0
        self.table[:_OCTAVE] = 0
        return self

    def stowed(self, room, at):
        """Write the buckets in use into a row of numbers, and leave them empty; the place behind them."""
        end, octaves, counts = at + _OCTAVE + 1, self.table[_OCTAVE:_BUCKET], self.table[_BUCKET:]
        for octave in np.flatnonzero(octaves):
            octaves[octave] = 0
            first = octave << _BITS
            for bucket in first + np.flatnonzero(counts[first : first + (1 << _BITS)]):
                room[end], room[end + 1] = bucket, counts[bucket]
                counts[bucket] = 0
                end += 2
        room[at : at + _OCTAVE] = self.table[:_OCTAVE]
        room[at + _OCTAVE] = (end - at - _OCTAVE - 1) // 2
        return end

    def fetched(self, room, at):
        """The sketch that was written there, in this array, which is empty; and the place behind it."""
        first = at + _OCTAVE + 1
        end = first + 2 * int(room[first - 1])
        for i in range(first, end, 2):
            bucket, count = int(room[i]), int(room[i + 1])
            self.table[_BUCKET + bucket] = count
            self.table[_OCTAVE + (bucket >> _BITS)] += count
        self.table[:_OCTAVE] = room[at : at + _OCTAVE]
        return self, end

    def checked(self, room, at, end):
        """The place behind the sketch that was written there; -1 if none was, or it goes beyond `end`."""
        first = at + _OCTAVE + 1
        if first > end:
            return -1
        for i in range(at, first):
            if not (is_whole(room[i]) and room[i] >= 0.0):
                return -1
        seen, cursor, below, used = room[at + _SEEN], room[at + _CURSOR], room[at + _BELOW], room[first - 1]
        if not (used <= _OCTAVES << _BITS and first + 2 * int(used) <= end and cursor < _OCTAVES << _BITS):
            return -1
        behind, last, total, before = first + 2 * int(used), -1.0, 0.0, 0.0
        for i in range(first, behind, 2):
            bucket, count = room[i], room[i + 1]
            if not (is_whole(bucket) and last < bucket < _OCTAVES << _BITS):
                return -1
            if not (is_whole(count) and 1.0 <= count <= seen - total):
                return -1
            last, total = bucket, total + count
            before += count if bucket < cursor else 0.0
        return behind if total == seen and before == below else -1

    def valid(self):
        """True: `checked` has looked at every number that the sketch was read from."""
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


def _rebuilt(used, values):
    """A histogram from the entries in use: pickled, it takes kilobytes instead of megabytes."""
    sketch = LogHistogram.empty()
    sketch.table[used] = values
    return sketch
