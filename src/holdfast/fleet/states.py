"""The states of many games: each is a row of numbers, and rows have different lengths.

Most numbers of a state are zeros, counts, or indices of buckets that follow each other, so LZ4 makes them
much shorter (`docs/keys.md`), in about the time that it takes to copy them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.flatten import flat_size, flatten

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # a buffer, where each row begins in it, and its length
_LZ4 = pa.Codec("lz4_raw")
_HEAD = 4  # bytes that say how many numbers there are
_MOST = 1 << 24  # numbers in a packed row
_MOST_RATIO = 256  # LZ4 makes nothing shorter than that


def pack(row: np.ndarray) -> bytes:
    """Numbers of float64 in fewer bytes."""
    return len(row).to_bytes(_HEAD, "little") + _LZ4.compress(row, asbytes=True)


def unpack(packed: bytes) -> np.ndarray:
    """The numbers, with the same bits; raises ValueError if `pack` has not made these bytes."""
    count = int.from_bytes(packed[:_HEAD], "little")
    if not 0 < count <= _MOST or 8 * count > _MOST_RATIO * len(packed):
        raise ValueError("a state cannot be unpacked")
    try:
        return np.frombuffer(_LZ4.decompress(packed[_HEAD:], decompressed_size=8 * count))
    except (OSError, pa.ArrowException):
        raise ValueError("a state cannot be unpacked") from None


class States:
    """A row for each game. Some are copied into a buffer to play in, and back again."""

    def __init__(self, first_state: Any, labels: int = 1, packed: bool = True) -> None:
        """The games of each key are one for each label, and have the slots key * labels + label.

        Rows are `packed` if there may be many games. Without, they may have any length.
        """
        self.fresh, self.growth = flat_size(first_state)
        row = np.zeros(self.fresh)
        flatten(first_state, row, 0)
        self.first = [row] * labels  # the row of a new game, for each label
        self.rows: list[Any] = []  # bytes or numbers; empty for a new game
        self._pack: Callable[[np.ndarray], Any] = pack if packed else np.copy
        self._unpack: Callable[[Any], np.ndarray] = unpack if packed else np.asarray

    def __len__(self) -> int:
        return len(self.rows)

    def unpack(self, slots: np.ndarray, rounds: np.ndarray | int) -> Rows:
        """The numbers of these games in a buffer, with room for so many more rounds.

        Games that are new begin with the first row.
        """
        self.rows += [b""] * (int(slots.max(initial=-1)) + 1 - len(self.rows))
        found = [self.row(slot) for slot in slots.tolist()]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        rooms = lengths + self.growth * rounds
        places = np.cumsum(rooms) - rooms
        buffer = np.empty(int(rooms.sum()))
        for place, row in zip(places.tolist(), found, strict=True):
            buffer[place : place + len(row)] = row
        return buffer, places, lengths

    def pack(self, slots: np.ndarray, buffer: np.ndarray, places: np.ndarray, lengths: np.ndarray) -> None:
        """Store what was played."""
        for slot, place, length in zip(slots.tolist(), places.tolist(), lengths.tolist(), strict=True):
            self.rows[slot] = self._pack(buffer[place : place + length])

    def row(self, slot: int) -> np.ndarray:
        """The numbers of one game."""
        row = self.rows[slot] if slot < len(self.rows) else b""
        return self._unpack(row) if len(row) else self.first[slot % len(self.first)]

    def add(self, rows: Sequence[bytes]) -> None:
        """Add games at the end, from their packed rows."""
        self.rows += rows

    def take(self, slots: Iterable[int]) -> None:
        """Keep these games only, in this order."""
        self.rows = [self.rows[slot] for slot in slots]

    def state(self) -> dict[str, np.ndarray]:
        """All numbers, row after row, and how many each row has."""
        rows = [self.row(slot) for slot in range(len(self))]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return {"tape": np.concatenate([np.zeros(0), *rows]), "lengths": lengths}

    def load(self, tape: np.ndarray, lengths: np.ndarray, count: int) -> None:
        """Continue from what `state` returned, for `count` games; raises ValueError if lengths do not fit."""
        types = (lengths.dtype, tape.dtype) == (np.int64, np.float64)
        if not types or lengths.shape != (count,) or tape.ndim != 1:
            raise ValueError(f"{count:,} games cannot have lengths {lengths.dtype} of shape {lengths.shape}")
        if not ((lengths > 0) & (lengths <= len(tape))).all() or int(lengths.sum()) != len(tape):
            raise ValueError("the lengths of the games do not add up to their numbers")
        self.rows = [self._pack(row) for row in np.split(tape, np.cumsum(lengths)[:-1])] if count else []
