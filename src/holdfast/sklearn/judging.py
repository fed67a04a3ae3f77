"""What a pass says of each row: learned from or skipped, and why; the forecasts before, and their errors."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.audit import decisive
from holdfast.game import Columns
from holdfast.intervals import Widths
from holdfast.intervals.widths import label_scores
from holdfast.record import VERDICTS
from holdfast.rounds import Round

KEEP = (*VERDICTS, "predictions")
_SAMPLE = 1000


class JudgedRows(NamedTuple):
    """The verdicts of one model on some rows, in the order in which it saw them."""

    rows: np.ndarray  # indices in the table
    rounds: np.ndarray  # numbers of the steps
    kept: np.ndarray
    refused_by: np.ndarray
    farthest: np.ndarray  # the column of the farthest cell of rows that are refused; -1 if it is not known
    sizes: np.ndarray  # by row and check
    thresholds: np.ndarray

    def some(self, which: Any) -> "JudgedRows":
        """Those where `which` holds."""
        return JudgedRows(*(column[which] for column in self))

    def replaced(self, places: np.ndarray, others: "JudgedRows") -> "JudgedRows":
        """Those at these places are replaced by others."""
        columns = JudgedRows(*(column.copy() for column in self))
        for column, new in zip(columns, others, strict=True):
            column[places] = new
        return columns


def last_threshold(thresholds: np.ndarray, before: float) -> float:
    """The last known threshold of the first check; `before` if there is none."""
    if len(thresholds) == 1:
        last = float(thresholds[0, 0])
        return last if 0.0 < last < np.inf else before
    known = thresholds[(thresholds[:, 0] > 0.0) & (thresholds[:, 0] < np.inf), 0]
    return float(known[-1]) if len(known) else before


def thinned(judged: JudgedRows) -> JudgedRows:
    """About 1,000 of the rows at most, evenly spaced."""
    step = -(-len(judged.rows) // _SAMPLE)
    return judged.some(slice(None, None, step)) if step > 1 else judged


def judged(columns: Columns, rows: np.ndarray, rounds: int) -> JudgedRows:
    """The verdicts in the columns of a game, whose last rounds were these rows, after so many in all."""
    steps = np.arange(rounds - len(rows), rounds)
    verdicts = (columns.kept, columns.refused_by, columns.farthest, columns.sizes, columns.thresholds)
    return JudgedRows(rows, steps, *verdicts)


def nothing_judged(checks: int) -> JudgedRows:
    """The verdicts of a game without rounds."""
    none, sizes = np.zeros(0, int), np.zeros((0, checks))
    return JudgedRows(none, none, np.zeros(0, bool), none, none, sizes, sizes)


def joined(parts: Sequence[JudgedRows]) -> JudgedRows:
    """The verdicts of one model on several parts of its rows."""
    return parts[0] if len(parts) == 1 else JudgedRows(*map(np.concatenate, zip(*parts, strict=True)))


def is_warm_up(judged: JudgedRows) -> np.ndarray:
    """Whether each row was skipped because the filter had nothing to compare it with."""
    return decisive(judged.thresholds, judged.refused_by) <= 0.0


def judged_again(player: Any, state: Any, adversary: Any, judged: JudgedRows) -> JudgedRows:
    """The verdicts of a `Guarded` on rows of the warm-up, the rounds of the adversary, after the pass.

    A filter skips its first rows because it has nothing to compare them with: `TopK(k)` skips k. Now it has.
    """
    learner, hidden, verdicts = player.active_learner(state), adversary.start(), []
    state, w = state._replace(learner=learner), player.predict(state)
    for t in range(len(judged.rows)):
        hidden, _, slope, x = adversary.reveal(hidden, t, w)
        round = player.learner.in_units(learner, Round(slope, x, adversary.target_at(t), x, 0.0))
        verdicts.append(player.judge_again(state, round))
    kept, refused_by, sizes, thresholds, farthest = map(np.array, zip(*verdicts, strict=True))
    return JudgedRows(judged.rows, judged.rounds, kept, refused_by, farthest, sizes, thresholds)


class ForecastError:
    """The mean error of the forecasts for kept rows, as they were asked.

    Examples
    --------
    >>> import holdfast as hf
    >>> error, replay = ForecastError(regression=True), hf.Replay([[1.0], [1.0]], [3.0, 3.0], hf.Absolute())
    >>> record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything()), replay, keep=KEEP)
    >>> error.add(record, replay.y, before=0, first=1, at_once=False)
    >>> error.judged, bool(error.mean == abs(3.0 - record.predictions[1]))
    (1, True)
    """

    def __init__(self, regression: bool) -> None:
        self.regression = regression
        self.judged, self.missed = 0, 0.0  # the number of forecasts, and the sum of their errors

    def copy(self) -> "ForecastError":
        other = ForecastError(self.regression)
        other.judged, other.missed = self.judged, self.missed
        return other

    @property
    def mean(self) -> float:
        return self.missed / self.judged if self.judged else math.nan

    def add(self, columns: Any, y: np.ndarray, before: int, first: int, at_once: bool) -> None:
        """Count the rounds in these columns of a game. `before` them it had so many readable rounds.

        There are forecasts from the `first` readable round on (`PlayerOptions.first_forecast`), of all rounds
        of a batch `at_once`.
        """
        kept, z = columns.kept, columns.predictions
        if before < first:
            readable = kept | (columns.refused_by >= 0)
            kept = kept & (before + np.cumsum(readable) - readable >= first) & (not at_once)
        if len(kept) == 1:
            if kept[0]:
                missed = abs(float(z[0]) - float(y[0])) if self.regression else not z[0] * y[0] > 0.0
                self.judged, self.missed = self.judged + 1, self.missed + missed
            return
        missed = np.abs(z - y) if self.regression else ~(z * y > 0.0)
        self.judged += int(np.count_nonzero(kept))
        self.missed += float(missed[kept].sum())


Floats = NDArray[np.float64]


class Forecasts:
    """What all models said of each row before they learned from it.

    For numbers it is the prediction. For labels it is the margin of the right label: with pairs of classes,
    -ln Σ exp(-m) over the margins m of the pairs that it is in, which are those that learn from the row.
    """

    def __init__(self, rows: int, regression: bool, of_rest: bool = False) -> None:
        self.regression, self.of_rest = regression, of_rest
        self.values = np.full(rows, np.nan)

    @np.errstate(all="ignore")
    def add(self, rows: Any, predictions: Floats, targets: Floats) -> None:
        """Add what a model said of these rows; its targets of labels are +1 and -1."""
        if self.regression:
            self.values[rows] = predictions
            return
        lost = -(predictions * targets)
        if self.of_rest:
            own = targets > 0.0
            lost, rows = lost[own], rows[own]
        before = self.values[rows]
        self.values[rows] = np.logaddexp(np.where(np.isnan(before), -np.inf, before), lost)

    def follow(self, widths: Widths, rows: Any, targets: Floats) -> None:
        """Let widths follow the errors of these rows, in this order."""
        if self.regression:
            widths.add_forecasts(self.values[rows], targets[rows])
        else:
            widths.add(label_scores(-self.values[rows]))
