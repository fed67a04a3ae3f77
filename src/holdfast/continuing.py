"""Go on with a game, call after call, for estimators that learn from some rows at a time.

A compiled game leaves its state in native memory between the calls. To convert a state of the guarded learner
for one call of machine code, and back, takes longer than a thousand rounds.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from holdfast._compiled import prebuilt, programs
from holdfast._compiled.argument_types import BoundState, signature
from holdfast._compiled.compiling import choose, count_interpreted
from holdfast.dry_run import check_restored
from holdfast.game import Columns, Counts, play_rounds
from holdfast.play import check_game, empty_columns, first_state
from holdfast.vectors import aligned_copy, assign, values_of

Batch = tuple[Any, Columns, int, bool]  # an adversary, columns, the number of rounds; whether a batch begins
_PATIENCE = 500  # rounds after which to look again for a compiled game


def play_batch(state: Any, player: Any, w: np.ndarray, batch: Batch) -> tuple[Any, tuple[int, int]]:
    """Play all rounds of an adversary, and write the weights to w. `bind_state` needs this order.

    `begins`: they are the first rounds of a batch, all of which is predicted before it is learned from.
    """
    adversary, columns, rounds, begins = batch
    if begins:
        state = player.start_batch(state)
    counts = Counts(0, 0, 0, np.zeros(0))
    hidden = adversary.start()
    state, hidden, counts = play_rounds(player, adversary, state, hidden, counts, columns, 0, rounds)
    assign(w, values_of(player.current_weights(state)))
    return state, (counts.kept, counts.unmeasured)


class Game:
    """A game that goes on: the state of its player, and the counts of all rounds so far.

    Parameters:
        player (a player): What plays.
        adversary (an adversary): For the checks at the start, and for the type of its rows. No round is
            played.

    Attributes:
        rounds, kept_count, unmeasured_count: As in `holdfast.play.Record`.
        is_native: Whether the game is compiled, and its state in native memory from the first round on.
    """

    def __init__(self, player: Any, adversary: Any) -> None:
        dim = check_game(player, adversary)[1]
        self.player, self.rounds, self.kept_count, self.unmeasured_count = player, 0, 0, 0
        self._state, self._w = first_state(player, adversary, dim, False), aligned_copy(np.zeros(dim))
        batch = adversary, empty_columns(0, dim, len(player.check_names()), ()), 0, True
        self._program = prebuilt.find(play_batch, (self._state, player, self._w, batch))
        self.is_native = self._program is not None
        self._native: BoundState | None = None  # the state in native memory
        self._kind: Any = signature(adversary)  # the type of its adversary
        self._of_one_row: tuple[Any, Columns] | None = None
        self._next_look = 0  # at which round to look for a compiled game

    @property
    def state(self) -> Any:
        """The state of the player."""
        if self._native is not None:
            return self._native.first()
        if self._state is None:
            raise ValueError("this game was interrupted: play again from the start")
        return self._state

    def copy(self) -> "Game":
        """A game that goes on by itself."""
        other = object.__new__(Game)
        state, w = aligned_copy(self.state), aligned_copy(self._w)
        vars(other).update(vars(self), _state=state, _w=w, _native=None, _of_one_row=None)
        return other

    def __getstate__(self) -> dict[str, Any]:
        left_out = dict.fromkeys(("_program", "_native", "_of_one_row"))
        return vars(self) | left_out | {"is_native": False, "_next_look": 0, "_state": self.state}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        if stored["_state"] is not None:
            check_restored(stored["player"], stored["_state"])
        vars(self).update(stored)

    def set_player(self, player: Any) -> None:
        """Go on with another player, which must have the same states."""
        if player is not self.player and player != self.player:
            self._state, self._native, self.is_native = self.state, None, False
            self.player, self._next_look, self._program = player, 0, None

    def set_state(self, state: Any, dim: int) -> None:
        """Go on from another state of the player, with `dim` columns."""
        self._state, self._w = aligned_copy(state), aligned_copy(np.zeros(dim))
        self._native, self.is_native, self._next_look, self._program = None, False, 0, None

    def play(self, adversary: Any, keep: Collection[str], begins: bool = True) -> Columns:
        """Play all rounds of an adversary: compiled, if that is on disk or in memory. Returns the columns.

        `begins`: a batch begins with them (`PlayerOptions.start_batch`).
        """
        rounds, dim = adversary.extent()
        columns = self._empty_columns(rounds, dim, keep)
        batch = adversary, columns, rounds, begins
        kind = signature(adversary)
        is_for_a_kind = self._program is not None or isinstance(self._native, programs.State)
        if is_for_a_kind and kind != self._kind:
            self.set_state(self.state, len(self._w))  # other rows: look again for machine code
        if self.is_native or self._is_compiled(batch):
            kept, unmeasured = self._play_native(batch, kind)
        else:
            kept, unmeasured = self._play_in_python(batch)
        self.rounds += rounds
        self.kept_count += kept
        self.unmeasured_count += unmeasured
        return _copied(columns) if rounds == 1 else columns

    def _empty_columns(self, rounds: int, dim: int, keep: Collection[str]) -> Columns:
        """Columns of zeros. Those of one row are used again: to make and to describe them takes 20 us."""
        checks = len(self.player.check_names())
        if rounds != 1:
            return empty_columns(rounds, dim, checks, keep)
        if self._of_one_row is None or self._of_one_row[0] != (dim, checks, keep):
            self._of_one_row = (dim, checks, keep), empty_columns(1, dim, checks, keep)
        columns = self._of_one_row[1]
        for column in columns:
            if column.size:
                column.fill(0)
        return columns

    def _is_compiled(self, batch: Batch) -> bool:
        if self.rounds + batch[2] < self._next_look:
            return False
        args = self.state, self.player, self._w, batch
        self.is_native = choose("state", play_batch, args, batch[2], self.rounds)
        self._next_look = self.rounds + _PATIENCE
        return self.is_native

    def _play_native(self, batch: Batch, kind: Any) -> tuple[int, int]:
        if self._native is None or kind is None or kind != self._kind:
            args = self.state, self.player, self._w, batch
            self._native = self._bound(args)
            self._kind, self._state = kind, None
        return self._native(batch)

    def _bound(self, args: Any) -> BoundState:
        """The function of a batch, with these values: from the package, else loaded or compiled."""
        if self._program is not None:
            return self._program.bind(args)
        from holdfast._compiled import bind_state

        return bind_state(play_batch, *args)

    def _play_in_python(self, batch: Batch) -> tuple[int, int]:
        state, self._state = self.state, None  # if this is interrupted, there is none
        with np.errstate(all="ignore"):
            self._state, counts = play_batch(state, self.player, self._w, batch)
        count_interpreted(batch[2])
        return counts


def _copied(columns: Columns) -> Columns:
    return Columns(*[column.copy() if column.size else column for column in columns])
