"""Whether the rounds of a run are compiled, and by which process."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow.compute as pc

from holdfast._compiled import background
from holdfast._compiled.cache_folder import is_empty
from holdfast._compiled.compiling import WORTH_COMPILING
from holdfast.fleet.games import Games
from holdfast.fleet.grouped_rounds import play_groups
from holdfast.io.sources import Piece

_COMPILING = 0.5  # seconds to wait for the compiler after so many rounds in Python
_MANY_KEYS = 1_000  # in one piece; with more, the game is compiled
_WORTH_LOADING = 8_000  # rounds; in Python they take longer than to load numba


class CompileChoice:
    """Compile the games if there are many rounds, or if the disk cache has the compiled game."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self.compiled = False
        self.expected = 0  # rounds of the whole run, about
        self.in_background = True  # whether another process may compile
        self._looked_up = False
        self._compilation: tuple[Any, ...] | None = None  # the arguments for which another process compiles

    def decide(self, piece: Piece, rounds: int, note: Callable[[str], object]) -> None:
        """Decide before a piece is played, after so many rounds; say if something is compiled."""
        if self.compiled:
            return
        rounds = max(self.expected, rounds + len(piece.y))
        many = rounds >= WORTH_COMPILING
        many |= piece.keys is not None and pc.count_distinct(piece.keys).as_py() > _MANY_KEYS
        if not many and (rounds < _WORTH_LOADING or self._looked_up):
            return
        if self._compilation is None:
            row = piece.features.part(0, 1)
            args = self._games.example(row if self._games.scaled else row.with_constant(), np.ones(1))
            stored, self._looked_up = _is_stored(args), True
            elsewhere = many and not stored and self.in_background and background.is_possible(args)
            self.compiled = stored or (many and not elsewhere)
            self._compilation = args if elsewhere else None
            if many and not stored:
                meanwhile = "; until then rounds are played in Python" if elsewhere else ""
                what = "compiling for this learner and these filters, once on this machine"
                note(f"{what}: up to a minute{meanwhile} ...")

    def take(self) -> None:
        """Let another process compile, so that this one needs less memory. Meanwhile play few rounds."""
        if self._compilation is None:
            return
        if background.compile_soon("call", play_groups, self._compilation):
            self.compiled, self._compilation = True, None  # if the other process failed, compile here
        else:
            background.wait(_COMPILING)


def _is_stored(args: tuple[Any, ...]) -> bool:
    """Whether the disk cache has the compiled games for these arguments. If it is empty, numba is not loaded:
    while another process compiles, this one needs 60 MB less.
    """
    if is_empty():
        return False
    from holdfast._compiled import is_stored

    return is_stored(play_groups, *args)
