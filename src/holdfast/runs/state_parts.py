"""The states of keys on disk, in numbered parts. A checkpoint writes the keys that changed, as a new part.

A state in a later part replaces those in earlier ones; the checkpoint says for each key which part has its
state. When more than half of all parts is outdated, those of which most is outdated are written again. So the
parts take at most about twice the space of the states, and a checkpoint writes at most about twice the states
that changed.
"""

import json

import numpy as np
from safetensors.numpy import save

from holdfast.play_many import caller
from holdfast.runs.files import RunError, damaged
from holdfast.runs.flat_states import copy_rows
from holdfast.runs.key_table import CHANGED, KeyTable
from holdfast.runs.manifest import part_name
from holdfast.runs.model import read_tensors
from holdfast.runs.trace import KEY_COLUMNS

FORMAT, STATES = "holdfast states 2", "states"
TENSORS = {  # columns by name
    "serials": (),
    "last": (),
    "words": (),
    "sizes": (),
    "counts": ("rounds", "kept", "unmeasured"),
    "sums": KEY_COLUMNS,
}
_SHORT = ("serials", "last", "counts", "sums")  # not the states
_NONE: dict[str, np.ndarray] = {"serials": np.zeros(0, np.int64), "last": np.zeros(0, np.int64)}
_NONE |= {"counts": np.zeros((0, 3), np.int64), "sums": np.zeros((0, len(KEY_COLUMNS)))}
_LARGEST = 1 << 23  # words in a part: 64 MB
_SMALL, _MOST_SMALL = 1 << 20, 64  # words; with more parts smaller than that, they are joined
_MANY = 1_000  # keys in a part; with more, functions that visit each are compiled


class StateParts:
    """The parts of a run: which there are, and how many words each has."""

    def __init__(self):
        self.words: dict[int, int] = {}
        self.gone: list[str] = []
        self._next = 0

    def next_files(self, games, sums):
        """The names and contents of new parts, with all keys that changed since the last checkpoint."""
        table = games.table
        sizes = games.words(np.arange(len(table.names)))
        again = self._outdated(table.parts, sizes)
        rows = np.flatnonzero(np.isin(table.parts, [CHANGED, *again]))
        names = list(table.names)
        for keys in _cut(rows, sizes):
            tensors = {"serials": table.serials[keys], "last": table.last[keys]} | games.packed(keys)
            tensors |= {"sums": sums[keys]}
            header = {"format": FORMAT, "keys": [names[i] for i in keys]}
            yield part_name(STATES, self._next), save(tensors, {"holdfast": json.dumps(header)})
            table.parts[keys], self.words[self._next] = self._next, int(sizes[keys].sum())
            self._next += 1

    def tensors(self, table):
        """What the checkpoint has of the keys."""
        count = np.array([table.count])
        return {"keys.serials": table.serials, "keys.parts": table.parts, "keys.count": count}

    def settle(self, parts):
        """A checkpoint was written, with the state of each key in these parts. Forget all other parts.

        Their files are in `gone`, to be removed with the next checkpoint: another process may be reading the
        last one.
        """
        used = set(np.unique(parts).tolist())
        self.gone = [part_name(STATES, number) for number in self.words if number not in used]
        self.words = {number: words for number, words in self.words.items() if number in used}

    def _outdated(self, parts, sizes):
        """The parts to write again."""
        used = np.bincount(parts[parts >= 0], sizes[parts >= 0], 1 + max(self.words, default=-1))
        small = [number for number, words in self.words.items() if used[number] > 0 and words < _SMALL]
        again = small if len(small) > _MOST_SMALL else []
        total, needed = sum(self.words[number] for number in self.words if used[number]), int(used.sum())
        for number in sorted(self.words, key=lambda n: used[n] / self.words[n]):
            if total <= 2 * needed:
                break
            if used[number]:
                total -= self.words[number] - int(used[number])
                again.append(number)
        return again

    def read(self, folder, games, tensors, path, layout):
        """Load the keys of a checkpoint into the games; return their sums, in order.

        `layout` is the digest of the states; it is compared at their first use.
        """
        serials, parts, count = (_checked(tensors[f"keys.{name}"]) for name in ("serials", "parts", "count"))
        if len(serials) != len(parts) or len(count) != 1 or (parts < 0).any():
            raise ValueError("its keys are not those of a checkpoint")
        found = [self._read_part(folder, games, int(number), serials, parts) for number in np.unique(parts)]
        whole = {name: np.concatenate([part[name] for part in found]) for name in _SHORT} if found else _NONE
        order = np.argsort(whole["serials"], kind="stable")
        if not np.array_equal(whole["serials"][order], serials):
            raise ValueError("its parts do not have the states of all keys")
        names, table = [name for part in found for name in part["keys"]], KeyTable()
        table.load([names[i] for i in order], serials, whole["last"][order], parts, int(count[0]))
        games.load_packed(table, order, whole["counts"], path, layout)
        return whole["sums"][order]

    def _read_part(self, folder, games, number, serials, parts):
        """The keys of a part that are not in a later one."""
        name = part_name(STATES, number)
        path = folder.path / name
        header, tensors = read_tensors(path, folder.read(name), FORMAT)
        try:
            keys, count = header.get("keys"), len(tensors["serials"])
            _check_part(keys, tensors, count, len(games.labels))
        except (ValueError, KeyError) as problem:
            raise problem if isinstance(problem, RunError) else damaged(path, problem) from None
        self.words[number], self._next = len(tensors["words"]), number + 1
        mine = np.flatnonzero(np.isin(tensors["serials"], serials[parts == number]))
        slots = games.slots(mine)
        try:
            games.add_packed(*words_of(tensors["words"], tensors["sizes"], slots))
        except ValueError as problem:
            raise damaged(path, problem) from None
        short = {name: tensors[name][mine] for name in ("serials", "last", "sums")}
        return short | {"counts": tensors["counts"][slots], "keys": [keys[i] for i in mine]}


def _check_part(keys, tensors, count, labels):
    texts = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if set(tensors) != set(TENSORS) or not texts or len(keys) != count:
        raise ValueError("its tensors or keys are not those of a part")
    shapes = {"serials": (count,), "last": (count,), "sizes": (count * labels,)}
    shapes |= {"counts": (count * labels, 3), "words": (int(tensors["sizes"].sum()),)}
    for name, shape in shapes.items():
        if tensors[name].dtype != np.int64 or tensors[name].shape != shape:
            raise ValueError(f"{name} cannot be {tensors[name].dtype} of shape {tensors[name].shape}")
    if tensors["sums"].dtype != np.float64 or tensors["sums"].shape != (count, len(KEY_COLUMNS)):
        raise ValueError("its sums are not those of keys")
    if (tensors["sizes"] <= 0).any() or (tensors["sizes"] > len(tensors["words"])).any():
        raise ValueError("the sizes of the games do not add up to their words")


def words_of(words, sizes, slots):
    """The packed states of some of these games, and their sizes."""
    starts, wanted = (np.cumsum(sizes) - sizes)[slots], sizes[slots]
    found, places = np.empty(int(wanted.sum()), np.int64), np.cumsum(wanted) - wanted
    caller(len(slots) > _MANY)(copy_rows, words, starts, wanted, found, places)
    return found, wanted


def _cut(rows, sizes):
    """The keys, in pieces that fit into one part each."""
    pieces = (np.cumsum(sizes[rows]) - 1) // _LARGEST
    return [keys for keys in np.split(rows, np.flatnonzero(np.diff(pieces)) + 1) if len(keys)]


def _checked(tensor):
    if tensor.dtype != np.int64 or tensor.ndim != 1:
        raise ValueError(f"its keys cannot be {tensor.dtype} of shape {tensor.shape}")
    return tensor
