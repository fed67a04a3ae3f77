"""Events of a filter: from which rows it kept, which are glitches and which are a change."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.levels.alarms import CHANGE, GLITCH, Event

_UNKNOWN = (math.nan, 0.0, math.nan)  # size, low and high


class Decisions:
    """Makes events of the decisions of a filter, each once.

    Rows that were skipped are a *glitch*, told when as many others were kept as were skipped. If since the
    first of them `patience` more were skipped than kept, it is a *change*, told in that row; then nothing is
    told until as many were kept. Nothing is told of the first rows, because a filter that knows little skips.

    Parameters
    ----------
    patience
        So many rows that are skipped in a row are a change, fewer are a glitch.
    on_event
        Called with each `Event`.
    key
        The name of the stream.
    first
        Nothing is told of so many rows, and of those before one is kept.

    Guarantee
    ---------
    None; but there are at most as many events as rows that were skipped, and a filter's own guarantee limits
    these.

    Examples
    --------
    >>> decisions = Decisions(patience=3, on_event=print, first=0)
    >>> for row, kept in enumerate([False, True, False, True, False, False, False, False], start=1):
    ...     decisions.add(row, kept, size=9.0, threshold=2.0)
    glitch in row 1: 9 where 0 to 2 was expected
    glitch in row 3: 9 where 0 to 2 was expected
    change since row 5, sure in row 7: 9 where 0 to 2 was expected
    """

    def __init__(
        self,
        patience: int = 20,
        on_event: Callable[[Event], Any] = print,
        key: str = "",
        first: int = 32,
    ) -> None:
        if patience < 2:
            raise ValueError(f"patience counts skipped rows, at least 2: got {patience}")
        self.patience, self.on_event, self.key = patience, on_event, key
        self._left = first  # rows of which nothing is told
        self._begun = first == 0  # whether one was kept, after these
        self._told = False  # whether a change was told
        self._odd = 0  # how many more were skipped than kept
        self._first: tuple[Any, ...] = ()  # row, key, size, low, high of the first that was skipped
        self._last = 0  # the last row that was skipped

    def add(self, row: int, kept: bool, size: float = math.nan, threshold: float = math.nan) -> None:
        """Add a row."""
        self._add(row, bool(kept), (self.key, size, 0.0, threshold))

    def add_many(
        self,
        rows: NDArray[np.int64],
        kept: NDArray[np.bool_],
        about: Callable[[int], tuple[str, float, float]] | None = None,
    ) -> None:
        """Add rows. `about` says of the i-th which column was odd, its size and its threshold."""
        i, skipped = 0, np.flatnonzero(~kept)
        while not self._begun and i < len(kept):
            self._add(int(rows[i]), bool(kept[i]), ())
            i += 1
        while i < len(kept):
            if self._odd == 0:  # go to the next that was skipped
                place = int(np.searchsorted(skipped, i))
                if place == len(skipped):
                    return
                i = int(skipped[place])
            known = ("", *_UNKNOWN)
            if self._odd == 0:
                column, size, threshold = ("", math.nan, math.nan) if about is None else about(i)
                known = (", ".join(filter(None, (self.key, column))), size, 0.0, threshold)
            self._add(int(rows[i]), bool(kept[i]), known)
            i += 1

    def _add(self, row: int, kept: bool, about: tuple[Any, ...]) -> None:
        if not self._begun:
            self._left = max(self._left - 1, 0)
            self._begun = kept and self._left == 0
            return
        if kept and self._odd == 0:
            return
        if kept:
            self._odd -= 1
            if self._odd == 0:
                self._end()
            return
        if self._odd == 0:
            self._first = (row, *about)
        self._odd, self._last = min(self._odd + 1, self.patience), row
        if self._odd == self.patience and not self._told:
            self._told = True
            self._tell(CHANGE)

    @property
    def is_over(self) -> bool:
        """Whether nothing is open."""
        return self._odd == 0

    def _end(self) -> None:
        if not self._told:
            self._tell(GLITCH)
        self._told = False

    def _tell(self, kind: str) -> None:
        begin, key, size, low, high = self._first
        self.on_event(Event(kind, begin, self._last, size, low, high, key))
