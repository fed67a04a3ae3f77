"""The states of many games, packed, and of some keys as a file: a part of a run folder, or a page of Spark.

A state is a row of numbers, and rows have different lengths. Most numbers are zeros, counts, or indices of
buckets that follow each other, so LZ4 makes them much shorter (`docs/keys.md`), in about the time that it
takes to copy them.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from holdfast.flatten import flat_size, flatten
from holdfast.fleet.grouped_rounds import COUNTS
from holdfast.fleet.tensor_file import Buffer, read_tensors, tensor_buffers

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

    def begin(self, count: int) -> None:
        """Add so many new games at the end."""
        labels = len(self.first)
        self.rows += [self._pack(self.first[slot % labels]) for slot in range(len(self), len(self) + count)]

    def put(self, slots: np.ndarray, others: "States", places: np.ndarray) -> None:
        """Replace these games by those of others."""
        for slot, place in zip(slots.tolist(), places.tolist(), strict=True):
            self.rows[slot] = others.rows[place]

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


_ARRAYS = ("bytes", "sizes", "counts")
Columns = Mapping[str, np.ndarray]  # by name, arrays without rows that have type and width of the column


class KeyStates(NamedTuple):
    """Keys, the packed states and counts of their games, and more columns with a row for each key.

    A key has a game for each label, one after the other.
    """

    keys: list[str]
    states: list[bytes]  # of each game
    counts: np.ndarray  # of each game
    columns: dict[str, np.ndarray]

    @staticmethod
    def empty(columns: Columns) -> "KeyStates":
        """No keys."""
        return KeyStates([], [], np.zeros((0, len(COUNTS)), np.int64), dict(columns))

    def of(self, keys: np.ndarray, labels: int) -> "KeyStates":
        """These keys only, given as indices."""
        games = (keys[:, None] * labels + np.arange(labels)).ravel()
        more = {name: array[keys] for name, array in self.columns.items()}
        names, states = [self.keys[i] for i in keys], [self.states[i] for i in games]
        return KeyStates(names, states, self.counts[games], more)

    def buffers(self, form: str, **header: Any) -> list[Buffer]:
        """The content of a safetensors file."""
        data = np.frombuffer(b"".join(self.states), np.uint8)
        sizes = np.fromiter(map(len, self.states), np.int64, len(self.states))
        arrays: dict[str, np.ndarray] = {"bytes": data, "sizes": sizes, "counts": self.counts}
        return tensor_buffers(arrays | self.columns, {"format": form, "keys": self.keys} | header)

    def check(self, labels: int, columns: Columns) -> None:
        """Raise ValueError if types and lengths do not fit together."""
        count = len(self.keys)
        if len(set(self.keys)) < count:
            raise ValueError("a key is there twice")
        if set(self.columns) != set(columns) or len(self.states) != count * labels:
            raise ValueError(f"it does not have a state for each game and {', '.join(columns)}")
        for name, like in columns.items():
            array = self.columns[name]
            if array.dtype != like.dtype or array.shape != (count, *like.shape[1:]):
                raise ValueError(f"{name} cannot be {array.dtype} of shape {array.shape}")


def read_states(
    data: Any,
    form: str,
    labels: int,
    columns: Columns,
    check: Callable[[dict[str, Any]], None] = lambda header: None,
) -> KeyStates:
    """The states that `buffers` wrote; raises ValueError if they are anything else.

    `check` gets the header, before the arrays are checked.
    """
    header, tensors = read_tensors(data, form)
    check(header)
    keys = header.get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise ValueError("its keys are no texts")
    if set(tensors) != {*_ARRAYS, *columns}:
        raise ValueError(f"its tensors are not {', '.join((*_ARRAYS, *columns))}")
    packed, sizes, counts = (tensors.pop(name) for name in _ARRAYS)
    if (packed.dtype, sizes.dtype, sizes.ndim) != (np.uint8, np.int64, 1) or (sizes <= 0).any():
        raise ValueError("the sizes of its states are not sizes")
    if (sizes > packed.size).any() or int(sizes.sum()) != packed.size:
        raise ValueError("the sizes of its states do not add up to their bytes")
    whole, ends = packed.tobytes(), [0, *np.cumsum(sizes).tolist()]
    states = KeyStates(keys, [whole[a:b] for a, b in itertools.pairwise(ends)], counts, tensors)
    states.check(labels, columns)
    return states


def joined(states: Iterable[KeyStates], columns: Columns) -> KeyStates:
    """The keys of several as one."""
    found = list(states)
    if len(found) < 2:
        return found[0] if found else KeyStates.empty(columns)
    keys, packed = [key for each in found for key in each.keys], [s for each in found for s in each.states]
    more = {name: np.concatenate([each.columns[name] for each in found]) for name in columns}
    return KeyStates(keys, packed, np.concatenate([each.counts for each in found]), more)
