"""The keys of a run, in order of appearance: when each had its last row, and where its state is saved."""

from collections.abc import Iterable, Sequence

import numpy as np

CHANGED = -1  # instead of a part: the state has changed since the last checkpoint


class KeyTable:
    """The keys, by index. A key that was evicted and comes back is a new one, at the end."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}  # the index of each key, in order
        self.count = 0  # of all keys that ever were, also those that were evicted
        self.serials = np.zeros(0, np.int64)  # counts the keys that came before; it increases with the index
        self.last = np.zeros(0, np.int64)  # the round of the last row
        self.parts = np.zeros(0, np.int64)  # the number of the part that has the state, or CHANGED

    def indices(self, names: Iterable[str]) -> np.ndarray:
        """The index of each of these keys; new keys are added at the end."""
        before = len(self.names)
        found = np.array([self.names.setdefault(name, len(self.names)) for name in names], np.int64)
        new = len(self.names) - before
        if new:
            self.serials = np.concatenate([self.serials, self.count + np.arange(new)])
            self.last = np.concatenate([self.last, np.zeros(new, np.int64)])
            self.parts = np.concatenate([self.parts, np.full(new, CHANGED)])
            self.count += new
        return found

    def touch(self, keys: np.ndarray, rounds: np.ndarray) -> None:
        """These keys have rows in these rounds, which increase."""
        self.last[keys] = rounds
        self.change(keys)

    def change(self, keys: np.ndarray) -> None:
        """The states of these keys are about to change: the next checkpoint writes them."""
        self.parts[keys] = CHANGED

    def take(self, kept: np.ndarray) -> None:
        """Keep the keys with these indices only, in this order."""
        names = list(self.names)
        self.names = {names[old]: new for new, old in enumerate(kept)}
        self.serials, self.last, self.parts = self.serials[kept], self.last[kept], self.parts[kept]

    def load(
        self, names: Sequence[str], serials: np.ndarray, last: np.ndarray, parts: np.ndarray, count: int
    ) -> None:
        """Continue from these keys; raises ValueError if they cannot be the keys of a run."""
        self.names = {name: i for i, name in enumerate(names)}
        if len(self.names) < len(names):
            raise ValueError("a key is there twice")
        if not (np.diff(serials, append=count) > 0).all() or (serials < 0).any():
            raise ValueError("its keys are not in order")
        if not ((last >= 0) & (last < 1 << 53)).all():
            raise ValueError("the last rounds of its keys are not rounds")
        self.count, self.serials, self.last, self.parts = count, serials, last, parts
