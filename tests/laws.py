"""Functions for laws that hold for every rule of a kind."""

import numpy as np

WITH_AVERAGE = ("losses", "sizes", "thresholds", "kept", "average")  # columns of a record


def filtered(filter, state, sizes):
    """The thresholds and decisions of a filter on a stream, and its last state. It can be compiled."""
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
    """Like `same`, but a NumPy number, which interpreted code reads from arrays, equals a Python number."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(like, a, b))
    if isinstance(a, np.ndarray):
        return same(a, b)
    return bool(a == b or (a != a and b != b))


def _bytes(array):
    """The bits of an array, with the same bits for every NaN: the sign of a NaN depends on the processor."""
    return np.where(np.isnan(array), np.nan, array).tobytes() if array.dtype.kind == "f" else array.tobytes()
