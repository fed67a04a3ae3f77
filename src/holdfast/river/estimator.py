"""What the two estimators share: the default player on dicts, and the audit."""

import math
import pickle
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from river import base

from holdfast import options
from holdfast._compiled.compiling import expecting
from holdfast._compiled.long_calls import deferred_interrupts
from holdfast.audit import Audit, SkipMonitor, decisive, unreadable_cells
from holdfast.defaults import default_learner, recommended
from holdfast.intervals import IntervalReport, Widths
from holdfast.intervals.widths import LABELS, NUMBERS, Gaps
from holdfast.learners.missing_cells import missing_with
from holdfast.levels import RowEvents
from holdfast.river import batches
from holdfast.river.batches import is_missing
from holdfast.river.growing import FIRST, FeatureColumns, Floats, GrowingGame
from holdfast.river.named_units import Row
from holdfast.river.size_filters import REMEDY, AuditMixin
from holdfast.steady.state import EPOCH, NEVER

_ABSENT = 0.9999  # of the columns may be missing: of a dict, only the cells that it has are counted
_COST = 4  # of a round in Python, over that of AdaGrad
# Verdicts of rows that no game plays: which check refused them, sizes and thresholds.
UNREADABLE = ([-1], [[math.inf] * 2], [[math.nan] * 2])
NOT_YET = ([0], [[0.0] * 2], [[0.0] * 2])  # nothing can be learned from them yet, as in a warm-up


class RobustEstimator(AuditMixin, base.Estimator):
    """Dicts as rows of one or several games with the same player."""

    outliers: options.Outliers
    learner: Any
    memory: str | float
    patience: str | float
    delay: int
    missing_share: float
    audit_size: int
    on_event: Any
    _LEARNER: ClassVar[type]
    _LINEAR: ClassVar[str]  # the model for other learners

    def _start(self, given: dict[str, Any], loss: Any) -> None:
        """Store the arguments of `__init__`, check them, and begin with nothing."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)
        self._loss = loss
        options.read_delay(self.delay)
        options.read_missing_share(self.missing_share)
        self._build_player(0)
        self._columns, self._games = FeatureColumns(), list[GrowingGame]()
        size = options.read_audit_size(self.audit_size)
        self._audit = Audit(size, self._player.check_names(), ["round"], self._player.learns_little())
        self._monitor = SkipMonitor(REMEDY, depth=6, audit=self._audit)
        self._widths, self._gaps = Widths(NUMBERS if isinstance(self, base.Regressor) else LABELS), Gaps()
        self._events = None if self.on_event is None else RowEvents([], self.on_event)
        self._judged, self._missed = 0, 0.0  # rows with a forecast that were kept; the sum of their errors

    def _build_player(self, columns: int) -> None:
        """The player that `recommended` builds for so many columns."""
        regression = isinstance(self, base.Regressor)
        learner = self._learner_rule() or default_learner(regression, loss=self._loss, columns=columns)
        if not isinstance(learner, self._LEARNER):  # for a loss that the default is not made for
            learner = default_learner(regression, loss=self._loss)
        settings = (self.outliers, learner, True, self.memory, self.patience, int(self.delay))
        self._player = recommended(regression, *settings)._replace(missing=missing_with(_ABSENT))

    def _learner_rule(self) -> Any:
        learner = options.read_learner(self.learner, self._loss if isinstance(self.learner, str) else None)
        if not isinstance(learner, self._LEARNER | None):
            raise TypeError(
                f"learner must be {self._LEARNER.__name__}, from holdfast.steady, or None; for others use "
                f"Robust(StandardScaler() | {self._LINEAR}(learner)): got {self.learner!r}"
            )
        if learner is not None:
            options.refuse_pair(learner, self._loss)
        return learner

    # -- learn

    def _row(self, x: Row) -> Floats:
        """The row to learn from; all cells are missing if too many of its cells are. Games grow for it."""
        begun = self._columns.begin(x)
        if begun and self._games:
            values = np.full((FIRST, len(begun)), math.nan)
            for j, first in enumerate(begun.values()):
                values[: len(first), j] = first
            for game in self._games:
                game.grow(values)
        row = self._columns.row(x)
        if sum(map(is_missing, x.values())) > self.missing_share * len(x):
            row[:] = math.nan
        self._gaps = self._gaps.add(row[None])
        return row

    def _has_no_width(self, row: Floats) -> bool:
        """Whether a cell is wild, or is missing and hardly ever was: no width is known for such a row."""
        wild = np.logical_and.reduce([game.wild(row) for game in self._games])
        return bool(wild.any() or self._gaps.are_new(row[None])[0])

    def _play(self, games: Sequence[GrowingGame], row: Floats, targets: Sequence[float]) -> list[Any]:
        """Let games learn from a row, each with its target. Returns the columns of each."""
        with expecting(0, _COST), deferred_interrupts():
            return [game.learn(row, y) for game, y in zip(games, targets, strict=True)]

    def _new_game(self) -> GrowingGame:
        if not self._games:
            self._build_player(len(self._columns.places))
        return GrowingGame(self._player, len(self._columns.places))

    def _is_judged(self, game: GrowingGame) -> bool:
        """Whether the next round of a game has a forecast that was asked for."""
        return bool(game.state.asked.numbers[EPOCH] != NEVER)

    # -- which rows were skipped

    def _record(self, row: Floats, y: float, outcomes: Sequence[Any]) -> None:
        """Count a row; record it, if a game has skipped it, with the cell that is the reason."""
        columns = next((columns for columns in outcomes if not columns.kept[0]), None)
        if columns is None:
            self._audit.kept += 1
        else:
            verdicts = (columns.refused_by, columns.sizes, columns.thresholds)
            self._add_skipped(verdicts, *self._cell(row, y, columns))
        self._monitor.add_one(columns is None)
        if self._events is not None:
            self._events.name([str(name) for name in self._columns.places])
            about = ("", math.nan, 0.0) if columns is None else self._about(row, y, columns)
            is_odd = not about[2] <= 0.0  # the threshold of the warm-up is 0
            self._events.add(np.array([not is_odd]), row[None, :], lambda i: about)

    def _about(self, row: Floats, y: float, columns: Any) -> tuple[str, float, float]:
        size, threshold = (
            float(decisive(part, columns.refused_by)[0]) for part in (columns.sizes, columns.thresholds)
        )
        name = str(self._cell(row, y, columns)[0]) if columns.refused_by[0] <= 0 else "target"
        return name, size, threshold

    def _cell(self, row: Floats, y: float, columns: Any) -> tuple[Any, float]:
        """The name and the value of the cell, or the target, for which a row was skipped."""
        place = int(columns.farthest[0])
        if columns.refused_by[0] < 0:
            place = int(unreadable_cells(row[None], [y])[0])
        return ("target", y) if place < 0 else (self._columns.name_of(place), row[place])

    def _add_unplayed(self, verdict: Any, column: str = "") -> None:
        """A row that no game could play: it is in no event."""
        if self._events is not None:
            self._events.rows += 1
        self._add_skipped(verdict, column)
        self._monitor.add_one(verdict is NOT_YET)

    def _add_skipped(self, verdicts: Any, column: Any = "", value: float = math.nan) -> None:
        refused_by, sizes, thresholds = verdicts
        cell = ([str(column)], [float(value)])
        self._audit.add([[self._audit.rounds]], refused_by, sizes, thresholds, *cell)

    @property
    def _raw_memory_usage(self) -> int:
        """The bytes of a copy. River would follow references into compiled code, where some are gone."""
        return len(pickle.dumps(self))

    @property
    def forecast_error(self) -> float:
        """The mean error of the forecasts for kept rows, as they were asked `delay` rows ahead; or NaN.

        It is the mean absolute error of numbers, and the share of mistakes in labels; with more than two
        labels, that of all models.
        """
        return self._missed / self._judged if self._judged else math.nan

    def unusual_cells(self, x: Row) -> dict[Any, float]:
        """The cells that `predict_one` counts as missing, because they are infinite or too far.

        A row with such a cell would not be learned from; to predict, its other cells count.
        """
        if not self._games:
            return {}
        row = self._columns.row(x)
        wild = [game.wild(row) for game in self._games]
        return {
            self._columns.name_of(int(i)): float(row[i]) for i in np.flatnonzero(np.logical_and.reduce(wild))
        }

    @property
    def interval_report(self) -> tuple[IntervalReport, ...]:
        """How many targets were outside of their intervals, for each tracked coverage."""
        return self._widths.report()

    # -- batches

    def learn_many(self, X: Any, y: Any) -> None:
        """`learn_one` for each row."""
        for x, target in zip(batches.rows(X), batches.values(y), strict=True):
            self.learn_one(x, target)

    def predict_many(self, X: Any) -> Any:
        """`predict_one` for each row."""
        return batches.series([self.predict_one(x) for x in batches.rows(X)], X)
