"""Rows of numbers of different lengths in one long array: the states of games that wait for their turn."""

import numpy as np

_SPARE = 1.25  # as much room as is needed, so that a game is not moved each time it grows


class FlatStates:
    """A row for each game. The first place is taken by the row that all games begin with."""

    def __init__(self, fresh):
        self.fresh = len(fresh)
        self.tape = np.array(fresh)
        self.end = self.fresh
        self.starts = self.lengths = self.rooms = np.zeros(0, np.int64)

    def __len__(self):
        return len(self.starts)

    def make_room(self, slots, more, move):
        """Where to read each of these games, and where to write it when it may be longer by `more`."""
        new = int(slots.max(initial=-1)) + 1 - len(self)
        if new > 0:
            self.starts, self.lengths, self.rooms = (
                np.concatenate([old, np.zeros(new, np.int64)])
                for old in (self.starts, self.lengths, self.rooms)
            )
        needed = np.where(self.lengths[slots] > 0, self.lengths[slots], self.fresh) + more
        tight = np.flatnonzero(needed > self.rooms[slots])
        rooms = np.ceil(_SPARE * needed[tight]).astype(np.int64)
        wanted = int(rooms.sum())
        if self.end + wanted > len(self.tape):
            self._tidy(wanted, move)
        reading = np.where(self.lengths[slots] > 0, self.starts[slots], 0)
        places = self.end + np.cumsum(rooms) - rooms
        self.starts[slots[tight]], self.rooms[slots[tight]] = places, rooms
        self.end += wanted
        return reading, self.starts[slots]

    def row(self, slot):
        start = self.starts[slot]
        return self.tape[start : start + self.lengths[slot]]

    def _tidy(self, wanted, move):
        """Move everything to a longer array, without gaps."""
        starts = self.fresh + np.cumsum(self.rooms) - self.rooms
        end = self.fresh + int(self.rooms.sum())
        tape = np.empty(int(_SPARE * end) + wanted)
        tape[: self.fresh] = self.tape[: self.fresh]
        move(copy_rows, self.tape, self.starts, self.lengths, tape, starts)
        self.tape, self.starts, self.end = tape, starts, end

    def state(self, move):
        """All rows, one behind the other, and how long each is."""
        starts = np.cumsum(self.lengths) - self.lengths
        tape = np.empty(int(self.lengths.sum()))
        move(copy_rows, self.tape, self.starts, self.lengths, tape, starts)
        return {"tape": tape, "lengths": self.lengths}

    def load(self, tape, lengths, count):
        """Go on from what `state` gave, of `count` games; raises ValueError if the lengths do not fit."""
        if (
            lengths.dtype != np.int64
            or lengths.shape != (count,)
            or tape.dtype != np.float64
            or tape.ndim != 1
        ):
            raise ValueError(f"{count:,} games cannot have lengths {lengths.dtype} of shape {lengths.shape}")
        if not ((lengths > 0) & (lengths <= len(tape))).all() or int(lengths.sum()) != len(tape):
            raise ValueError("the lengths of the games do not add up to their numbers")
        self.lengths = np.array(lengths)
        self.rooms = self.lengths.copy()
        self.starts = self.fresh + np.cumsum(self.lengths) - self.lengths
        self.tape = np.concatenate([self.tape[: self.fresh], tape])
        self.end = len(self.tape)


def copy_rows(source, starts, lengths, target, places):
    """Copy rows from one array to another."""
    for i in range(len(starts)):
        target[places[i] : places[i] + lengths[i]] = source[starts[i] : starts[i] + lengths[i]]
    return 0
