"""Whether the rounds of a run are compiled."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow.compute as pc

from holdfast._compiled import prebuilt
from holdfast._compiled.calls import can_compile, prepare
from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast._compiled.disk_cache import is_empty
from holdfast.fleet.games import Games
from holdfast.fleet.grouped_rounds import play_groups
from holdfast.io.sources import Piece

_MANY_KEYS = 1_000  # in one piece; with more, the game is compiled
_WORTH_LOADING = 4_000  # rounds; in Python they take longer than to load a game


class CompileChoice:
    """Compile the games if they came with the package, are on disk, or have many rounds."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self.compiled = False
        self.expected = 0  # rounds of the whole run, about
        self.seconds = 0.0  # of the compiler, which are not those of learning
        self._looked_up = False  # whether it was looked for on disk
        self._args: tuple[Any, ...] | None = None  # for which it is compiled

    def decide(self, piece: Piece, rounds: int, note: Callable[[str], object]) -> None:
        """Decide before a piece is played, after so many rounds; say if something is compiled."""
        if self.compiled or len(piece.y) == 0:
            return
        rounds = max(self.expected, rounds + len(piece.y))
        many = rounds >= WORTH_COMPILING
        many |= piece.keys is not None and pc.count_distinct(piece.keys).as_py() > _MANY_KEYS
        if self._args is None:
            row = piece.features.part(0, 1)
            self._args = self._games.example(row if self._games.scaled else row.with_constant(), np.ones(1))
            self.compiled = prebuilt.find(play_groups, self._args) is not None
        is_worth_a_look = many or (rounds >= _WORTH_LOADING and not self._looked_up)
        if self.compiled or not is_worth_a_look or not can_compile(many):
            return
        stored, self._looked_up = _is_stored(self._args), True
        self.compiled = stored or many
        if many and not stored:
            note("compiling for this learner and these filters, once on this machine: up to a minute ...")
            begun = time.monotonic()
            prepare(play_groups, *self._args)
            self.seconds += time.monotonic() - begun


def _is_stored(args: tuple[Any, ...]) -> bool:
    if is_empty():
        return False
    from holdfast._compiled import is_stored

    return is_stored("call", play_groups, args)
