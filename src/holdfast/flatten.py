"""Flatten a state into a float64 buffer and restore it, so that many keys share one set of arrays.

Like the functions of `holdfast.vectors` these have a body for Python here and another in
`holdfast._compiled`. The numbers in the buffer have no names; `layout_digest` tells layouts
apart.
"""

import hashlib
import json

import numpy as np

from holdfast.sketches.histogram import LogHistogram, is_whole


def flatten(state, buffer, start):
    """Write the numbers of a state into `buffer` from index `start` on; return the index after the last.

    Of a histogram only the buckets in use are written, and it is left empty.
    """
    if isinstance(state, LogHistogram):
        return state.write_to(buffer, start)
    if isinstance(state, tuple):
        for item in state:
            start = flatten(item, buffer, start)
        return start
    if isinstance(state, np.ndarray):
        buffer[start : start + state.size] = state.ravel()
        return start + state.size
    buffer[start] = state
    return start + 1


def restore(state, buffer, start):
    """The state that was written there, and the index after it. It uses the arrays of `state`, whose
    histograms must be empty.
    """
    if isinstance(state, LogHistogram):
        return state.read_from(buffer, start)
    if isinstance(state, tuple):
        items = []
        for item in state:
            item, start = restore(item, buffer, start)
            items.append(item)
        return tuple.__new__(type(state), items), start
    if isinstance(state, np.ndarray):
        state[...] = buffer[start : start + state.size].reshape(state.shape)
        return state, start + state.size
    return type(state)(buffer[start]), start + 1


def check_flat(state, buffer, start, end):
    """The index after a state like this one, written from `start` on; -1 if no such state ends by `end`.

    Nothing outside of these indices is read, whatever the numbers are. Whole numbers must be whole, truth
    values 0 or 1, and the buckets of a histogram must exist and add up. What else must be true of a state,
    its rule says in `valid`.
    """
    if start < 0:
        return -1
    if isinstance(state, LogHistogram):
        return state.check_stored(buffer, start, end)
    if isinstance(state, tuple):
        for item in state:
            start = check_flat(item, buffer, start, end)
        return start
    if start + np.size(state) > end:
        return -1
    if isinstance(state, np.ndarray):
        fine = state.dtype.kind == "f" or all(map(is_whole, buffer[start : start + state.size]))
        return start + state.size if fine else -1
    if isinstance(state, bool):
        return start + 1 if buffer[start] == 0.0 or buffer[start] == 1.0 else -1
    return start + 1 if isinstance(state, float) or is_whole(buffer[start]) else -1


def flat_size(state):
    """How many numbers `flatten` writes of an empty state, and how many more one round can add."""
    if isinstance(state, LogHistogram):
        return 4, 2
    if isinstance(state, tuple):
        sizes = [flat_size(item) for item in state]
        return sum(size for size, _ in sizes), sum(more for _, more in sizes)
    return np.size(state), 0


def layout(state):
    """What the numbers of a flattened state are, as JSON has it: names, types and shapes, but no values.

    Classes go by their names, not by their modules, so that a module can be moved.
    """
    if isinstance(state, LogHistogram):
        return ["LogHistogram", state.table.dtype.name, state.constants()]
    if isinstance(state, tuple):
        fields = zip(type(state)._fields, state, strict=True)
        return [type(state).__qualname__, [[name, layout(item)] for name, item in fields]]
    if isinstance(state, np.ndarray):
        return [state.dtype.name, list(state.shape)]
    for kind, known in (("bool", (bool, np.bool_)), ("int", (int, np.integer)), ("float", float)):
        if isinstance(state, known):
            return kind
    raise TypeError(f"a state holds numbers, arrays and NamedTuples of them: got {type(state).__qualname__}")


def digest(description):
    """16 hexadecimal digits of the SHA-256 of something that JSON can write."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def layout_digest(state):
    """A digest of the names, types and shapes in a state; states of one layout have one digest.

    Examples
    --------
    >>> import holdfast as hf
    >>> ogd = hf.OGD(hf.Ball(1.0))
    >>> layout_digest(ogd.init(3)) == layout_digest(ogd.init(3))
    True
    >>> layout_digest(ogd.init(3)) == layout_digest(ogd.init(4))
    False
    """
    return digest(layout(state))
