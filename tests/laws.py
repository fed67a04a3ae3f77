"""What holds for every rule of a kind, written once and asked of all."""

import numpy as np


def filtered(filter, state, sizes):
    """The thresholds and decisions of a filter on a stream, and its last state. Runs in both worlds."""
    thresholds, kept = np.zeros(len(sizes)), np.zeros(len(sizes), np.bool_)
    for i in range(len(sizes)):
        state, threshold, keep = filter.decide(state, float(sizes[i]))
        thresholds[i] = threshold
        kept[i] = keep
    return thresholds, kept, state


def same(a, b):
    """Whether two states, records or results are equal bit for bit (and NaN equals NaN)."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and _bytes(a) == _bytes(b)
    return type(a) is type(b) and (a == b or (a != a and b != b))


def like(a, b):
    """`same`, but a NumPy number may stand for a Python one, as it does when Python reads an array."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(like, a, b))
    if isinstance(a, np.ndarray):
        return same(a, b)
    return bool(a == b or (a != a and b != b))


def _bytes(array):
    """The bits of an array, with one NaN for all: processors differ over the sign of a NaN."""
    return np.where(np.isnan(array), np.nan, array).tobytes() if array.dtype.kind == "f" else array.tobytes()
