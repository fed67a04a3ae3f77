"""The widths of the intervals of each key, which follow the forecasts for its rows."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast._compiled.compiling import choose, expecting
from holdfast.flatten import flatten, layout_digest, restore
from holdfast.fleet.grouped_rounds import COUNTS, answer_groups, caller, first_unlike, group_rounds
from holdfast.fleet.states import KeyStates, States, pack
from holdfast.intervals.tracker import TrackerState
from holdfast.intervals.widths import LABELS, NUMBERS, interpolated
from holdfast.rule import rule
from holdfast.runs.answers import Answers, scores_of_labels
from holdfast.runs.files import damaged, reading
from holdfast.vectors import aligned_copy

_COST = 0.5  # of a score in Python, over that of a round of AdaGrad
_NEAR = 2  # in `TrackerState.numbers`: how many scores are stored


class Followed(NamedTuple):
    """What is known of the forecasts for one key."""

    begun: bool  # whether there was a forecast
    tracker: TrackerState


@rule
class ByTracker:
    """A tracker follows the scores of a key: `columns` are the forecasts and the scores."""

    tracker: Any

    def begin(self) -> Followed:
        """The state before the first score."""
        return Followed(False, self.tracker.begin())

    def answer(self, state: Followed, t: int, columns: Any) -> Followed:
        """The state after row t.

        The first scores, while a model says 0 because it knows nothing, are left out unless they are 0.
        """
        asked, scores = columns
        begun, tracker = state.begun or bool(asked[t] != 0.0), state.tracker
        if begun or scores[t] <= 0.0:
            tracker = self.tracker.follow(tracker, scores[t])
        return Followed(begun, tracker)

    def ended(self, state: Followed) -> Followed:
        """The state that is stored: scores that are not used any more are zeros, which take no place."""
        state.tracker.first[int(state.tracker.numbers[_NEAR]) :] = 0.0
        return state


class AskedRows(Answers):
    """The forecasts of a run without a folder and what came, until they are taken."""

    def __init__(self, labels: int) -> None:
        super().__init__(labels)
        self._new: list[tuple[np.ndarray, np.ndarray]] = []

    def add(
        self,
        outcomes: np.ndarray,
        predicted: np.ndarray,
        y: np.ndarray,
        kept: np.ndarray,
        near: np.ndarray | None = None,
    ) -> None:
        """Keep the outcomes and the targets, NaN for rows that were not near."""
        self._new.append((outcomes, y if near is None else np.where(near, y, math.nan)))

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes and targets since the last call."""
        outcomes, targets = map(np.concatenate, zip(*self._new, strict=True))
        self._new = []
        return outcomes, targets


class KeyWidths:
    """The widths of some keys: those of `holdfast.intervals.Widths` on the rows of each, bit for bit.

    >>> widths, rng = KeyWidths(labels=0), np.random.default_rng(0)
    >>> forecasts, keys = np.ones((4000, 1)), np.arange(4000) % 2
    >>> widths.follow(keys, forecasts, 1.0 + (1 + keys) * rng.standard_normal(4000))
    >>> widths.at(0.9).round(1).tolist()  # the noise of the second key is twice as large
    [1.7, 3.2]
    """

    def __init__(self, labels: int) -> None:
        self.labels, self.tracker = labels, LABELS if labels else NUMBERS
        self._follows = ByTracker(self.tracker)
        self.layout = layout_digest(self._first())
        self._state, self._rounds, self._loaded = self._first(), 0, 0  # scores, and states that were loaded
        self.load([], "")

    def _first(self) -> Followed:
        return aligned_copy(self._follows.begin())

    def load(self, packed: Sequence[bytes], where: str | Path) -> None:
        """Go on from the states of some keys; raises RunError if they do not fit."""
        self._states = States(self._first())
        with reading(where):
            self._states.add(packed)
            buffer, places, lengths = self._states.unpack(np.arange(len(packed)), 0)
        if (
            len(packed)
            and _call(first_unlike, (self._state, buffer, places, lengths), len(packed), self._loaded) >= 0
        ):
            raise damaged(where, "the widths of intervals are not valid")
        self._loaded += len(packed)

    def stored(self, count: int) -> list[bytes]:
        """The packed states of the first so many keys."""
        rows = self._states.rows + [b""] * (count - len(self._states))
        return [row or pack(self._states.first[0]) for row in rows]

    def follow(
        self, keys: np.ndarray, outcomes: np.ndarray, y: np.ndarray, compiled: bool | None = None
    ) -> None:
        """Add forecasts and what came, in order; `keys` has the index of the key of each.

        Whether it is `compiled` changes no bit; by default it is if that is worth it.
        """
        if self.labels:
            scores, asked = scores_of_labels(outcomes, y), np.ones(len(y))
        else:
            asked = np.ascontiguousarray(outcomes[:, 0])
            with np.errstate(all="ignore"):
                scores = np.abs(y - asked)
        slots, order, cuts = group_rounds(keys)
        buffer, places, lengths = self._states.unpack(slots, np.diff(cuts))
        args = (self._follows, self._state, (asked, scores), order, cuts, buffer, places, lengths)
        _call(answer_groups, args, len(y), self._rounds, compiled)
        self._rounds += len(y)
        self._states.pack(slots, buffer, places, lengths)

    def at(self, coverage: float) -> np.ndarray:
        """The width of each key for a coverage; infinite if it has none yet."""
        count, known = len(self._states), self.tracker.coverage
        found = np.full((count, len(known)), math.inf)
        if count:
            buffer, places, lengths = self._states.unpack(np.arange(count), 0)
            scratch = np.zeros(int(lengths.max()))
            _call(collect_widths, (self._state, buffer, places, scratch, found), count)
        return np.array(
            [interpolated(coverage, known, each) for each in np.maximum.accumulate(found, axis=1)]
        )


def _call(
    function: Callable[..., int],
    args: tuple[Any, ...],
    count: int,
    before: int = 0,
    compiled: bool | None = None,
) -> int:
    """Call a function that does something `count` times, compiled if that is worth it."""
    with expecting(0, _COST):
        worth = choose("call", function, args, count, before)
    return int(caller(worth if compiled is None else compiled)(function, *args))


def collect_widths(
    state: Any, buffer: np.ndarray, places: np.ndarray, scratch: np.ndarray, found: np.ndarray
) -> int:
    """Write the widths of each key into `found`."""
    for group in range(len(places)):
        state, _ = restore(state, buffer, places[group])
        found[group] = state.tracker.widths
        flatten(state, scratch, 0)  # empties the histograms
    return 0


# -- widths beside the states of games: the last state of a key


def with_widths(games: KeyStates, widths: Sequence[bytes], labels: int) -> KeyStates:
    """The states with that of the widths after those of the games of each key."""
    rows = (games.states[first : first + labels] for first in range(0, len(games.states), labels))
    states = [state for some, last in zip(rows, widths, strict=True) for state in (*some, last)]
    counts = games.counts.reshape(-1, labels, len(COUNTS))
    counts = np.concatenate([counts, np.zeros_like(counts[:, :1])], axis=1)
    return games._replace(states=states, counts=counts.reshape(-1, len(COUNTS)))


def without_widths(states: KeyStates, labels: int) -> tuple[KeyStates, list[bytes]]:
    """The states of the games, and those of the widths."""
    is_game = np.arange(len(states.states)) % (labels + 1) < labels
    games = [state for state, game in zip(states.states, is_game, strict=True) if game]
    return states._replace(states=games, counts=states.counts[is_game]), states.states[labels :: labels + 1]
