"""Events of a filter or a learner: skipped rows that are glitches or a change, and frozen columns."""

import contextlib
import contextvars
import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.levels.alarms import CHANGE, GLITCH, Event
from holdfast.levels.frozen_columns import FrozenColumns

_UNKNOWN = (math.nan, 0.0, math.nan)  # size, low and high


class Decisions:
    """Makes events of the decisions of a filter, each once.

    Rows that were skipped are a *glitch*, told when as many others were kept as were skipped. If since the
    first of them `patience` more were skipped than kept, it is a *change*, told in that row; then nothing is
    told until as many were kept. Nothing is told of the first rows, because a filter that knows little skips.

    Parameters:
        patience: So many rows that are skipped in a row are a change, fewer are a glitch.
        on_event: Called with each `Event`.
        key: The name of the stream.
        first: Nothing is told of so many rows, and of those before one is kept.

    Guarantee: None; but there are at most as many events as rows that were skipped, and a filter's own
    guarantee limits these.

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


_MUTED = contextvars.ContextVar("muted", default=False)
About = Callable[[int], tuple[str, float, float]]  # the column, size and threshold of the i-th row


class RowEvents:
    """Makes events of rows that were kept or skipped (`Decisions`), and of their cells (`FrozenColumns`).

    With keys, the skipped rows of each key are events of their own. A key is in no list until a row of it was
    skipped, so memory does not grow with their number.

    Parameters:
        names: Of the columns in which to look for frozen cells.
        on_event: Called with each `Event`.
        patience: So many skipped rows in a row are a change, fewer are a glitch.

    >>> events = RowEvents(["a"], print)
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> X[80:90] = 7.0
    >>> events.add(np.arange(1, 101) != 50, X, about=lambda i: ("a", 9.0, 2.0))
    glitch of a in row 50: 9 where 0 to 2 was expected
    frozen of a since row 81: 7 again and again
    frozen of a in rows 81 to 90: 7 again and again
    """

    def __init__(self, names: Sequence[str], on_event: Callable[[Event], Any], patience: int = 20) -> None:
        self.on_event, self.patience, self.rows = on_event, patience, 0
        self._frozen = FrozenColumns(names, self._tell)
        self._all = Decisions(patience, self._tell)
        self._keys: dict[str, Decisions] = {}  # of those of which rows were skipped lately

    def _tell(self, event: Event) -> None:
        if not _MUTED.get():
            self.on_event(event)

    def __deepcopy__(self, memo: dict[int, Any]) -> "RowEvents":
        """A copy that tells the same receiver."""
        found = copy.copy(self)
        memo[id(self)] = found
        for name, value in vars(self).items():
            if name != "on_event":
                setattr(found, name, copy.deepcopy(value, memo))
        return found

    def name(self, names: Sequence[str]) -> None:
        """The names of the columns so far; those that had one before keep theirs."""
        self._frozen.name(names)

    def add(
        self,
        kept: NDArray[np.bool_],
        X: NDArray[np.float64] | None = None,
        about: About | None = None,
        rows: NDArray[np.int64] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        """Add rows. `rows` are their numbers; by default they are counted from 1.

        Without `X`, frozen cells are not looked for.
        """
        numbers = self.rows + 1 + np.arange(len(kept)) if rows is None else rows
        self.rows += len(kept)
        if keys is None:
            self._all.add_many(numbers, kept, about)
        else:
            self._add_keyed(numbers, kept, about, keys)
        if X is not None:
            self._frozen.add(numbers, X)

    def _add_keyed(self, rows: Any, kept: Any, about: About | None, keys: Sequence[str]) -> None:
        if kept.all() and not self._keys:
            return
        for i, key in enumerate(keys):
            if not kept[i] and key not in self._keys:
                self._keys[key] = Decisions(self.patience, self._tell, key, first=0)
            if key in self._keys:
                said = None if about is None else (lambda _, i=i: about(i))
                self._keys[key].add_many(rows[i : i + 1], kept[i : i + 1], said)
                if self._keys[key].is_over:
                    del self._keys[key]


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Tell no events inside: rows are learned again, and their events were told before."""
    token = _MUTED.set(True)
    try:
        yield
    finally:
        _MUTED.reset(token)
