"""The states of many games in one array: each is a packed row, and rows have different lengths."""

import numpy as np

from holdfast.flatten import flat_size, flatten
from holdfast.play_many import caller
from holdfast.runs.flat_states import copy_rows
from holdfast.runs.packing import first_unreadable, pack, unpack

_ROUNDING = 8  # words; the space of a row is a multiple, so that a row which grows is not always moved
_SPARE = 16  # with more than a 16th unused, rows are moved together; else the array grows by a 16th


class PackedStates:
    """A row for each game. Some are unpacked to play in, and packed again."""

    def __init__(self, first_state, labels=1):
        """The games of each key are one for each label, and have the slots key * labels + label."""
        self.fresh, self.growth = flat_size(first_state)
        row = np.zeros(self.fresh)
        flatten(first_state, row, 0)
        self.first = [row] * labels  # the row of a new game, for each label
        self.words, self.end = np.zeros(0, np.int64), 0
        self.starts = self.sizes = self.spaces = np.zeros(0, np.int64)

    def __len__(self):
        return len(self.starts)

    def unpack(self, slots, rounds, compiled):
        """The numbers of these games in a buffer, with room for so many more rounds, and their places.

        Games that are new begin with the first row.
        """
        self._extend(int(slots.max(initial=-1)) + 1 - len(self))
        old = self.sizes[slots] > 0
        label = slots % len(self.first)
        lengths = np.array([len(row) for row in self.first])[label]
        lengths[old] = self.words[self.starts[slots[old]]]
        rooms = lengths + self.growth * rounds
        places = np.cumsum(rooms) - rooms
        buffer = np.empty(int(rooms.sum()))
        unpack(self.words, self.starts[slots[old]], buffer, places[old], compiled)
        for i, row in enumerate(self.first):
            new = ~old & (label == i)
            count = int(new.sum())
            if count:
                begin = np.zeros(count, np.int64)
                caller(compiled)(copy_rows, row, begin, begin + len(row), buffer, places[new])
        return buffer, places, lengths

    def pack(self, slots, buffer, places, lengths, compiled):
        """Store what was played."""
        words, sizes = pack(buffer, places, lengths, compiled)
        moved = slots[sizes > self.spaces[slots]]
        self.sizes[slots] = sizes
        spaces = -(-self.sizes[moved] // _ROUNDING) * _ROUNDING
        self.spaces[moved] = 0
        self._make_room(int(spaces.sum()), compiled)
        self.starts[moved], self.spaces[moved] = self.end + np.cumsum(spaces) - spaces, spaces
        self.end += int(spaces.sum())
        starts = np.cumsum(sizes) - sizes
        caller(compiled)(copy_rows, words, starts, sizes, self.words, self.starts[slots])

    def row(self, slot, compiled):
        """The numbers of one game."""
        buffer, places, lengths = self.unpack(np.array([slot]), 0, compiled)
        return buffer[places[0] : places[0] + lengths[0]]

    def packed(self, slots, compiled):
        """The words of these games, one after the other, and how many each has."""
        sizes = self.sizes[slots]
        words = np.empty(int(sizes.sum()), np.int64)
        caller(compiled)(copy_rows, self.words, self.starts[slots], sizes, words, np.cumsum(sizes) - sizes)
        return words, sizes

    def add_packed(self, words, sizes, compiled):
        """Add games at the end, from what `packed` returned; raises ValueError if they cannot be that."""
        if (words.dtype, sizes.dtype) != (np.int64, np.int64) or words.ndim != 1 or sizes.ndim != 1:
            raise ValueError(f"states cannot be {words.dtype} with sizes {sizes.dtype}")
        if not ((sizes > 0) & (sizes <= len(words))).all() or int(sizes.sum()) != len(words):
            raise ValueError("the sizes of the games do not add up to their words")
        starts = np.cumsum(sizes) - sizes
        if caller(compiled)(first_unreadable, words, starts, sizes) >= 0:
            raise ValueError("a state cannot be unpacked")
        slots = len(self) + np.arange(len(sizes))
        self._extend(len(sizes))
        self._make_room(len(words), compiled)
        self.words[self.end : self.end + len(words)] = words
        self.starts[slots], self.sizes[slots], self.spaces[slots] = self.end + starts, sizes, sizes
        self.end += len(words)

    def take(self, slots):
        """Keep these games only, in this order."""
        self.starts, self.sizes, self.spaces = self.starts[slots], self.sizes[slots], self.spaces[slots]

    def trim(self, compiled):
        """Give back memory that is not used."""
        self._move_together(compiled)
        self.words.resize(self.end, refcheck=False)

    def _extend(self, count):
        if count > 0:
            more = np.zeros(count, np.int64)
            self.starts, self.sizes, self.spaces = (
                np.concatenate([old, more]) for old in (self.starts, self.sizes, self.spaces)
            )

    def _make_room(self, wanted, compiled):
        """Make room for so many words at the end."""
        if self.end + wanted <= len(self.words):
            return
        if _SPARE * (self.end - int(self.spaces.sum())) > self.end:
            self._move_together(compiled)
        if self.end + wanted > len(self.words):
            most = max(self.end + wanted, len(self.words) + len(self.words) // _SPARE)
            self.words.resize(most, refcheck=False)  # no second copy on systems that can move pages

    def _move_together(self, compiled):
        """Remove the gaps between rows, in place."""
        used = np.flatnonzero(self.spaces)
        used = used[np.argsort(self.starts[used], kind="stable")]
        places = np.cumsum(self.spaces[used]) - self.spaces[used]
        caller(compiled)(copy_rows, self.words, self.starts[used], self.sizes[used], self.words, places)
        self.starts[used] = places
        self.end = int(self.spaces.sum())
