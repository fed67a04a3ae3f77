"""The level of one number over time: is this value odd, what comes next, and what has happened?"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._compiled.compiling import called
from holdfast.flatten import numbers_of, state_of
from holdfast.levels.alarms import Alarms, Event
from holdfast.levels.baseline import Baseline, LevelState
from holdfast.norms import HUGE

_WAITING = 100_000  # events
_COST = 0.1  # of a value in Python, over that of a round of AdaGrad


class Reading(NamedTuple):
    """What is known after a value.

    Attributes:
        level, spread: The usual value, and the distance within which half of the values are.
        kept: Whether the value was ordinary. One that is not a finite number is not.
        low, high: The interval of the next value. Infinite before 16 values.
    """

    level: float
    spread: float
    kept: bool
    low: float
    high: float


class Readings(NamedTuple):
    """The same for many values, as arrays; `low` and `high` are the interval that was given for each."""

    level: NDArray[np.float64]
    spread: NDArray[np.float64]
    kept: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def follow_values(
    state: LevelState, baseline: Baseline, values: np.ndarray, numbers: np.ndarray, flags: np.ndarray
) -> LevelState:
    """The state after these values; what was known of each goes to `numbers` and `flags`."""
    for i in range(len(values)):
        middle = baseline.expected(state)
        numbers[i, 2], numbers[i, 3] = middle - state.width, middle + state.width
        state, kept, changed, frozen = baseline.follow(state, float(values[i]))
        numbers[i, 0], numbers[i, 1], numbers[i, 4] = state.level, state.spread, state.repeats.same
        flags[i, 0], flags[i, 1], flags[i, 2], flags[i, 3] = kept, changed, frozen, state.odd > 0.0
    return state


class Level:
    """Is this number odd? What is the level, what may come next, and has something happened?

    Numbers go in, one at a time or many. It needs nothing to begin with, is robust from the first numbers on,
    and follows changes (`holdfast.levels.baseline.Baseline`). Three kinds of events are told apart
    (`holdfast.levels.Event`):

    - *glitch*: some odd values, after which all is as before;
    - *change*: the stream is different since a row;
    - *frozen*: the same value has come too often in a row for this stream.

    Parameters:
        coverage: The share of the values in the intervals.
        season: The number of values after which they repeat, such as 24 for hours; 0 for none.
        patience: So many odd values in a row are a change, fewer are a glitch.
        alarms: At most this share of the values of a clean stream is odd.
        on_event: Called with each `Event`. What it raises goes to the caller; a `Webhook` raises nothing.
        key: The name of the stream, which its events have.

    >>> import holdfast as hf
    >>> level = hf.Level()
    >>> for value in np.random.default_rng(0).normal(20.0, 1.0, 500):
    ...     reading = level.update(value)
    >>> level.update(99.0).kept
    False
    >>> reading = level.update(20.0)
    >>> for event in level.events():
    ...     print(event)
    glitch in row 501: 99 where 18.4 to 21.5 was expected
    """

    def __init__(
        self,
        coverage: float = 0.9,
        season: int = 0,
        patience: int = 20,
        alarms: float = 1e-3,
        on_event: Callable[[Event], Any] | None = None,
        key: str = "",
    ) -> None:
        self.baseline = Baseline(coverage, season, patience, alarms)
        self.on_event = on_event
        self._state, self._alarms = self.baseline.begin(), Alarms(key)
        self._since = 0  # the first row of those with the last value
        self._waiting: deque[Event] = deque(maxlen=_WAITING)

    def score(self, value: float) -> float:
        """How far a value is from what is expected next, above 1 if it is odd; 0 before the 16th value.

        It is infinite for what is not a finite number. Nothing is changed.
        """
        return self.baseline.score(self._state, float(value))

    def update(self, value: float) -> Reading:
        """What is known after a value."""
        value, baseline, before = float(value), self.baseline, self._state
        state, kept, changed, frozen = baseline.follow(before, value)
        self._state = state
        if state.repeats.same == 1.0:
            self._since = int(state.rows)
        if not kept or self._alarms.is_open:
            flags, middle = (kept, changed, frozen, state.odd > 0.0), baseline.expected(before)
            given = (middle - before.width, middle + before.width, self._since)
            self._tell(self._alarms.add(int(state.rows), value, flags, *given))
        if not state.width < math.inf:
            return Reading(state.level, state.spread, kept, -math.inf, math.inf)
        middle = baseline.expected(state)
        return Reading(state.level, state.spread, kept, middle - state.width, middle + state.width)

    def update_many(self, values: ArrayLike, rows: ArrayLike | None = None) -> Readings:
        """`update` for each of many values: compiled, if that is worth it. The results have the same bits.

        `rows` are the numbers that events have for them; by default the finite values are counted.
        """
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.ndim != 1:
            raise ValueError(f"values must be a list of numbers: got shape {values.shape}")
        finite = np.abs(values) < HUGE
        if rows is None:
            numbered = int(self._state.rows) + np.cumsum(finite)
        else:
            numbered = np.asarray(rows, np.int64)
            if numbered.shape != values.shape:
                raise ValueError(
                    f"rows must have a number for each value: got shape {numbered.shape} for {len(values):,}"
                )
        numbers, flags = np.zeros((len(values), 5)), np.zeros((len(values), 4), np.bool_)
        args = self._state, self.baseline, values, numbers, flags
        self._state = called(follow_values, args, len(values), _COST)
        level, spread, low, high, same = numbers.T
        unknown = np.isnan(low)
        low, high = np.where(unknown, -math.inf, low), np.where(unknown, math.inf, high)
        self._find_events(values, numbered, finite, (low, high), same, flags)
        return Readings(level, spread, flags[:, 0], low, high)

    def _find_events(
        self,
        values: NDArray[np.float64],
        rows: NDArray[np.int64],
        finite: NDArray[np.bool_],
        ends: Sequence[NDArray[np.float64]],
        same: NDArray[np.float64],
        flags: NDArray[np.bool_],
    ) -> None:
        """Tell the events of these values, whose rows have these numbers."""
        if not finite.any():
            return
        begins = finite & (same == 1.0)
        began = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), -1))
        since = np.where(began < 0, self._since, rows[began])
        open_before = np.append(False, flags[:-1, 2] | flags[:-1, 3])
        look = ~flags[:, 0] | flags[:, 3] | open_before
        look[: int(np.argmax(finite)) + 1] |= self._alarms.is_open
        for i in np.flatnonzero(look & finite):
            given = (float(ends[0][i]), float(ends[1][i]), int(since[i]))
            self._tell(self._alarms.add(int(rows[i]), float(values[i]), flags[i].tolist(), *given))
        self._since = int(since[-1])

    def state_dict(self) -> dict[str, Any]:
        """The state as a dictionary of numbers, strings and lists, which JSON can hold."""
        return {
            "settings": list(self._settings()),
            "numbers": [float.hex(number) for number in numbers_of(self._state).tolist()],
            "since": self._since,
            "open": self._alarms.stored(),
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """Go on from a `state_dict`. If it is not one of this level, raise an error and change nothing."""
        found = stored.get("settings")
        if found != list(self._settings()):
            raise ValueError(
                f"this is not the state of a level with the settings {self._settings()}: it has {found!r}"
            )
        try:
            numbers = np.array([float.fromhex(number) for number in stored["numbers"]])
            since, alarms = int(stored["since"]), Alarms(self._alarms.key, stored["open"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ValueError("a state needs a list of numbers, `since` and `open`: make it again") from None
        state = state_of(numbers, self.baseline.begin(), self.baseline.valid)
        if state is None:
            raise ValueError("no values lead to this state: the numbers were changed or cut off")
        self._state, self._since, self._alarms = state, since, alarms

    def _settings(self) -> tuple[float, int, int, float]:
        b = self.baseline
        return b.coverage, b.season, b.patience, b.alarms

    def events(self) -> Iterator[Event]:
        """The events since the last call, each once. If nobody asks, the oldest are dropped."""
        while self._waiting:
            yield self._waiting.popleft()

    def _tell(self, found: list[Event]) -> None:
        if self.on_event is None:
            self._waiting += found
        else:
            for event in found:
                self.on_event(event)

    def __repr__(self) -> str:
        b = self.baseline
        return (
            f"Level(coverage={b.coverage}, season={b.season}, patience={b.patience}, alarms={b.alarms}; "
            f"{int(self._state.rows):,} values)"
        )
