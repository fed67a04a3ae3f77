"""Flatten a state into a float64 buffer and restore it, so that many keys share one set of arrays.

The numbers in the buffer have no names; `layout_digest` identifies their layout. Python runs these functions,
and compiled games have a copy for each type of state.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast.kernels import by_type, holds_floats, like
from holdfast.rule import rarely_called
from holdfast.sketches.histogram import LogHistogram, is_whole
from holdfast.vectors import aligned_copy


@by_type
def flatten(state: Any, buffer: np.ndarray, start: int) -> int:
    """Write the numbers of a state into `buffer` from index `start` on; return the index after the last.

    A histogram writes only the buckets in use, and is empty afterwards.
    """
    if isinstance(state, LogHistogram):
        return state.write_to(buffer, start)
    if isinstance(state, tuple):
        for item in state:
            start = flatten(item, buffer, start)
        return start
    if isinstance(state, np.ndarray):
        write_array(state, buffer, start)
        return start + state.size
    buffer[start] = state
    return start + 1


@rarely_called
def write_array(array: np.ndarray, buffer: np.ndarray, start: int) -> None:
    buffer[start : start + array.size] = array.ravel()


@rarely_called
def read_array(array: np.ndarray, buffer: np.ndarray, start: int) -> np.ndarray:
    array[...] = buffer[start : start + array.size].reshape(array.shape)
    return array


@by_type
def restore(state: Any, buffer: np.ndarray, start: int) -> tuple[Any, int]:
    """Read a state from `buffer` into the arrays of `state`; return it and the index after it.

    The histograms of `state` must be empty.
    """
    if isinstance(state, LogHistogram):
        return state.read_from(buffer, start)
    if isinstance(state, tuple):
        items = []
        for item in state:
            item, start = restore(item, buffer, start)
            items.append(item)
        return like(state, items), start
    if isinstance(state, np.ndarray):
        return read_array(state, buffer, start), start + state.size
    if isinstance(state, bool | np.bool_):
        return bool(buffer[start] != 0.0), start + 1
    return int(buffer[start]) if isinstance(state, int | np.integer) else float(buffer[start]), start + 1


@by_type
def check_flat(state: Any, buffer: np.ndarray, start: int, end: int) -> int:
    """Check that buffer[start:end] begins with a state like this one; return the index after it, or -1.

    Nothing outside buffer[start:end] is read. Integers must be whole numbers, booleans 0 or 1, and the
    buckets of a histogram must exist and add up. `valid` of a rule checks everything else.
    """
    if start < 0:
        return -1
    if isinstance(state, LogHistogram):
        return state.check_stored(buffer, start, end)
    if isinstance(state, tuple):
        for item in state:
            start = check_flat(item, buffer, start, end)
        return start
    if isinstance(state, np.ndarray):
        if start + state.size > end:
            return -1
        if not holds_floats(state):
            for i in range(start, start + state.size):
                if not is_whole(buffer[i]):
                    return -1
        return start + state.size
    if start + 1 > end:
        return -1
    if isinstance(state, bool | np.bool_):
        return start + 1 if buffer[start] == 0.0 or buffer[start] == 1.0 else -1
    return start + 1 if isinstance(state, float) or is_whole(buffer[start]) else -1


def flat_size(state: Any) -> tuple[int, int]:
    """How many numbers `flatten` writes for an empty state, and how many more one round can add."""
    if isinstance(state, LogHistogram):
        return 4, 2
    if isinstance(state, tuple):
        sizes = [flat_size(item) for item in state]
        return sum(size for size, _ in sizes), sum(more for _, more in sizes)
    return np.size(state), 0


def flat_length(state: Any) -> int:
    """How many numbers `flatten` writes of this state."""
    if isinstance(state, LogHistogram):
        return 4 + 2 * state.buckets_in_use()
    if isinstance(state, tuple):
        return sum(map(flat_length, state))
    return np.size(state)


def numbers_of(state: Any) -> np.ndarray:
    """The numbers of a state, which is not changed."""
    state = aligned_copy(state)  # `flatten` empties histograms
    numbers = np.zeros(flat_length(state))
    flatten(state, numbers, 0)
    return numbers


def state_of(numbers: np.ndarray, first: Any, valid: Callable[[Any], bool]) -> Any:
    """The state with these numbers, in the arrays of a first state; None if there is none that is valid."""
    if check_flat(first, numbers, 0, len(numbers)) == len(numbers):
        state, _ = restore(first, numbers, 0)
        if valid(state):
            return state
    return None


def layout(state: Any) -> Any:
    """The names, types and shapes of the numbers in a flattened state, as JSON can write them.

    A class is identified by its name, not by its module, so that modules can be moved.
    """
    if isinstance(state, LogHistogram):
        return ["LogHistogram", state.table.dtype.name, state.constants()]
    if isinstance(state, tuple):
        names = getattr(state, "_fields", range(len(state)))  # a plain tuple has none
        fields = zip(names, state, strict=True)
        return [type(state).__qualname__, [[name, layout(item)] for name, item in fields]]
    if isinstance(state, np.ndarray):
        return [state.dtype.name, list(state.shape)]
    for kind, known in (("bool", (bool, np.bool_)), ("int", (int, np.integer)), ("float", float)):
        if isinstance(state, known):
            return kind
    raise TypeError(f"a state contains numbers, arrays and NamedTuples: got {type(state).__qualname__}")


def digest(description: Any) -> str:
    """16 hexadecimal digits of the SHA-256 of a value that JSON can write."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def layout_digest(state: Any) -> str:
    """A digest of the names, types and shapes in a state. States of the same layout have the same digest.

    >>> import holdfast as hf
    >>> ogd = hf.OGD(hf.Ball(1.0))
    >>> layout_digest(ogd.init(3)) == layout_digest(ogd.init(3))
    True
    >>> layout_digest(ogd.init(3)) == layout_digest(ogd.init(4))
    False
    """
    return digest(layout(state))
