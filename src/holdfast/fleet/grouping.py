"""Group rounds by key, divide the keys among threads, and call a function compiled or in Python."""

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from holdfast._compiled import prebuilt
from holdfast._compiled.calls import can_compile

Call = Callable[..., Any]  # calls a function with its arguments


class Grouped(NamedTuple):
    """The different keys, sorted. The rounds of the j-th one are order[cuts[j]:cuts[j + 1]]."""

    keys: np.ndarray
    order: np.ndarray
    cuts: np.ndarray


def group_rounds(
    keys: np.ndarray,
    call: Call | None = None,
    parallel_map: Callable[..., Iterable[Any]] = map,
    parts: int = 1,
) -> Grouped:
    """Group the rounds, given by their keys; within a key they stay in order.

    With `call`, rounds are counted and placed by compiled functions: in so many parts, by `parallel_map` at
    the same time. Without, they are sorted, which is faster in Python.
    """
    if keys.dtype.kind in "iu" and len(keys) and (keys[0] == keys[-1]) and (keys == keys[0]).all():
        return Grouped(keys[:1], np.arange(len(keys)), np.array([0, len(keys)]))
    if call is None:
        order = np.argsort(keys, kind="stable")
        found, cuts = np.unique(keys[order], return_index=True)
        return Grouped(found, order, np.append(cuts, len(keys)))
    names, codes = _coded(keys)
    parts = parts if parts * len(names) <= len(keys) else 1
    ends = np.linspace(0, len(keys), parts + 1).astype(np.int64)
    counts, order = np.zeros((parts, len(names)), np.int64), np.empty(len(keys), np.int64)

    def on_parts(function: Call, arguments: Callable[[int], tuple[Any, ...]]) -> None:
        list(parallel_map(lambda i: call(function, codes, ends[i], ends[i + 1], *arguments(i)), range(parts)))

    on_parts(count_rounds, lambda i: (counts[i],))
    there, starts = counts.any(axis=0), np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts  # where each part puts its first round of a key
    on_parts(place_rounds, lambda i: (places[i], order))
    return Grouped(names[there], order, np.append(starts[:-1][there], len(keys)))


def _coded(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted keys, among them all that are there, and the index of the key of each round."""
    if keys.dtype.kind in "iu" and len(keys) and int(keys.max()) - int(keys.min()) <= 4 * len(keys):
        low = keys.min()  # whole numbers in a narrow range need not be sorted
        names = np.arange(int(keys.max()) - int(low) + 1).astype(keys.dtype) + low
        # Unsigned, so that a difference that wraps is right.
        return names, (keys - low).view(f"u{keys.itemsize}")
    try:
        return np.unique(keys, return_inverse=True)
    except TypeError:
        raise TypeError("keys must be all numbers or all text, so that they can be sorted") from None


def count_rounds(codes: np.ndarray, first: int, last: int, counts: np.ndarray) -> int:
    """Count the rounds first, ..., last - 1 of each key."""
    for t in range(first, last):
        counts[codes[t]] += 1
    return 0


def place_rounds(codes: np.ndarray, first: int, last: int, places: np.ndarray, order: np.ndarray) -> int:
    """Write each of these rounds into `order`, after the earlier rounds of its key."""
    for t in range(first, last):
        order[places[codes[t]]] = t
        places[codes[t]] += 1
    return 0


def evenly(cuts: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Divide the keys into `count` ranges with about the same number of rounds each."""
    ends = np.searchsorted(cuts, np.linspace(0, cuts[-1], count + 1))
    ends = np.unique(np.concatenate([[0], ends, [len(cuts) - 1]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(ends)]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def caller(compiled: bool) -> Call:
    """A function that calls another one: compiled, if possible, or in Python."""
    return _compiled_call if compiled else _plain_call


def _compiled_call(function: Call, *args: Any) -> Any:
    if prebuilt.find(function, args) is None and not can_compile(True):
        return _plain_call(function, *args)
    from holdfast._compiled import call

    return call(function, *args)


@np.errstate(all="ignore")
def _plain_call(function: Call, *args: Any) -> Any:
    return function(*args)
