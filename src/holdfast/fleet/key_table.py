"""The keys of a run, in order of appearance: last rows, where states are saved, and sums over the rounds."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.fleet.tensor_file import numbers

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


# errors: a sum; counted: of how many rounds; threshold: the last one of the features, 0 before the first
KEY_COLUMNS = ("rounds", "kept", "warm_up", "errors", "counted", "threshold")
_WORST = 5  # keys in a summary
_QUARTERS = ("least", "lower_quartile", "median", "upper_quartile", "most")


class KeySums:
    """The rounds of each key, the kept ones, and the sum of their errors. Keys are in order of appearance."""

    def __init__(self) -> None:
        self.sums = np.zeros((0, len(KEY_COLUMNS)))

    def extend(self, count: int) -> None:
        """There are so many keys by now; the new ones have no rounds yet."""
        if count > len(self.sums):
            self.sums = np.concatenate([self.sums, np.zeros((count - len(self.sums), len(KEY_COLUMNS)))])

    @np.errstate(over="ignore")
    def add(
        self, count: int, keys: np.ndarray, errors: np.ndarray, kept: np.ndarray, warm: np.ndarray
    ) -> None:
        """Add rounds. `keys` has the index of each round's key; there are `count` keys by now."""
        self.extend(count)
        counted = np.isfinite(errors) & kept
        # In the order of the rounds, so that the sums do not depend on the batches.
        for place, figures in enumerate((1.0, kept, warm, np.where(counted, errors, 0.0), counted)):
            np.add.at(self.sums[:, place], keys, figures)

    def take(self, keys: np.ndarray) -> None:
        """Keep the sums of these keys only."""
        if len(keys) < len(self.sums):
            self.sums = self.sums[keys]

    def set_thresholds(self, count: int, keys: np.ndarray, thresholds: np.ndarray) -> None:
        """Store the last threshold of the features for each key. NaN, of an unmeasured round, is ignored."""
        self.extend(count)
        known = ~np.isnan(thresholds)
        self.sums[keys[known], -1] = thresholds[known]  # of a repeated key, the last one

    def thresholds(self) -> np.ndarray:
        return self.sums[:, -1].copy()

    def load(self, sums: np.ndarray, count: int) -> None:
        """Continue from these sums of `count` keys; raises ValueError if they are not valid."""
        rounds, kept, warm, _, counted, _ = numbers(sums, (count, len(KEY_COLUMNS))).T
        fine = (counted >= 0) & (counted <= kept) & (warm >= 0) & (kept + warm <= rounds)
        if not (fine & (rounds < 1 << 53)).all():
            raise ValueError("the sums of keys are not counts of their rounds")
        self.sums = sums

    def table(self, names: Sequence[str]) -> Any:
        """A row for each key; the error is null if no round was kept. `warm_up` counts others, not kept."""
        rounds, kept, warm, errors, counted, _ = self.sums.T
        with np.errstate(all="ignore"):
            mean = pa.array(errors / counted, mask=counted == 0)
        counts = {"rounds": rounds, "kept": kept, "warm_up": warm}
        counts = {name: column.astype(np.int64) for name, column in counts.items()}
        return pa.table({"key": pa.array(names, pa.string())} | counts | {"error": mean})

    def summary(self, names: Sequence[str], starts: bool = False) -> dict[str, Any]:
        """The number of keys, quantiles of their rounds, skipped rounds and errors, and the worst keys.

        `starts`: a key learns nothing before its first threshold that is finite.
        """
        rounds, kept, warm, errors, counted, threshold = self.sums.T
        skipped, known = 1.0 - (kept + warm) / np.maximum(rounds, 1.0), counted > 0
        mean = np.where(known, errors / np.maximum(counted, 1.0), -1.0)
        table = self.table(names)
        worst = {
            name: table.take(np.argsort(-by, kind="stable")[:_WORST]).to_pylist()
            for name, by in (("most_skipped", skipped), ("largest_error", mean))
        }
        spreads = {"rounds": rounds, "skipped_share": skipped, "error": mean[known]}
        nothing = (kept == 0) | (starts & np.isinf(threshold))
        counts = {"count": len(rounds), "nothing_learned": int(nothing.sum())}
        return counts | {name: _spread(each) for name, each in spreads.items()} | worst


def _spread(values: np.ndarray) -> dict[str, float] | None:
    if not len(values):
        return None
    return dict(zip(_QUARTERS, np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist(), strict=True))
