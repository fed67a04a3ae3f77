"""Order statistics in O(1) a round and constant memory, from counts in logarithmic buckets."""

import math
from typing import NamedTuple

import numpy as np

_OCTAVES = (
    2047  # exponents of a finite float, the first for 0 and what is too small for an exponent of its own
)
_NEAR = 8  # buckets the cursor walks before it descends from the octaves
_SEEN, _CURSOR, _BELOW = range(3)


class LogHistogram(NamedTuple):
    """How many sizes fell into each of 2^bits equal buckets of every octave [2^e, 2^(e+1)).

    The bucket is read off the bits of the float. A cursor stands at the wanted rank and moves to a
    neighbour now and then; when it has to go further it descends through the counts per octave, so a
    round costs at most 2,047 + 2^bits additions whatever the sizes are, and a handful as a rule. The
    buckets take 2 MB of addresses, of which the operating system backs 4 KB for every four octaves in use.

    Error: if X is the exact order statistic, `at` returns v with v <= X < v (1 + 2^-bits), for sure and
    with the rank exact: 0.8 % by default. (Sizes below 2^-1022 are rounded down by at most 2^-1022.) Sizes
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

    counts: np.ndarray  # a bucket each
    octaves: np.ndarray  # their sums, an octave each
    marks: np.ndarray  # the sizes seen, the bucket at the cursor, how many sizes are in those before it
    bits: int

    @staticmethod
    def empty(bits=7):
        counts, octaves = np.zeros(_OCTAVES << bits, np.int64), np.zeros(_OCTAVES, np.int64)
        return LogHistogram(counts, octaves, np.zeros(3, np.int64), bits)

    def seen(self):
        """How many sizes were pushed."""
        return int(self.marks[_SEEN])

    def push(self, size):
        """Remember a size."""
        if not size < math.inf:
            return self
        bucket = int(np.float64(size if size > 0.0 else 0.0).view(np.int64)) >> (52 - self.bits)
        self.counts[bucket] += 1
        self.octaves[bucket >> self.bits] += 1
        self.marks[_SEEN] += 1
        self.marks[_BELOW] += 1 if bucket < self.marks[_CURSOR] else 0
        return self

    def at(self, rank):
        """The sketch, and the lower edge of the bucket of the rank-th smallest size, 1 <= rank <= seen()."""
        cursor, below = int(self.marks[_CURSOR]), int(self.marks[_BELOW])
        if not 0 < rank - below <= self.counts[cursor]:
            cursor, below = self.moved(rank)
            self.marks[_CURSOR], self.marks[_BELOW] = cursor, below
        return self, float(np.int64(cursor << (52 - self.bits)).view(np.float64))

    def moved(self, rank):
        """The bucket of a rank and the number of sizes before it: some steps away, or found from the top."""
        cursor, below = int(self.marks[_CURSOR]), int(self.marks[_BELOW])
        for _ in range(_NEAR):
            if rank <= below:
                cursor -= 1
                below -= int(self.counts[cursor])
            elif rank > below + self.counts[cursor]:
                below += int(self.counts[cursor])
                cursor += 1
            else:
                return cursor, below
        return self.descended(rank)

    def descended(self, rank):
        """The bucket of a rank and the number of sizes before it, found from the octaves down."""
        below, octave = 0, 0
        while below + self.octaves[octave] < rank:
            below += int(self.octaves[octave])
            octave += 1
        bucket = octave << self.bits
        while below + self.counts[bucket] < rank:
            below += int(self.counts[bucket])
            bucket += 1
        return bucket, below

    def cleared(self):
        """The empty sketch, in the same arrays; only octaves in use take time."""
        for octave in range(len(self.octaves)):
            if self.octaves[octave] > 0:
                self.octaves[octave] = 0
                for bucket in range(octave << self.bits, (octave + 1) << self.bits):
                    self.counts[bucket] = 0
        self.marks[:] = 0
        return self

    def stowed(self, room, at):
        """Write the buckets in use into a row of numbers, and leave them empty; the place behind them."""
        end = at + 4
        for octave in np.flatnonzero(self.octaves):
            self.octaves[octave] = 0
            first = octave << self.bits
            for bucket in first + np.flatnonzero(self.counts[first : first + (1 << self.bits)]):
                room[end], room[end + 1] = bucket, self.counts[bucket]
                self.counts[bucket] = 0
                end += 2
        room[at : at + 3] = self.marks
        room[at + 3] = (end - at - 4) // 2
        return end

    def fetched(self, room, at):
        """The sketch that was written there, in these arrays, which are empty; and the place behind it."""
        end = at + 4 + 2 * int(room[at + 3])
        for i in range(at + 4, end, 2):
            bucket, count = int(room[i]), int(room[i + 1])
            self.counts[bucket] = count
            self.octaves[bucket >> self.bits] += count
        self.marks[:] = room[at : at + 3]
        return self, end

    def merge(self, other):
        """The counts of both added up. The two must have seen different rounds and have the same bits."""
        if self.bits != other.bits:
            raise ValueError(
                "histograms can be merged only if they have the same number of buckets an octave"
            )
        self.counts[:] += other.counts
        self.octaves[:] += other.octaves
        self.marks[_SEEN] += other.marks[_SEEN]
        self.marks[_CURSOR], self.marks[_BELOW] = 0, 0
        return self

    def __reduce__(self):
        used = np.flatnonzero(self.counts)
        return _rebuilt, (used, self.counts[used], self.marks, self.bits)


def _rebuilt(used, counts, marks, bits):
    """A histogram from its buckets in use: pickled, it takes kilobytes instead of megabytes."""
    sketch = LogHistogram.empty(bits)
    sketch.counts[used] = counts
    np.add.at(sketch.octaves, used >> bits, counts)
    sketch.marks[:] = marks
    return sketch
