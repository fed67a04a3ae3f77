"""A tracker and its state, for adapters: scores go in, widths come out; and the rows that they do not fit."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._compiled.compiling import called
from holdfast.filters.everything import Everything
from holdfast.flatten import numbers_of, state_of
from holdfast.intervals.tracker import IGNORED, MISSED, Tracker, TrackerState
from holdfast.sketches.histogram import is_whole

GRID = (0.5, 0.8, 0.9, 0.95, 0.99)
NUMBERS = Tracker(np.array(GRID))
LABELS = Tracker(np.array(GRID), filter=Everything(), least=1.0)  # wrong labels are not far: all misses count
_PENDING = 16_384  # scores that wait until a width is asked for: after most fits none is
_COST = 0.2  # of a score in Python, over that of a round of AdaGrad
_LARGEST = 600.0  # a margin; exp(600) is a score that every filter can read


class IntervalReport(NamedTuple):
    """How intervals of one coverage have done.

    Attributes:
        coverage, width: The share of the targets to cover, and half of the length of an interval now;
            infinite before the first. For labels exp(-m): all labels with a margin of at least m are in the
            set.
        rows, misses, ignored: Rows that had an interval before they were learned from; those whose target was
            outside; those of them that did not count, because they were too far.
        labels: Whether it is about sets of labels.
    """

    coverage: float
    width: float
    rows: int
    misses: int
    ignored: int
    labels: bool = False

    def missed(self, k: int = 0) -> tuple[float, float]:
        """The least and the largest share of the good rows that can have been missed, if k rows were bad.

        >>> IntervalReport(0.9, 1.0, rows=1000, misses=100, ignored=20).missed(k=50)
        (0.05263157894736842, 0.10526315789473684)
        """
        good = self.rows - min(k, self.rows)
        if good == 0:
            return 0.0, 1.0
        return max(self.misses - k, 0) / good, min(self.misses / good, 1.0)

    def __str__(self) -> str:
        if self.labels:
            return (
                f"sets of labels for {self.coverage:.0%}: {self.misses:,} of {self.rows:,} right labels were "
                "missing. k wrong labels can have changed this count by at most k"
            )
        return (
            f"{self.coverage:.0%} intervals, now ±{self.width:.4g}: {self.misses:,} of {self.rows:,} targets "
            f"were outside, {self.ignored:,} of them too far to learn from. k bad rows can have changed the "
            "count of misses by at most k"
        )


def follow_each(state: TrackerState, tracker: Tracker, scores: np.ndarray) -> TrackerState:
    """The state after these scores."""
    for i in range(len(scores)):
        state = tracker.follow(state, float(scores[i]))
    return state


class Widths:
    """The widths of intervals for several coverages, from the scores of forecasts in the order of time.

    Scores may come in parts: the widths have the same bits.

    >>> widths = Widths(NUMBERS)
    >>> widths.add_forecasts(np.ones(5000), 1.0 + np.random.default_rng(0).standard_normal(5000))
    >>> round(widths.at(0.9), 1)
    1.7
    >>> widths.report()[2].rows
    4968
    """

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self._state: TrackerState | None = None  # before a width is asked for
        self._rounds = 0
        self._pending: list[NDArray[np.float64]] = []
        self._waiting = 0
        self._begun = False  # whether there was a forecast

    def add_forecasts(self, predictions: ArrayLike, targets: ArrayLike) -> None:
        """Add forecasts and what came. The first ones, while a model says 0 because it knows nothing, are not
        counted unless they are right.
        """
        predictions, targets = np.asarray(predictions, np.float64), np.asarray(targets, np.float64)
        with np.errstate(all="ignore"):
            scores = np.abs(targets - predictions)
        if not self._begun:
            known = np.flatnonzero(predictions != 0.0)
            first = int(known[0]) if len(known) else len(predictions)
            self._begun = len(known) > 0
            scores[:first][scores[:first] > 0.0] = math.nan
        self.add(scores)

    def add(self, scores: NDArray[np.float64]) -> None:
        """Add scores."""
        self._pending.append(scores)
        self._waiting += len(scores)
        if self._waiting >= _PENDING:
            self._follow()

    def at(self, coverage: float) -> float:
        """The width for a coverage. Between two that are tracked, its logarithm is interpolated."""
        known, widths = self.tracker.coverage, self.tracker.widths(self._follow())
        check_coverage(coverage, known)
        return interpolated(coverage, known, widths)

    def report(self) -> tuple[IntervalReport, ...]:
        """How the intervals of each coverage have done."""
        state = self._follow()
        columns = state.rounds, state.counts[:, MISSED], state.counts[:, IGNORED]
        widths = self.tracker.widths(state).tolist()
        counts = zip(*(column.astype(int).tolist() for column in columns), strict=True)
        levels = zip(self.tracker.coverage.tolist(), widths, counts, strict=True)
        labels = self.tracker.least > 0.0  # the score of a margin of 0: the predicted label is in each set
        return tuple(
            IntervalReport(coverage, width, rows, misses, ignored, labels)
            for coverage, width, (rows, misses, ignored) in levels
        )

    def table(self) -> NDArray[np.float64]:
        """Coverages and widths, in two columns."""
        return np.column_stack([self.tracker.coverage, self.tracker.widths(self._follow())])

    def numbers(self) -> NDArray[np.float64]:
        """All that is known as an array of numbers, for `load`."""
        state = self._follow()
        return np.concatenate([[self._rounds, self._begun], numbers_of(state)])

    def load(self, numbers: NDArray[np.float64]) -> None:
        """Continue from `numbers()`; raises ValueError if they are not those of this tracker."""
        state = state_of(np.array(numbers[2:]), self.tracker.begin(), self.tracker.valid)
        if state is None or not (is_whole(numbers[0]) and is_whole(numbers[1])):
            raise ValueError("the widths of intervals are not those of this tracker")
        self._state, self._rounds, self._begun = state, int(numbers[0]), bool(numbers[1])
        self._pending, self._waiting = [], 0

    def _follow(self) -> TrackerState:
        """The state after the scores that wait: compiled, if that is on disk or in memory."""
        state = self.tracker.begin() if self._state is None else self._state
        self._state = state
        if not self._waiting:
            return state
        scores = np.ascontiguousarray(np.concatenate(self._pending))
        state = called(follow_each, (state, self.tracker, scores), len(scores), _COST, self._rounds)
        self._state, self._rounds = state, self._rounds + len(scores)
        self._pending, self._waiting = [], 0
        return state

    def __getstate__(self) -> dict[str, Any]:
        return {"tracker": self.tracker, "numbers": self.numbers()}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        self.__init__(stored["tracker"])  # type: ignore[misc]
        self.load(stored["numbers"])


def check_coverage(coverage: float, known: Sequence[float] | NDArray[Any] = GRID) -> None:
    """Raise ValueError if there are no intervals of this coverage."""
    if not known[0] <= coverage <= known[-1]:
        raise ValueError(
            f"intervals are tracked for coverages from {known[0]:g} to {known[-1]:g}: got {coverage!r}"
        )


def interpolated(
    coverage: float, known: Sequence[float] | NDArray[Any], widths: NDArray[np.float64]
) -> float:
    """The width at a coverage: ln(width) is linear in ln(1 - coverage) between two that are known.

    >>> interpolated(0.95, [0.9, 0.99], np.array([1.0, 2.0])) < 1.5
    True
    """
    if not np.isfinite(widths).all():
        return math.inf
    tails = -np.log1p(-np.asarray(known, np.float64))
    i = int(np.searchsorted(known, coverage))
    if known[i] == coverage:
        return float(widths[i])
    part = (-math.log1p(-coverage) - tails[i - 1]) / (tails[i] - tails[i - 1])
    return float(widths[i - 1] ** (1.0 - part) * widths[i] ** part)


def with_near_rows(
    values: NDArray[np.float64], refused_by: Any, checks: Sequence[str]
) -> NDArray[np.float64]:
    """The values of rounds, NaN for those whose row was refused: an interval is said to be for the others.

    A row is refused before its target is known, and `predict` marks such rows as outliers.
    """
    if "features" not in checks:
        return values
    return np.where(np.asarray(refused_by) == checks.index("features"), math.nan, values)


def label_scores(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(-m) of the margin m of the right label, at least exp(-600)."""
    return np.exp(-np.minimum(np.maximum(margins, -_LARGEST), _LARGEST))


_OFTEN = 0.01  # of the rows lack a cell of the column: the widths have followed such rows, too


class Gaps(NamedTuple):
    """The missing cells of each column, in the rows learned from.

    The width of intervals follows the errors of rows as they were. So it says nothing about a row that lacks
    a cell which was hardly ever missing.

    >>> seen = Gaps().add(np.array([[1.0, np.nan], [2.0, 3.0]]))
    >>> seen.are_new(np.array([[np.nan, 1.0], [1.0, np.nan]])).tolist()
    [True, False]
    """

    rows: int = 0
    missing: NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, X: NDArray[np.floating]) -> "Gaps":
        """After these rows. There may be more columns than before."""
        missing = np.isnan(X).sum(axis=0)
        missing[: len(self.missing)] += self.missing
        return Gaps(self.rows + len(X), missing)

    def are_new(self, X: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Which rows lack a cell of a column that was missing in fewer than one of 100 rows."""
        rarely = np.ones(X.shape[1], bool)
        rarely[: len(self.missing)] = self.missing[: X.shape[1]] < _OFTEN * self.rows
        return (np.isnan(X) & rarely).any(axis=1)
