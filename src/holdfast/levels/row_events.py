"""Events of a learner: rows that it skipped, and columns that are frozen."""

import contextlib
import contextvars
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.levels.alarms import Event
from holdfast.levels.decisions import Decisions
from holdfast.levels.frozen_columns import FrozenColumns

_MUTED = contextvars.ContextVar("muted", default=False)
About = Callable[[int], tuple[str, float, float]]  # the column, size and threshold of the i-th row


class RowEvents:
    """Makes events of rows that were kept or skipped (`Decisions`), and of their cells (`FrozenColumns`).

    With keys, the skipped rows of each key are events of their own. A key is in no list until a row of it was
    skipped, so memory does not grow with their number.

    Parameters
    ----------
    names
        Of the columns in which to look for frozen cells.
    on_event
        Called with each `Event`.
    patience
        So many skipped rows in a row are a change, fewer are a glitch.

    Examples
    --------
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
