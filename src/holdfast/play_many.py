"""Play a separate game for each key of a stream."""

__all__ = ["KeyedRecord", "play_many"]

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast._compiled.calls import can_compile
from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast.dry_run import check_first_round, checked_extent
from holdfast.fleet.grouped_rounds import caller, cores, evenly, group_rounds
from holdfast.game import Counts, play_round
from holdfast.play import check_keep, empty_columns, kept_columns
from holdfast.record import VERDICTS
from holdfast.vectors import aligned_copy, assign, length, values_of

_PREFETCH = 6  # how many rounds before its use a row is prefetched from memory
_COLUMNS = ("losses", *VERDICTS, "predictions")
_PARTS_PER_WORKER = 8  # small parts, so that no worker waits long for another


@dataclass(frozen=True, eq=False)
class KeyedRecord:
    """The result for each key, in the order of `keys`, and for each round, in the order of the stream.

    Attributes:
        keys (array): Each key once, sorted.
        finals (array of shape (keys, dim)): The weights of each key after its last round.
        averages (array of shape (keys, dim), or None): The mean of the weights of each key over its rounds.
        rounds, kept_counts, unmeasured_counts (int arrays): For each key: the number of rounds, of kept
            rounds, and of rounds without a finite size.
        losses, sizes, thresholds, kept, refused_by, farthest, predictions (arrays, or None): One entry a
            round of the stream, as in `Record`.
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
    refused_by: np.ndarray | None
    farthest: np.ndarray | None
    predictions: np.ndarray | None
    player: Any = field(repr=False)

    def __repr__(self) -> str:
        kept, rounds = int(self.kept_counts.sum()), int(self.rounds.sum())
        counts = f"{rounds:,} rounds: {kept:,} kept, {rounds - kept:,} skipped"
        return f"KeyedRecord({len(self.keys):,} keys, {counts})"

    def to_pandas(self) -> Any:
        """A data frame with one row for each key."""
        import pandas as pd

        counts = {"rounds": self.rounds, "kept": self.kept_counts, "unmeasured": self.unmeasured_counts}
        return pd.DataFrame(counts, index=pd.Index(self.keys, name="key"))


def play_many(
    player: Any,
    adversary: Any,
    keys: Any,
    *,
    keep: Collection[str] = ("losses", "sizes", "thresholds", "kept"),
    workers: int | None = None,
    compiled: bool | None = None,
) -> KeyedRecord:
    """Play a separate game for each key, such as a sensor or a user.

    Each game plays the rounds of one key in the order of the stream, with the same bits as `play` on these
    rounds alone. The keys are divided among threads. Compiled games run in parallel.

    Parameters:
        player: Such as `Filtered(OGD(Ball(1.0)), TopK(5))`. Every key starts with its first state.
        adversary: Such as `Replay(X, y, Logistic())`, whose rounds do not depend on each other.
        keys (array-like of shape (rounds,)): The key of each round: whole numbers, strings, or other values
            that can be sorted.
        keep (names of columns): Any of "losses", "sizes", "thresholds", "kept", "refused_by", "farthest" and
            "predictions", for each round, as in `play`; and "average", for each key.
        workers: The number of threads. Default: one for each core that this process may use.
        compiled: Whether to compile. The result is the same. Default: compile from 50,000 rounds on, if numba
            is installed (`holdfast[compile]`).

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
    is_long = rounds >= WORTH_COMPILING
    compiled = is_long and can_compile(is_long) if compiled is None else compiled
    of_round = np.asarray(keys)
    if of_round.shape != (rounds,):
        raise ValueError(
            f"keys must have one key for each of the {rounds} rounds: got shape {of_round.shape}"
        )
    call = caller(compiled)
    workers = cores() if workers is None else workers
    if workers < 1:
        raise ValueError(f"workers counts threads, at least 1: got {workers}")
    from concurrent.futures import ThreadPoolExecutor  # imported here, because it loads `logging`

    columns = empty_columns(rounds, dim, len(player.check_names()), keep)
    with ThreadPoolExecutor(workers if compiled else 1) as pool:
        names, order, starts = group_rounds(of_round, call, pool.map, workers if compiled else 1)
        finals = np.zeros((len(names), dim))
        sums = np.zeros((len(names), dim if "average" in keep else 0))
        counts = np.zeros((len(names), 3), np.int64)

        def play_part(part: tuple[int, int]) -> None:
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
        **{name: kept[name] for name in _COLUMNS},
    )


def play_keys(
    player: Any,
    adversary: Any,
    state: Any,
    columns: Any,
    order: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    finals: np.ndarray,
    sums: np.ndarray,
    counts: np.ndarray,
) -> int:
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
