"""The states of some keys: what a part of a run folder, and a page of Spark, contain."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from holdfast.fleet.grouped_rounds import COUNTS
from holdfast.fleet.tensor_file import Buffer, read_tensors, tensor_buffers

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
