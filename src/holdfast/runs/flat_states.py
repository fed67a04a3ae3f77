"""The states of many games in one buffer: each is a row of numbers, and rows have different lengths."""

import numpy as np

from holdfast.flatten import flat_size, flatten
from holdfast.play_many import caller

_SPARE = 1.25  # a row gets this many times the space that it needs, so that it is not moved whenever it grows


class FlatStates:
    """A row for each game. The buffer begins with the row of the first state, for new games.

    For few games; `PackedStates`, with the same methods, is for many.
    """

    def __init__(self, first_state):
        self.fresh, self.growth = flat_size(first_state)
        self.buffer = np.zeros(self.fresh)
        flatten(first_state, self.buffer, 0)
        self.end = self.fresh
        self.starts = self.lengths = self.spaces = np.zeros(0, np.int64)

    def __len__(self):
        return len(self.starts)

    def unpack(self, slots, rounds, compiled):
        """The buffer, where each of these games begins in it, with room for more rounds, and its length."""
        new = int(slots.max(initial=-1)) + 1 - len(self)
        if new > 0:
            self.starts, self.lengths, self.spaces = (
                np.concatenate([old, np.zeros(new, np.int64)])
                for old in (self.starts, self.lengths, self.spaces)
            )
        fresh = self.lengths[slots] == 0
        self.lengths[slots[fresh]] = self.fresh
        needed = self.lengths[slots] + self.growth * rounds
        tight = np.flatnonzero(needed > self.spaces[slots])
        spaces = np.ceil(_SPARE * needed[tight]).astype(np.int64)
        wanted = int(spaces.sum())
        if self.end + wanted > len(self.buffer):
            self._compact(wanted, compiled)
        places = self.end + np.cumsum(spaces) - spaces
        before = np.where(fresh[tight], 0, self.starts[slots[tight]])
        caller(compiled)(copy_rows, self.buffer, before, self.lengths[slots[tight]], self.buffer, places)
        self.starts[slots[tight]], self.spaces[slots[tight]] = places, spaces
        self.end += wanted
        return self.buffer, self.starts[slots], self.lengths[slots]

    def pack(self, slots, buffer, places, lengths, compiled):
        """The rows of these games have these lengths now."""
        self.lengths[slots] = lengths

    def trim(self, compiled):
        """Few games have nothing to give back."""

    def row(self, slot, compiled):
        start = self.starts[slot]
        return self.buffer[start : start + self.lengths[slot]]

    def first_row(self):
        """The row of the first state."""
        return self.buffer[: self.fresh].copy()

    def _compact(self, wanted, compiled):
        """Copy all rows into a longer buffer, without gaps."""
        starts = self.fresh + np.cumsum(self.spaces) - self.spaces
        end = self.fresh + int(self.spaces.sum())
        buffer = np.empty(int(_SPARE * end) + wanted)
        buffer[: self.fresh] = self.buffer[: self.fresh]
        stored = np.minimum(self.lengths, self.spaces)  # new rows have no space yet
        caller(compiled)(copy_rows, self.buffer, self.starts, stored, buffer, starts)
        self.buffer, self.starts, self.end = buffer, starts, end

    def state(self, compiled):
        """All rows without gaps, and their lengths."""
        starts = np.cumsum(self.lengths) - self.lengths
        buffer = np.empty(int(self.lengths.sum()))
        caller(compiled)(copy_rows, self.buffer, self.starts, self.lengths, buffer, starts)
        return {"tape": buffer, "lengths": self.lengths}

    def load(self, rows, lengths, count):
        """Continue from what `state` returned, for `count` games; raises ValueError if lengths do not fit."""
        types = (lengths.dtype, rows.dtype) == (np.int64, np.float64)
        if not types or lengths.shape != (count,) or rows.ndim != 1:
            raise ValueError(f"{count:,} games cannot have lengths {lengths.dtype} of shape {lengths.shape}")
        if not ((lengths > 0) & (lengths <= len(rows))).all() or int(lengths.sum()) != len(rows):
            raise ValueError("the lengths of the games do not add up to their numbers")
        self.lengths = np.array(lengths)
        self.spaces = self.lengths.copy()
        self.starts = self.fresh + np.cumsum(self.lengths) - self.lengths
        self.buffer = np.concatenate([self.buffer[: self.fresh], rows])
        self.end = len(self.buffer)


def group_rounds(keys):
    """The keys, each once and sorted; an order of the rounds by key; and where each key's rounds begin in it.

    The rounds of the j-th key are order[cuts[j]:cuts[j + 1]].
    """
    if len(keys) and (keys == keys[0]).all():
        return keys[:1], np.arange(len(keys)), np.array([0, len(keys)])
    order = np.argsort(keys, kind="stable")
    found, cuts = np.unique(keys[order], return_index=True)
    return found, order, np.append(cuts, len(keys))


def copy_rows(source, starts, lengths, target, places):
    """Copy rows from one array to another, or in order to smaller indices of the same array."""
    for i in range(len(starts)):
        target[places[i] : places[i] + lengths[i]] = source[starts[i] : starts[i] + lengths[i]]
    return 0
