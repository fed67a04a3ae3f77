"""RobustRegressor: predict numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import base

from holdfast.intervals.widths import with_near_rows
from holdfast.levels import Event
from holdfast.options import Outliers, read_loss
from holdfast.river.batches import as_float
from holdfast.river.estimator import UNREADABLE, RobustEstimator
from holdfast.river.named_units import Row
from holdfast.steady import Ridges
from holdfast.steady.state import EPOCH, ROUNDS


class RobustRegressor(RobustEstimator, base.MiniBatchRegressor):
    """A linear regression for streams in which some rows are arbitrarily wrong.

    It plays `holdfast.defaults.recommended`, as the estimator for scikit-learn does: rows with a cell that is
    too far are skipped, regressions of several memories follow changes, and they are weighed by their
    forecasts, as these were asked. It scales features and targets itself.

    A feature that is absent, None, NaN or text is a missing cell, and counts as the center of its column. If
    absence means 0, write 0, as `OneHotEncoder` does. A new feature is learned from its 8th number on. A row
    takes O(features²) time: for many hundreds of features use `Robust` with a `LinearRegressor`.

    Parameters:
        outliers: "auto", a share such as 0.05 or "5%", a count, or a filter: how many rows may be wrong.
            "auto" tolerates 15 % of wrong rows and 15 % of wrong targets. 0 keeps every row that is finite.
        loss: "absolute_error", "squared_error", "huber", "pinball", "epsilon_insensitive", or a loss of
            holdfast. The knee of `Huber` and the epsilon of `EpsilonInsensitive` count in the unit found for
            the target, about its standard deviation.
        learner: `holdfast.steady.Ridges` with other memories, or None for the default.
        memory: "auto" or a number of rows: the longest memory of a regression. "auto" is for ever.
        patience: "auto" or a number of rows: so many bad rows in a row are withstood, and after a change of
            units about so many good ones are lost. "auto" is 1,000.
        delay: The number of rows that are predicted before the first of them is learned from. Regressions are
            weighed by such forecasts.
        missing_share: A row of which a larger share of cells is None or NaN is skipped. Absent features do
            not count.
        audit_size: The largest number of skipped rows in `audit`.
        on_event: Called with each `holdfast.levels.Event`: skipped rows that are a glitch or a change, and
            features that are frozen. By default nothing is looked for.

    Guarantee: that of `holdfast.steady.Steady`, for convex losses with bounded slopes.

    >>> from river import datasets, evaluate, metrics
    >>> from holdfast.river import RobustRegressor
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), RobustRegressor(), metrics.MAE())
    MAE: 0.3...
    """

    _LEARNER, _LINEAR = Ridges, "LinearRegressor"

    def __init__(
        self,
        outliers: Outliers = "auto",
        loss: Any = "absolute_error",
        learner: Ridges | str | None = None,
        memory: str | float = "auto",
        patience: str | float = "auto",
        delay: int = 1,
        missing_share: float = 0.5,
        audit_size: int = 1000,
        on_event: Callable[[Event], Any] | None = None,
    ) -> None:
        self._start(locals(), read_loss(loss, regression=True))

    def learn_one(self, x: Row, y: Any) -> None:
        """Learn from a row, unless it is an outlier."""
        row, y = self._row(x), as_float(y)
        if len(row) == 0:
            return self._add_unplayed(UNREADABLE)
        if not self._games:
            self._games = [self._new_game()]
        judged = self._is_judged(self._games[0])
        outcomes = self._play(self._games, row, [y if abs(y) < np.inf else np.nan])
        self._record(row, y, outcomes)
        if judged:
            error = abs(float(outcomes[0].predictions[0]) - y)
            said = (outcomes[0].refused_by, self._player.check_names())
            self._widths.add(with_near_rows(np.array([error]), *said))
            if outcomes[0].kept[0]:
                self._judged += 1
                self._missed += error

    def predict_one(self, x: Row) -> float:
        """The prediction for a row. In the first 8 rows it is the median of their targets."""
        if not self._games:
            return 0.0
        game = self._games[0]
        state = game.state
        rounds = int(state.numbers[ROUNDS])
        if state.numbers[EPOCH] < 0.0 and rounds > 0:
            return float(np.median(state.first[:rounds, len(state.row) - 1]))
        return game.predict(self._columns.row(x))

    def predict_interval_one(self, x: Row, coverage: float = 0.9) -> tuple[float, float]:
        """The lower and the upper end of an interval for the target of a row.

        The width has followed the errors of the forecasts for all rows, as they were asked, and bad rows
        cannot mislead it (`holdfast.intervals.Tracker`). It is infinite until there were 32 forecasts, and
        if a cell is wild (`unusual_cells`), or missing where fewer than 1 % were. `coverage` is from 0.5 to
        0.99.
        """
        width, prediction = self._widths.at(coverage), self.predict_one(x)
        if self._games and self._has_no_width(self._columns.row(x)):
            width = np.inf
        return prediction - width, prediction + width

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by feature."""
        w = self._games[0].weights().slopes() if self._games else []
        return {name: float(w[place]) for name, place in self._columns.places.items()} if self._games else {}

    @property
    def intercept(self) -> float:
        """The constant term."""
        return float(self._games[0].weights().constant()) if self._games else 0.0
