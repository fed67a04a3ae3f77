"""Is a stream frozen, and which columns of a table are: the same value came too often in a row for them."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.levels.alarms import FROZEN, Event
from holdfast.norms import HUGE
from holdfast.rule import rule

_LEAST = 5  # equal values: fewer are never called frozen
_KNOWN = 20  # changes of the value, before anything is called frozen


class RepeatsState(NamedTuple):
    """What is known of runs of equal values."""

    last: float  # value
    same: float  # how often it came in a row
    changes: float  # how often a value was another than that before it
    repeats: float  # how often it was the same, in runs that have ended
    longest: float  # run that has ended


@rule
class Repeats:
    """The last value has come so often in a row that this happens with probability `chance`² at most.

    If values repeat independently with the share p of the past, n more of the same have probability p^n. And
    the run must be twice as long as any before it: so a stream whose values do not repeat independently, such
    as rain, gives few alarms, at most log2(T) in T rows beyond those that are likely.

    Parameters:
        chance: A probability. It is squared, because every row is the start of a run.

    Guarantee: None but the number of alarms above.

    >>> repeats = Repeats()
    >>> state = repeats.begin()
    >>> for value in [1.0, 2.0, 3.0] * 20 + [7.0] * 5:
    ...     state, frozen = repeats.follow(state, value)
    >>> state.same, frozen
    (5.0, True)
    """

    chance: float = 1e-3

    def check(self) -> None:
        if not 0.0 < self.chance < 1.0:
            raise ValueError(f"chance is a probability: expected 0 < chance < 1, got {self.chance}")

    def begin(self) -> RepeatsState:
        """The state before the first value."""
        return RepeatsState(math.nan, 0.0, 0.0, 0.0, 0.0)

    def valid(self, state: RepeatsState) -> bool:
        """Whether values can lead to this state."""
        return min(state.same, state.changes, state.repeats, state.longest) >= 0.0

    def follow(self, state: RepeatsState, value: float) -> tuple[RepeatsState, bool]:
        """The state after a value, and whether the stream is frozen."""
        last, same, changes, repeats, longest = state
        if value != last:
            repeats += max(same - 1.0, 0.0)
            return RepeatsState(value, 1.0, changes + 1.0, repeats, max(longest, same)), False
        state = RepeatsState(last, same + 1.0, changes, repeats, longest)
        return state, self.is_frozen(state, same + 1.0)

    def is_frozen(self, state: RepeatsState, same: float) -> bool:
        """Whether a run of so many is frozen, after what has ended before it."""
        return same >= 2.0 * state.longest and self.is_unlikely(state, same)

    def is_unlikely(self, state: RepeatsState, same: float) -> bool:
        """The same, however long runs were before."""
        if state.changes < _KNOWN or same < _LEAST:
            return False
        share = (state.repeats + 1.0) / (state.repeats + state.changes + 2.0)
        return (same - 1.0) * math.log(share) <= 2.0 * math.log(self.chance)

    def first_frozen(self, state: RepeatsState, least: float, most: float) -> float:
        """The first length, from `least` to `most`, at which a run is frozen; 0 if there is none."""
        if not self.is_frozen(state, most):
            return 0.0
        while least < most:  # once it is frozen, it stays so
            middle = math.floor(0.5 * (least + most))
            if self.is_frozen(state, middle):
                most = middle
            else:
                least = middle + 1.0
        return most


_FEW = 16  # rows, for which a loop takes no longer


class FrozenColumns:
    """Tells when a column of a table begins to be frozen, as `Repeats` says, and when that ends.

    Cells that are not finite are in no run of equal ones.

    Parameters:
        names: Of the columns; each is the `key` of its events.
        on_event: Called with each `Event`.

    >>> frozen = FrozenColumns(["a", "b"], print)
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[150:170, 1] = 7.0
    >>> frozen.add(np.arange(1, 201), X)
    frozen of b since row 151: 7 again and again
    frozen of b in rows 151 to 170: 7 again and again
    """

    def __init__(self, names: Sequence[str], on_event: Callable[[Event], Any] = print) -> None:
        self.names, self.on_event, self.repeats = [str(name) for name in names], on_event, Repeats()
        self._states = [self.repeats.begin() for _ in self.names]
        self._since = [0] * len(self.names)  # the first row of the run
        self._open = [0] * len(self.names)  # the last row of a run that was told; 0 if it was not

    def add(self, rows: NDArray[np.int64], X: NDArray[np.float64]) -> None:
        """Add rows of the table, with their numbers."""
        found: list[tuple[int, Event]] = []
        for j in range(len(self.names)):
            fine = np.abs(X[:, j]) < HUGE
            if fine.any():
                look = self._one_by_one if len(X) <= _FEW else self._by_runs
                look(j, rows[fine], X[fine, j], found)
        for _, event in sorted(found, key=lambda each: each[0]):
            self.on_event(event)

    def name(self, names: Sequence[str]) -> None:
        """The names of the columns so far; those that had one before keep theirs."""
        for name in names[len(self.names) :]:
            self.names.append(name)
            self._states.append(self.repeats.begin())
            self._since.append(0)
            self._open.append(0)

    def _one_by_one(self, j: int, rows: Any, values: Any, found: list[tuple[int, Event]]) -> None:
        state = self._states[j]
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            state, frozen = self.repeats.follow(before := state, value)
            if state.same == 1.0:
                self._end(j, row, before.last, found)
                self._since[j] = row
            elif frozen:
                self._begin(j, row, value, found)
        self._states[j] = state

    def _by_runs(self, j: int, rows: Any, values: Any, found: list[tuple[int, Event]]) -> None:
        """The same, with a look at long runs only."""
        last, same, changes, repeats, longest = self._states[j]
        starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        lengths = np.diff(np.append(starts, len(values))).astype(float)
        goes_on = float(values[0]) == last
        if goes_on:
            lengths[0] += same
        else:  # the run before has ended
            self._end(j, int(rows[0]), last, found)
            changes, repeats, longest = changes + 1.0, repeats + max(same - 1.0, 0.0), max(longest, same)
            self._since[j] = int(rows[0])
        counts = changes + np.arange(len(starts))  # in each run
        repeated = repeats + np.concatenate([[0.0], np.cumsum(lengths[:-1] - 1.0)])
        most = np.maximum.accumulate(np.concatenate([[longest], lengths[:-1]]))
        long = lengths >= np.maximum(_LEAST, 2.0 * most)
        look = np.flatnonzero(long)
        for i in sorted({*look.tolist(), *([0] if self._open[j] else [])}):
            first = int(starts[i])
            before = lengths[i] - (len(values) if i == len(starts) - 1 else starts[i + 1]) + first
            if not (i == 0 and goes_on):
                self._since[j] = int(rows[first])
            state = RepeatsState(float(values[first]), 0.0, counts[i], repeated[i], most[i])
            end = int(starts[i + 1]) if i + 1 < len(starts) else len(values)
            n = self.repeats.first_frozen(state, max(before + 1.0, 1.0), lengths[i])
            if n > 0.0:
                self._begin(j, int(rows[first + int(n - before) - 1]), state.last, found)
            if self._open[j]:
                self._open[j] = int(rows[end - 1])
            if end < len(values):
                self._end(j, int(rows[end]), state.last, found)
        if len(starts) > 1:
            self._since[j] = int(rows[starts[-1]])
        self._states[j] = RepeatsState(
            float(values[-1]), float(lengths[-1]), float(counts[-1]), float(repeated[-1]), float(most[-1])
        )

    def _begin(self, j: int, row: int, value: float, found: list[tuple[int, Event]]) -> None:
        if not self._open[j]:
            found.append((row, self._event(j, 0, value)))
        self._open[j] = row

    def _end(self, j: int, row: int, value: float, found: list[tuple[int, Event]]) -> None:
        """The run has ended in the row before this one."""
        if self._open[j]:
            found.append((row, self._event(j, self._open[j], value)))
            self._open[j] = 0

    def _event(self, j: int, end: int, value: float) -> Event:
        return Event(FROZEN, self._since[j], end, value, math.nan, math.nan, self.names[j])
