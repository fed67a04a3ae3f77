"""Play a game over a whole stream."""

__all__ = ["play"]

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, cast

import numpy as np

from holdfast._compiled.compiling import WORTH_COMPILING, choose, count_interpreted
from holdfast._compiled.long_calls import deferred_interrupts, sequential_reads
from holdfast.adversaries.composed import Weighted
from holdfast.adversaries.replay import Replay, SparseReplay
from holdfast.dry_run import check_first_round, checked_extent
from holdfast.game import Columns, Counts, play_rounds
from holdfast.protocols import Adversary, Player, PlayerOptions, Weights
from holdfast.record import COLUMNS, DEFAULT, Record
from holdfast.terminal import progress_bar
from holdfast.vectors import LazyWeights, aligned_copy, values_of

_PIECE = 2_000  # rounds in Python, after which a progress bar moves
_STEPS = 100  # of a progress bar, at most
_WORTH_COPYING = 65_536  # bytes: larger arrays of a new state are not copied to aligned memory


def play(
    player: Player,
    adversary: Adversary,
    rounds: int | None = None,
    *,
    keep: Collection[str] = DEFAULT,
    after: Record | None = None,
    compiled: bool | None = None,
    in_place: bool = False,
    progress: bool = False,
) -> Record:
    """Play a game and return its record.

    Parameters:
        player: Such as `Filtered(OGD(Ball(1.0)), TopK(50))`.
        adversary: Such as `Replay(X, y, Logistic())` or `Gradients(G)`.
        rounds: The number of rounds. Default: all that the adversary has left.
        keep: The columns of the record. The default is "losses", "sizes", "thresholds" and "kept". Other
            names: "average", the mean of the w_t, which takes time but no memory; "refused_by" and
            "farthest", the check and the column for which a round was skipped; "predictions", <w_t, x_t>
            before the update, in units of the target; "products", <w_t, g_t>, and "gradients", for
            `linearised_regret` and `certificate`; "iterates", the w_t. A column takes 8 bytes a round ("kept"
            1; "sizes" and "thresholds" 8 for every check, "gradients" and "iterates" for every dimension).
            The counts are always kept.
        after: Continue that game, with the same bits as one long game. The same adversary (the same object)
            also continues; another one starts at its first round.
        compiled: Whether to compile the game. The result is the same. Default: the usual games were compiled
            with holdfast, and are played so from 10 rounds on. Others are compiled if they have 50,000 rounds
            or more, and stored on disk; a stored game is used from 500 rounds on, or from 5,000 if numba is
            not loaded. Without numba (`holdfast[compile]`) they are played in Python.
        in_place: Continue the record `after` without copying its state, for many short games. That record can
            then not be continued again.
        progress: Show a progress bar on a terminal or in a notebook: that of tqdm, or a line of text if tqdm
            is not installed. The game is played in up to 100 pieces, so that Ctrl-C also ends a compiled game
            soon. The result is the same.

    >>> import holdfast as hf
    >>> G = np.ones((100, 1))
    >>> G[50] = 1e9
    >>> record = play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(G))
    >>> record
    Record(100 rounds: 98 kept, 2 skipped, 0 of them without a finite size)
    >>> (~record.kept).nonzero()[0].tolist()
    [0, 50]
    """
    check_keep(keep, COLUMNS)
    is_new = after is None or after.player is not player
    length, dim = check_game(player, adversary, is_new)
    state, hidden, counts, position = _start(player, adversary, dim, keep, after, in_place)
    left = length - position
    count = left if rounds is None else rounds
    if not 0 <= count <= left:
        raise ValueError(f"the adversary has {left} rounds left: got rounds={rounds}")
    columns = empty_columns(count, dim, len(cast(PlayerOptions, player).check_names()), keep)
    with sequential_reads(cast(tuple[Any, ...], adversary)), _bar(count, progress) as (piece, advance):
        game = (player, adversary, state, hidden, counts)
        state, hidden, counts = _play(game, columns, position, position + count, compiled, piece, advance)
    return Record(
        **kept_columns(columns, keep),
        final=np.array(values_of(player.current_weights(state))),
        average=_sum(player.current_weights(state), counts) / max(counts.rounds, 1)
        if "average" in keep
        else None,
        rounds=counts.rounds,
        kept_count=counts.kept,
        unmeasured_count=counts.unmeasured,
        player=player,
        adversary=adversary,
        state=(state, hidden, counts, position + count),
        again=functools.partial(play, adversary=adversary, rounds=count, compiled=compiled)
        if after is None
        else None,
    )


def check_game(player: Any, adversary: Any, is_new: bool = True) -> tuple[int, int]:
    """The number of rounds and of weights. Raise if a rule cannot be used; if the player `is_new`, or if the
    adversary has code of the user.
    """
    length, dim = checked_extent(adversary)
    is_data = _is_data(adversary)
    if is_new or not is_data:
        check_first_round(player, dim, None if is_data else adversary)
    return length, dim


def check_keep(keep: Collection[str], columns: Sequence[str]) -> None:
    unknown = set(keep) - {*columns, "average"}
    if unknown:
        raise ValueError(
            f"keep takes {', '.join(columns)} and average: got {', '.join(map(repr, sorted(unknown)))}"
        )


def empty_columns(count: int, dim: int, checks: int, keep: Collection[str]) -> Columns:
    """Columns of zeros for the names in `keep`; the others have no rows."""
    rows = {name: count if name in keep else 0 for name in COLUMNS}
    wide = {name: (rows[name], dim) for name in ("gradients", "iterates")}
    wide |= {name: (rows[name], checks) for name in ("sizes", "thresholds")}
    kinds = {"kept": bool, "refused_by": np.int64, "farthest": np.int64}
    return Columns(*(np.zeros(wide.get(name, rows[name]), kinds.get(name, float)) for name in rows))


def kept_columns(columns: Columns, keep: Collection[str]) -> dict[str, np.ndarray | None]:
    """The columns by name; None if a name is not in `keep`."""
    return {name: column if name in keep else None for name, column in columns._asdict().items()}


def _start(
    player: Any, adversary: Any, dim: int, keep: Collection[str], after: Record | None, in_place: bool
) -> tuple[Any, Any, Counts, int]:
    if after is None:
        is_summed = "average" in keep
        counts = Counts(0, 0, 0, np.zeros(dim if is_summed else 0))
        return first_state(player, adversary, dim, is_summed), adversary.start(), counts, 0
    if after.player != player:
        raise ValueError(f"only its own player can continue a record: pass {after.player!r}")
    if len(after.final) != dim:
        raise ValueError(f"the record was made in {len(after.final)} dimensions, the adversary has {dim}")
    if ("average" in keep) != (after.average is not None):
        raise ValueError('the average is over all rounds: put "average" in keep in both games or in neither')
    state, hidden, counts, position = after.give_up() if in_place else aligned_copy(after.own_state())
    return (
        (state, hidden, counts, position)
        if after.adversary is adversary
        else (state, adversary.start(), counts, 0)
    )


def first_state(player: Any, adversary: Any, dim: int, is_summed: bool) -> Any:
    """The state of a player before its first round. `is_summed`: all weights are added up."""
    state = aligned_copy(player.init(dim), _WORTH_COPYING)
    return player.to_lazy(state, is_summed) if adversary.is_sparse() else state


def _is_data(adversary: Any) -> bool:
    """Whether an adversary has no code of the user: then it need not be checked."""
    inner = adversary.inner if isinstance(adversary, Weighted) else adversary
    return isinstance(inner, Replay | SparseReplay) and type(inner.loss).__module__.startswith("holdfast.")


def _sum(w: Weights, counts: Counts) -> np.ndarray:
    return w.sum() if isinstance(w, LazyWeights) else counts.summed


@contextlib.contextmanager
def _bar(count: int, shown: bool) -> Iterator[tuple[int, Callable[[int], object]]]:
    """The largest number of rounds in a piece, and a function to be called with the rounds of each piece."""
    if shown:
        with progress_bar(count, "rounds") as advance:
            yield max(count // _STEPS, _PIECE), advance
    else:
        yield count, lambda rounds: None


def _play(
    game: tuple[Any, ...],
    columns: Columns,
    first: int,
    last: int,
    compiled: bool | None,
    piece: int,
    advance: Callable[[int], object],
) -> tuple[Any, Any, Counts]:
    """Play rounds first, ..., last - 1: in Python, and compiled as soon as that is better."""
    player, adversary, state, hidden, counts = game
    start = first
    while True:
        args = (player, adversary, state, hidden, counts, _from(columns, start - first), start)
        left = last - start
        if choose("call", play_rounds, (*args, last), left, counts.rounds) if compiled is None else compiled:
            from holdfast._compiled import call, prepare

            stop = start + min(piece, left)
            if start == first and (compiled or left >= WORTH_COMPILING):
                prepare(play_rounds, *args, stop)  # may take a minute, and can be interrupted
            with deferred_interrupts():
                state, hidden, counts = call(play_rounds, *args, stop)
        else:
            stop = start + min(piece, left, left if compiled is False else _PIECE)
            with np.errstate(all="ignore"):
                state, hidden, counts = play_rounds(*args, stop)
            count_interpreted(stop - start)
        advance(stop - start)
        if stop == last:
            return state, hidden, counts
        start = stop


def _from(columns: Columns, row: int) -> Columns:
    """The columns without their first rows."""
    return Columns(*(column[row:] for column in columns)) if row > 0 else columns
