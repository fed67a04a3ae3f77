"""Group rounds by key, and play the rounds of several games in one call, which is what a run compiles.

`_compiled/prebuild.py` imports this file where pyarrow is not installed.
"""

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from holdfast._compiled import prebuilt
from holdfast._compiled.calls import can_compile
from holdfast.flatten import check_flat, flatten, restore
from holdfast.game import Counts, play_round
from holdfast.linear_model import LinearModels, write_model
from holdfast.play import empty_columns
from holdfast.record import VERDICTS

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


COUNTS = ("rounds", "kept", "unmeasured")  # of each game
KEEP = (*VERDICTS, "predictions")  # the columns of a run


class GroupedRounds(NamedTuple):
    """Rounds grouped by game, and where the state of each game is in the buffer."""

    order: np.ndarray  # the rounds, game after game
    cuts: np.ndarray  # where the rounds of each game begin in `order`
    places: np.ndarray
    lengths: np.ndarray  # of the states that were written
    counts: np.ndarray  # rounds, kept, unmeasured
    packed: bool  # whether states are made small (`PlayerOptions.to_stored`)


def play_groups(
    player: Any,
    adversary: Any,
    state: Any,
    columns: Any,
    groups: GroupedRounds,
    buffer: np.ndarray,
    first: int,
    last: int,
) -> int:
    """Play the rounds of the games first, ..., last - 1; restore each from the buffer and write it back."""
    nothing = np.zeros(0)
    for game in range(first, last):
        state, _ = restore(state, buffer, groups.places[game])
        if groups.packed:
            state = player.from_stored(state)
        hidden, counts = adversary.start(), groups.counts[game]
        tally = Counts(int(counts[0]), int(counts[1]), int(counts[2]), nothing)
        for i in range(groups.cuts[game], groups.cuts[game + 1]):
            t = groups.order[i]
            state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t)
        counts[0], counts[1], counts[2] = tally.rounds, tally.kept, tally.unmeasured
        if groups.packed:
            state = player.to_stored(state)
        groups.lengths[game] = flatten(state, buffer, groups.places[game]) - groups.places[game]
    return 0


def example(player: Any, state: Any, adversary: Any, packed: bool) -> tuple[Any, ...]:
    """Arguments that have the types of all calls of `play_groups` with such a state and such rows."""
    nothing, width = np.zeros(0, np.int64), adversary.extent()[1]
    counts = np.zeros((0, len(COUNTS)), np.int64)
    groups = GroupedRounds(nothing, nothing, nothing, nothing, counts, packed)
    columns = empty_columns(0, width, len(player.check_names()), KEEP)
    return player, adversary, state, columns, groups, np.zeros(0), 0, 0


def answer_groups(
    part: Any,
    state: Any,
    columns: tuple[np.ndarray, ...],
    order: np.ndarray,
    cuts: np.ndarray,
    buffer: np.ndarray,
    places: np.ndarray,
    lengths: np.ndarray,
) -> int:
    """Let `part` answer the rows of each key in turn; restore its state from the buffer and write it back.

    `answer(state, t, columns)` is the state after row t, and `ended(state)` that to be written.
    """
    for group in range(len(places)):
        state, _ = restore(state, buffer, places[group])
        for i in range(cuts[group], cuts[group + 1]):
            state = part.answer(state, order[i], columns)
        lengths[group] = flatten(part.ended(state), buffer, places[group]) - places[group]
    return 0


def first_unlike(state: Any, buffer: np.ndarray, places: np.ndarray, lengths: np.ndarray) -> int:
    """The first key whose numbers are no state like this one; -1 if there is none."""
    for group in range(len(places)):
        end = places[group] + lengths[group]
        if check_flat(state, buffer, places[group], end) != end:
            return group
    return -1


def first_invalid(
    player: Any,
    state: Any,
    buffer: np.ndarray,
    starts: np.ndarray,
    lengths: np.ndarray,
    scratch: np.ndarray,
) -> int:
    """The first game whose row is not a valid state; -1 if there is none."""
    for game in range(len(starts)):
        end = starts[game] + lengths[game]
        if check_flat(state, buffer, starts[game], end) != end:
            return game
        state, _ = restore(state, buffer, starts[game])
        valid = player.valid(state)
        flatten(state, scratch, 0)  # empties the histograms
        if not valid:
            return game
    return -1


def collect_models(
    player: Any,
    state: Any,
    packed: bool,
    buffer: np.ndarray,
    starts: np.ndarray,
    scratch: np.ndarray,
    found: LinearModels,
) -> int:
    """Write the model of each game into `found`."""
    for game in range(len(starts)):
        state, _ = restore(state, buffer, starts[game])
        if packed:
            state = player.from_stored(state)
        w = player.current_weights(state)
        write_model(found, game, w)
        flatten(state, scratch, 0)  # empties the histograms
    return 0
