"""Play a separate game for each key of a stream."""

__all__ = ["KeyedRecord", "play_many"]

import itertools
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.compiling import WORTH_COMPILING
from holdfast.dry_run import check_first_round, checked_extent
from holdfast.game import Counts, play_round
from holdfast.play import check_keep, empty_columns, kept_columns
from holdfast.record import GUARD
from holdfast.vectors import aligned_copy, assign, length, values_of

_PREFETCH = 6  # how many rounds before its use a row is prefetched from memory
_COLUMNS = ("losses", "sizes", "thresholds", "kept", "predictions")
_PARTS_PER_WORKER = 8  # small parts, so that no worker waits long for another


@dataclass(frozen=True, eq=False)
class KeyedRecord:
    """The result for each key, in the order of `keys`, and for each round, in the order of the stream.

    Attributes
    ----------
    keys : array
        Each key once, sorted.
    finals : array of shape (keys, dim)
        The weights of each key after its last round.
    averages : array of shape (keys, dim), or None
        The mean of the weights of each key over its rounds.
    rounds, kept_counts, unmeasured_counts : int arrays
        For each key: the number of rounds, of kept rounds, and of rounds without a finite size.
    losses, sizes, thresholds, kept, predictions : arrays, or None
    feature_sizes, feature_thresholds, target_sizes, target_thresholds, farthest : arrays, or None
        One entry a round of the stream, as in `Record`.
    """

    keys: np.ndarray
    finals: np.ndarray
    averages: np.ndarray | None
    rounds: np.ndarray
    kept_counts: np.ndarray
    unmeasured_counts: np.ndarray
    losses: np.ndarray | None
    sizes: np.ndarray | None
    thresholds: np.ndarray | None
    kept: np.ndarray | None
    predictions: np.ndarray | None
    feature_sizes: np.ndarray | None
    feature_thresholds: np.ndarray | None
    target_sizes: np.ndarray | None
    target_thresholds: np.ndarray | None
    farthest: np.ndarray | None
    player: Any = field(repr=False)

    def __repr__(self):
        kept, rounds = int(self.kept_counts.sum()), int(self.rounds.sum())
        counts = f"{rounds:,} rounds: {kept:,} kept, {rounds - kept:,} skipped"
        return f"KeyedRecord({len(self.keys):,} keys, {counts})"

    def to_pandas(self):
        """A data frame with one row for each key."""
        import pandas as pd

        counts = {"rounds": self.rounds, "kept": self.kept_counts, "unmeasured": self.unmeasured_counts}
        return pd.DataFrame(counts, index=pd.Index(self.keys, name="key"))


def play_many(
    player, adversary, keys, *, keep=("losses", "sizes", "thresholds", "kept"), workers=None, compiled=None
):
    """Play a separate game for each key, such as a sensor or a user.

    Each game plays the rounds of one key in the order of the stream, with the same bits as `play` on these
    rounds alone. The keys are divided among threads. Compiled games run in parallel.

    Parameters
    ----------
    player : a player
        Such as `Filtered(OGD(Ball(1.0)), TopK(5))`. Every key starts with its first state.
    adversary : an adversary
        Such as `Replay(X, y, Logistic())`, whose rounds do not depend on each other.
    keys : array-like of shape (rounds,)
        The key of each round: whole numbers, strings, or other values that can be sorted.
    keep : names of columns
        Any of "losses", "sizes", "thresholds", "kept", "predictions" and "guard", for each round, as in
        `play`; and "average", for each key.
    workers : int, optional
        The number of threads. Default: one for each core that this process may use.
    compiled : bool, optional
        Whether to compile. The result is the same. Default: compile from 50,000 rounds on.

    Examples
    --------
    >>> import holdfast as hf
    >>> replay = hf.Replay([[1.0], [1.0], [1.0], [1e9]], [1, -1, 1, -1], hf.Hinge())
    >>> record = hf.play_many(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), replay, ["a", "b", "a", "b"])
    >>> record
    KeyedRecord(2 keys, 4 rounds: 1 kept, 3 skipped)
    >>> record.keys.tolist(), record.finals.tolist(), record.kept.tolist()
    (['a', 'b'], [[1.0], [0.0]], [False, False, True, False])
    """
    check_keep(keep, _COLUMNS)
    rounds, dim = checked_extent(adversary)
    if adversary.is_sparse() and "average" in keep:
        raise ValueError("sparse rows have no average for each key: leave it out of keep")
    check_first_round(player, dim, adversary)
    compiled = rounds >= WORTH_COMPILING if compiled is None else compiled
    call = caller(compiled)
    workers = cores() if workers is None else workers
    if workers < 1:
        raise ValueError(f"workers counts threads, at least 1: got {workers}")
    from concurrent.futures import ThreadPoolExecutor  # imported here, because it loads `logging`

    columns = empty_columns(rounds, dim, keep)
    with ThreadPoolExecutor(workers if compiled else 1) as pool:
        names, starts, order = group_rounds(keys, rounds, call, pool.map, workers if compiled else 1)
        finals = np.zeros((len(names), dim))
        sums = np.zeros((len(names), dim if "average" in keep else 0))
        counts = np.zeros((len(names), 3), np.int64)

        def play_part(part):
            state = aligned_copy(player.init(dim))
            state = player.to_lazy(state, False) if adversary.is_sparse() else state
            call(play_keys, player, adversary, state, columns, order, starts, *part, finals, sums, counts)

        list(pool.map(play_part, evenly(starts, workers * _PARTS_PER_WORKER)))
    kept = kept_columns(columns, keep)
    return KeyedRecord(
        keys=names,
        finals=finals,
        averages=sums / np.maximum(counts[:, :1], 1) if "average" in keep else None,
        rounds=counts[:, 0],
        kept_counts=counts[:, 1],
        unmeasured_counts=counts[:, 2],
        player=player,
        **{name: kept[name] for name in (*_COLUMNS, *GUARD)},
    )


def play_keys(player, adversary, state, columns, order, starts, first, last, finals, sums, counts):
    """Play the games of keys first, ..., last - 1, one after the other."""
    for key in range(first, last):
        state = player.reset(state, length(player.predict(state)))
        hidden, tally = adversary.start(), Counts(0, 0, 0, sums[key])
        for i in range(starts[key], starts[key + 1]):
            t = order[i]
            if i + _PREFETCH < len(order):
                adversary.expect(order[i + _PREFETCH])
            state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t)
        assign(finals[key], values_of(player.current_weights(state)))
        counts[key, 0], counts[key, 1], counts[key, 2] = tally.rounds, tally.kept, tally.unmeasured
    return 0


def group_rounds(keys, rounds, call, parallel_map=map, parts=1):
    """The different keys, sorted, and the rounds of each: order[starts[j]:starts[j + 1]] for key j.

    `parallel_map` divides the rounds into this number of parts and works on them at the same time.
    """
    keys = np.asarray(keys)
    if keys.shape != (rounds,):
        raise ValueError(f"keys must have one key for each of the {rounds} rounds: got shape {keys.shape}")
    if keys.dtype.kind in "iu" and rounds > 0 and int(keys.max()) - int(keys.min()) <= 4 * rounds:
        low = keys.min()  # whole numbers in a narrow range need not be sorted
        names = np.arange(int(keys.max()) - int(low) + 1).astype(keys.dtype) + low
        codes = (keys - low).view(f"u{keys.itemsize}")  # unsigned, so that a difference that wraps is right
    else:
        try:
            names, codes = np.unique(keys, return_inverse=True)
        except TypeError:
            raise TypeError("keys must be all numbers or all text, so that they can be sorted") from None
    parts = parts if parts * len(names) <= rounds else 1
    cuts = np.linspace(0, rounds, parts + 1).astype(np.int64)
    counts, order = np.zeros((parts, len(names)), np.int64), np.empty(rounds, np.int64)

    def on_parts(function, arguments):
        list(parallel_map(lambda i: call(function, codes, cuts[i], cuts[i + 1], *arguments(i)), range(parts)))

    on_parts(count_rounds, lambda i: (counts[i],))
    found, starts = counts.any(axis=0), np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts  # where each part puts its first round of a key
    on_parts(place_rounds, lambda i: (places[i], order))
    return names[found], np.append(starts[:-1][found], rounds), order


def count_rounds(codes, first, last, counts):
    """Count the rounds first, ..., last - 1 of each key."""
    for t in range(first, last):
        counts[codes[t]] += 1
    return 0


def place_rounds(codes, first, last, places, order):
    """Write each of these rounds into `order`, after the earlier rounds of its key."""
    for t in range(first, last):
        order[places[codes[t]]] = t
        places[codes[t]] += 1
    return 0


def evenly(starts, count):
    """Divide the keys into `count` ranges with about the same number of rounds each."""
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], count + 1))
    cuts = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def caller(compiled):
    """A function that calls another one, compiled or in Python."""
    if compiled:
        from holdfast._compiled import call

        return call
    return _plain_call


@np.errstate(all="ignore")
def _plain_call(function, *args):
    return function(*args)
