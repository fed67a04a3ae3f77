"""What the two estimators share: the default player on dicts, and the audit."""

import math
import numbers
import pickle

import numpy as np
from river import base

from holdfast.audit import Audit, SkipMonitor
from holdfast.compiling import expecting
from holdfast.defaults import default_learner, recommended
from holdfast.interrupts import deferred_interrupts
from holdfast.learners.missing_cells import missing_with
from holdfast.river import batches
from holdfast.river.cells import is_missing
from holdfast.river.feature_columns import FIRST, FeatureColumns
from holdfast.river.growing_game import GrowingGame

_ABSENT = 0.9999  # of the columns may be missing: of a dict, only the cells that it has are counted
_COST = 4  # of a round in Python, over that of AdaGrad
_MEASURES, _PLACES = ("features", "target"), ("round", "column", "value")
_REMEDY = "audit and audit_counts say why. If the data has changed, start again with clone()"


class RobustEstimator(base.Estimator):
    """Dicts as rows of one or several games with the same player."""

    def _start(self):
        """Check the parameters, and begin with nothing."""
        delay, size, share = self.delay, self.audit_size, self.missing_share
        if isinstance(delay, bool) or not isinstance(delay, numbers.Integral) or delay < 1:
            raise ValueError(f"delay is a number of rows, at least 1: got {delay!r}")
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size < 0:
            raise ValueError(f"audit_size counts skipped rows, at least 0: got {size!r}")
        if not 0.0 <= share < 1.0:
            raise ValueError(f"missing_share is a share of cells, below 1: got {share!r}")
        self._build_player(0)
        self._columns, self._games = FeatureColumns(), []
        self._audit = Audit(size, _MEASURES, _PLACES, self._player.learns_little())
        self._monitor = SkipMonitor(_REMEDY, depth=6)
        self._judged, self._missed = 0, 0.0  # rows with a forecast that were kept; the sum of their errors

    def _build_player(self, columns):
        """The player that `recommended` builds for so many columns."""
        regression, loss = isinstance(self, base.Regressor), self._loss()
        learner = self._learner_rule()
        if learner is None:
            learner = default_learner(regression, loss=loss, columns=columns)
        if not isinstance(learner, self._LEARNERS):
            learner = default_learner(regression, loss=loss)
        settings = (self.outliers, learner, True, self.memory, self.patience, int(self.delay))
        self._player = recommended(regression, *settings)._replace(missing=missing_with(_ABSENT))

    # -- learn

    def _row(self, x):
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
        return row

    def _play(self, games, row, targets):
        """Let games learn from a row, each with its target. Returns the columns of each."""
        with expecting(0, _COST), deferred_interrupts():
            return [game.learn(row, y) for game, y in zip(games, targets, strict=True)]

    def _new_game(self):
        if not self._games:
            self._build_player(len(self._columns.places))
        return GrowingGame(self._player, len(self._columns.places))

    def _is_judged(self, game):
        """Whether the next round of a game has a forecast that was asked for."""
        return game.state.asked.numbers[-1] >= 0.0

    # -- which rows were skipped

    def _record(self, row, y, outcomes):
        """Count a row; record it, if a game has skipped it, with the cell that is the reason."""
        columns = next((columns for columns in outcomes if not columns.kept[0]), None)
        if columns is None:
            self._audit.kept += 1
        else:
            sizes = [columns.feature_sizes, columns.target_sizes]
            thresholds = [columns.feature_thresholds, columns.target_thresholds]
            self._add_skipped(sizes, thresholds, *self._cell(row, y, columns))
        self._monitor.add_one(columns is None)

    def _cell(self, row, y, columns):
        """The name and the value of the cell, or the target, for which a row was skipped."""
        place = int(columns.farthest[0])
        if place < 0 and np.isnan(columns.feature_thresholds[0]) and not np.isfinite(row).all():
            place = int(np.argmax(np.isinf(row) + 0.5 * np.isnan(row)))
        return ("target", y) if place < 0 else (self._columns.name_of(place), row[place])

    def _add_unreadable(self, column=""):
        """A row that no game could play."""
        self._add_skipped([[math.inf]] * 2, [[math.nan]] * 2, column)
        self._monitor.add_one(False)

    def _add_warm_up(self):
        """A row from which nothing can be learned yet."""
        self._add_skipped([[0.0]] * 2, [[0.0]] * 2)
        self._monitor.add_one(True)

    def _add_skipped(self, sizes, thresholds, column="", value=math.nan):
        self._audit.add(([self._audit.rounds], [str(column)], [float(value)]), sizes, thresholds)

    @property
    def _raw_memory_usage(self):
        """The bytes of a copy. River would follow references into compiled code, where some are gone."""
        return len(pickle.dumps(self))

    @property
    def kept(self):
        """How many rows were learned from."""
        return self._audit.kept

    @property
    def skipped(self):
        """How many rows were skipped."""
        return self._audit.skipped

    @property
    def audit(self):
        """The first `audit_size` skipped rows, also for `pandas.DataFrame(audit)`."""
        return self._audit.table()

    @property
    def audit_counts(self):
        """How many rows were skipped for each reason."""
        return dict(self._audit.counts)

    @property
    def forecast_error(self):
        """The mean error of the forecasts for kept rows, as they were asked `delay` rows ahead; or NaN."""
        return self._missed / self._judged if self._judged else math.nan

    # -- batches

    def learn_many(self, X, y):
        """`learn_one` for each row."""
        for x, target in zip(batches.rows(X), batches.values(y), strict=True):
            self.learn_one(x, target)
