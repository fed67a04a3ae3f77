"""RobustRegressor: predict numbers."""

import numpy as np
from river import base

from holdfast.defaults import named_learner, refuse_loss
from holdfast.losses import LOSSES_FOR_NUMBERS
from holdfast.protocols import Loss
from holdfast.river import batches
from holdfast.river.cells import as_float
from holdfast.river.estimator import RobustEstimator
from holdfast.role_checks import Rule, check_role
from holdfast.steady import Ridges


class RobustRegressor(RobustEstimator, base.MiniBatchRegressor):
    """A linear regression for streams in which some rows are arbitrarily wrong.

    It plays `holdfast.defaults.recommended`, as the estimator for scikit-learn does: rows with a cell that is
    too far are skipped, regressions of several memories follow changes, and they are weighed by their
    forecasts, as these were asked. It scales features and targets itself.

    A feature that is absent, None, NaN or text is a missing cell, and counts as the center of its column. If
    absence means 0, write 0, as `OneHotEncoder` does. A new feature is learned from its 8th number on. A row
    takes O(features²) time: for many hundreds of features use `Robust` with a `LinearRegressor`.

    Parameters
    ----------
    outliers
        "auto", a share below 1, a count, or a filter: how many rows may be wrong. "auto" tolerates 15 % of
        wrong rows and 15 % of wrong targets. 0 keeps every row that is finite.
    loss
        "absolute_error", "squared_error", "huber", "pinball", "epsilon_insensitive", or a loss of holdfast.
        `Huber(knee)` and `EpsilonInsensitive(epsilon)` are in units of the target.
    learner
        `holdfast.steady.Ridges` with other memories, or None for the default.
    memory
        "auto" or a number of rows: the longest memory of a regression. "auto" is for ever.
    patience
        "auto" or a number of rows: so many bad rows in a row are withstood, and after a change of units about
        so many good ones are lost. "auto" is 1,000.
    delay
        The number of rows that are predicted before the first of them is learned from. Regressions are
        weighed by such forecasts.
    missing_share
        A row of which a larger share of cells is None or NaN is skipped. Absent features do not count.
    audit_size
        The largest number of skipped rows in `audit`.

    Attributes
    ----------
    kept, skipped, audit, audit_counts
        As in `Robust`.
    forecast_error
        The mean absolute error of the forecasts for kept rows, as they were asked.
    weights, intercept
        What was learned so far, in the units of the data.

    Guarantee
    ---------
    That of `holdfast.steady.Steady`, for convex losses with bounded slopes.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from holdfast.river import RobustRegressor
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), RobustRegressor(), metrics.MAE())
    MAE: 0.3...
    """

    _LEARNERS = Ridges

    def __init__(
        self,
        outliers="auto",
        loss="absolute_error",
        learner=None,
        memory="auto",
        patience="auto",
        delay=1,
        missing_share=0.5,
        audit_size=1000,
    ):
        self.outliers, self.loss, self.learner = outliers, loss, learner
        self.memory, self.patience, self.delay = memory, patience, delay
        self.missing_share, self.audit_size = missing_share, audit_size
        self._start()

    def learn_one(self, x, y):
        """Learn from a row, unless it is an outlier."""
        row, y = self._row(x), as_float(y)
        if len(row) == 0:
            return self._add_unreadable()
        if not self._games:
            self._games = [self._new_game()]
        judged = self._is_judged(self._games[0])
        outcomes = self._play(self._games, row, [y if abs(y) < np.inf else np.nan])
        self._record(row, y, outcomes)
        if judged and outcomes[0].kept[0]:
            self._judged += 1
            self._missed += abs(float(outcomes[0].predictions[0]) - y)

    def predict_one(self, x):
        """The prediction for a row. In the first 8 rows it is the median of their targets."""
        if not self._games:
            return 0.0
        game = self._games[0]
        state = game.state
        if state.epoch < 0.0 and state.rounds > 0.0:
            return float(np.median(state.first[: int(state.rounds), len(state.row) - 1]))
        return game.predict(self._columns.row(x))

    def predict_many(self, X):
        """`predict_one` for each row."""
        return batches.series([self.predict_one(x) for x in batches.rows(X)], X)

    @property
    def weights(self):
        """The weights by feature."""
        w = self._games[0].weights().slopes() if self._games else []
        return {name: float(w[place]) for name, place in self._columns.places.items()} if self._games else {}

    @property
    def intercept(self):
        """The constant term."""
        return float(self._games[0].weights().constant()) if self._games else 0.0

    def _loss(self):
        if isinstance(self.loss, str):
            if self.loss not in LOSSES_FOR_NUMBERS:
                names = ", ".join(LOSSES_FOR_NUMBERS)
                raise ValueError(f"loss must be one of {names}, or a loss of holdfast: got {self.loss!r}")
            return LOSSES_FOR_NUMBERS[self.loss]
        if not isinstance(self.loss, Rule):
            raise TypeError(
                f"loss must be a name or a loss of holdfast, such as Huber(2.0): got {self.loss!r}"
            )
        check_role(self.loss, Loss)
        refuse_loss(self.loss, regression=True)
        return self.loss

    def _learner_rule(self):
        rule = named_learner(self.learner, self._loss()) if isinstance(self.learner, str) else self.learner
        if not isinstance(rule, Ridges | None):
            raise TypeError(
                "learner must be Ridges, from holdfast.steady, or None; for others use "
                f"Robust(StandardScaler() | LinearRegressor(learner)): got {self.learner!r}"
            )
        return rule
