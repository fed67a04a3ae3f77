"""The states of keys in numbered parts. A checkpoint writes the keys that changed, as a new part.

A state in a later part replaces those in earlier ones; the checkpoint says for each key which part has its
state. When more than half of all parts is outdated, those of which most is outdated are written again. So the
parts take at most about twice the space of the states, and a checkpoint writes at most about twice the states
that changed.
"""

from collections.abc import Iterator

import numpy as np

from holdfast.fleet.games import Games, Refuse
from holdfast.fleet.key_table import CHANGED, KEY_COLUMNS, KeyTable
from holdfast.fleet.states import KeyStates, joined

_WHOLE = np.zeros(0, np.int64)
COLUMNS = {"serials": _WHOLE, "last": _WHOLE, "sums": np.zeros((0, len(KEY_COLUMNS)))}  # of a part
_LARGEST = 1 << 26  # bytes of states in a part
_SMALL, _MOST_SMALL = 1 << 23, 64  # bytes; with more parts smaller than that, they are joined


class StateParts:
    """The parts of a run: which there are, and how many bytes of states each has."""

    def __init__(self) -> None:
        self.bytes: dict[int, int] = {}
        self.gone: list[int] = []  # parts that are not needed any more
        self._next = 0

    def number_after(self, others: "StateParts") -> None:
        """Give new parts other numbers than these have."""
        self._next = max(self._next, others._next)

    # -- writing

    def next_parts(self, games: Games, sums: np.ndarray) -> Iterator[tuple[int, KeyStates]]:
        """New parts, with all keys that changed since the last checkpoint."""
        table = games.table
        sizes = games.bytes()
        again = self._outdated(table.parts, sizes)
        for keys in _cut(np.flatnonzero(np.isin(table.parts, [CHANGED, *again])), sizes):
            columns = {"serials": table.serials[keys], "last": table.last[keys], "sums": sums[keys]}
            yield self._next, games.packed(keys, columns)
            table.parts[keys], self.bytes[self._next] = self._next, int(sizes[keys].sum())
            self._next += 1

    def settle(self, parts: np.ndarray) -> None:
        """A checkpoint was written, with the state of each key in these parts. Forget all other parts.

        They are in `gone`, to be removed with the next checkpoint: another process may be reading the last
        one.
        """
        used = set(np.unique(parts).tolist())
        self.gone = [number for number in self.bytes if number not in used]
        self.bytes = {number: size for number, size in self.bytes.items() if number in used}

    def _outdated(self, parts: np.ndarray, sizes: np.ndarray) -> list[int]:
        used = np.bincount(parts[parts >= 0], sizes[parts >= 0], 1 + max(self.bytes, default=-1))
        small = [number for number, size in self.bytes.items() if used[number] > 0 and size < _SMALL]
        again = small if len(small) > _MOST_SMALL else []
        total, needed = sum(self.bytes[number] for number in self.bytes if used[number]), int(used.sum())
        for number in sorted(self.bytes, key=lambda n: used[n] / self.bytes[n]):
            if total <= 2 * needed:
                break
            if used[number]:
                total -= self.bytes[number] - int(used[number])
                again.append(number)
        return again

    # -- reading

    def add(self, games: Games, number: int, part: KeyStates, serials: np.ndarray) -> KeyStates:
        """Add the games of a part whose keys have these serial numbers; return these keys, without states."""
        self.bytes[number], self._next = sum(map(len, part.states)), number + 1
        mine = part.of(np.flatnonzero(np.isin(part.columns["serials"], serials)), len(games.labels))
        games.add(mine)
        return mine._replace(states=[])

    @staticmethod
    def finish(
        games: Games,
        found: list[KeyStates],
        serials: np.ndarray,
        parts: np.ndarray,
        count: int,
        refuse: Refuse,
    ) -> np.ndarray:
        """Give the games that were added their keys; return the sums of the keys, in order."""
        keys, table = joined(found, COLUMNS), KeyTable()
        order = np.argsort(keys.columns["serials"], kind="stable")
        if not np.array_equal(keys.columns["serials"][order], serials):
            raise ValueError("its parts do not have the states of all keys")
        table.load([keys.keys[i] for i in order], serials, keys.columns["last"][order], parts, count)
        games.load_keys(table, order, refuse)
        return keys.columns["sums"][order]


def _cut(rows: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """The keys, in pieces that fit into one part each."""
    pieces = (np.cumsum(sizes[rows]) - 1) // _LARGEST
    return [keys for keys in np.split(rows, np.flatnonzero(np.diff(pieces)) + 1) if len(keys)]
