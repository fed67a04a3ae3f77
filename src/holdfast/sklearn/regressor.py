"""RobustRegressor: predict numbers."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import assert_all_finite, check_consistent_length

from holdfast.options import Outliers
from holdfast.sklearn.passes import Labels, LearningEstimator
from holdfast.sklearn.rows import which_count


class RobustRegressor(RegressorMixin, LearningEstimator):
    """A linear regression for tables in which some rows are arbitrarily wrong.

    It learns from one row after the other, as `SGDRegressor` does. It skips a row if one of its cells is too
    far from the others of its column, and its target if that surprises all regressions with long memories:
    such a row still teaches those with short ones a little. Features and targets are in units that hold
    (`holdfast.steady.Steady`), and cells beyond 30 units are squashed. It withstands wild rows and targets,
    one wild cell, stuck sensors and bad first rows, and follows changes. `certificate_` says what is proved.

    Another learner, scale=False and sparse rows of more than 1,000 columns use `holdfast.Guarded`, which has
    a theorem too, and does not follow changes.

    With scale=True, predictions go no further beyond the targets learned from than half of their range, or a
    unit.

    Parameters
    ----------
    outliers : "auto", a share such as 0.05 or "5%", a count, or a filter
        How many rows may be wrong. "auto" tolerates 15 % of wrong rows and 15 % of wrong targets; 10 % with
        another learner or scale=False. 0 keeps every row that is finite. With the default learner a larger
        share rules for a while: of n rows, 0.4 n and never more than `patience` may be wrong. So shares below
        0.4 all mean the same in the first 2,500 rows.
    loss : "absolute_error", "squared_error", "huber", "pinball", "epsilon_insensitive", or a loss of holdfast
        Such as `holdfast.Pinball(0.9)`. With scale=True the knee of `Huber` and the epsilon of
        `EpsilonInsensitive` count in the unit that the model finds for the target, about its standard
        deviation: 0.1 is a tenth of it. A learner that is made for another loss is refused.
    learner : a learner or the name of one
        By default "second_order", `holdfast.steady.Ridges`: four ridge regressions that forget at different
        rates. With more than 300 columns it is "first_order": the same, and a row costs O(columns). Sparse
        rows are learned from as dense ones, up to 1,000 columns. With more, and with learning_rate, alpha,
        scale=False or average=True, it is `AdaGrad(Box(-10, 10), rate=0.008, ballast=1)`, which takes
        O(nonzeros) for a sparse row. All other names are as in `RobustClassifier`.

        For a small table, of at most 200 rows or five rows for each column, the first pass of `fit` only
        judges rows. Then the regularisation of the default learner is chosen by leave-one-out errors, as in
        `sklearn.linear_model.RidgeCV`. Up to 200 rows it is of second order for up to 1,000 columns.
    learning_rate, alpha, fit_intercept, average, n_epochs, shuffle, random_state, audit_size, journal,
    on_event
        As in `RobustClassifier`.
    memory : "auto" or a number of rows
        For the default learner: the longest memory of a regression. "auto" is for ever.
    patience : "auto" or a number of rows
        For the default learner: so many bad rows in a row are withstood, and about as many good ones are lost
        after a change of units. "auto" is 1000.
    scale : bool
        Whether features and target have a running scale. If not, a wrong target is found by its gradient
        only.
    missing, missing_share
        As in `RobustClassifier`. A row with a missing target is skipped, with missing="raise" it is an error.

    Attributes
    ----------
    n_iter_, n_features_in_, feature_names_in_, kept_mask_
        As in `RobustClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.sklearn import RobustRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(100.0, 10.0, size=(2000, 2))
    >>> y = 3.0 * X[:, 0] - X[:, 1]
    >>> y[::50], X[7], X[8, 0] = 1e9, 1e300, np.inf
    >>> model = RobustRegressor(random_state=0).fit(X, y)
    >>> model.predict([[100.0, 100.0]]).round(-1).tolist()
    [200.0]
    """

    _regression = True

    def __init__(
        self,
        outliers: Outliers = "auto",
        *,
        loss: Any = "absolute_error",
        learner: Any = None,
        learning_rate: float | None = None,
        alpha: float = 0.0,
        scale: bool = True,
        memory: str | float = "auto",
        patience: str | float = "auto",
        delay: str | int = "batch",
        fit_intercept: bool = True,
        average: bool = False,
        n_epochs: str | int = "auto",
        shuffle: bool = True,
        random_state: Any = None,
        missing: str = "impute",
        missing_share: float = 0.5,
        audit_size: int = 10_000,
        journal: int | None = None,
        on_event: Any = None,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Start again and learn in `n_epochs` passes.

        Of `sample_weight` only ratios matter. A row of weight 0 is absent, one of weight 2 counts about as
        two.
        """
        X, y = self._read(X, first=True, all_rows=True), self._read_target(X, y)
        if not np.isfinite(y).any():
            assert_all_finite(y, input_name="y")
        weights = self._read_weights(sample_weight, X)
        if not which_count(weights, X.shape[0]).any():
            raise ValueError("all sample weights are zero: there is nothing to learn from")
        self._start(X, 1, all_rows=True)
        self._learn_passes(X, *self._targets(y), weights)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, row_ids: Any = None) -> Self:
        """Learn from these rows once, in this order.

        With `delay="batch"` the rows of a call are judged by the forecasts at its start. With a number of
        rows it does not matter how rows are divided into calls.

        The unit of `sample_weight` is the mean of the positive weights in the first call that has weights: a
        row with this weight counts 1, in all calls.

        `row_ids` name the rows, for `forget` and for the column `index` of `audit_`. Several rows may have
        the same name, such as that of a user.
        """
        if self.journal is not None:
            self._learn_in_journal(X, y, row_ids, {"sample_weight": sample_weight})
            return self
        first = not hasattr(self, "_games")
        X, y = self._read(X, first), self._read_target(X, y)
        self._name_rows(row_ids, len(y))
        weights = self._read_weights(sample_weight, X)
        if first:
            self._start(X, 1)
        self._learn_once(X, *self._targets(y), weights)
        return self

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the features, in the units of the data.

        They do not apply to a row with a cell that is squashed or clipped.
        """
        return self._fitted_models().coefficients()[0]

    def predict(self, X: Any, return_interval: bool = False, coverage: Any = 0.9) -> Any:
        """The target of every row; with `return_interval`, a tuple of these and of `predict_interval`."""
        found = self._predictions(X)[:, 0]
        return (found, self._around(found, coverage, X)) if return_interval else found

    def predict_interval(self, X: Any, coverage: Any = 0.9) -> NDArray[np.float64]:
        """The lower and the upper end of an interval for the target of every row: shape (rows, 2).

        Of several coverages, (rows, 2, coverages). Each is from 0.5 to 0.99; 0.5, 0.8, 0.9, 0.95 and 0.99 are
        tracked, and widths for others are interpolated. Before 32 rows intervals are infinite.

        The width has followed the errors of the forecasts for all rows, each before it was learned from; of
        `fit` those of the first pass. So of the rows that are right, 1 - coverage were missed, whatever the
        other rows were, up to Theorem I (`docs/math.md`, 12). `interval_report_` has the counts. New rows
        are missed as often if they are like the last ones. So an interval is infinite, too, if a cell is wild
        (`unusual_cells`), or missing in a column of which fewer than 1 % of the cells learned from were.
        """
        return self._around(self.predict(X), coverage, X)

    def _around(self, predictions: NDArray[np.float64], coverage: Any, X: Any) -> NDArray[np.float64]:
        widths = np.where(self._has_no_width(X)[:, None], np.inf, self._width_at(coverage))
        predictions = predictions[:, None]
        ends = np.stack([predictions - widths, predictions + widths], axis=1)
        return ends[:, :, 0] if np.ndim(coverage) == 0 else ends

    def _read_target(self, X: Any, y: Any) -> NDArray[np.float64]:
        if isinstance(y, np.ndarray) and y.dtype == np.float64 and y.shape == X.shape[:1]:
            return y if np.isfinite(y).all() else self._with_nan(y)
        if y is None:
            raise ValueError("RobustRegressor requires y to be passed, but the target y is None")
        finite = self.missing == "raise"
        y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=finite, input_name="y")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return self._with_nan(y)

    def _with_nan(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """NaN for targets that are not finite: an infinite one would have a finite slope."""
        finite = np.isfinite(y)
        if self.missing == "raise" and not finite.all():
            assert_all_finite(y, input_name="y")
        return np.where(finite, y, np.nan)

    def _targets(self, y: NDArray[np.float64]) -> tuple[list[Any], list[Any], Labels]:
        """The targets of the only model, which rows it learns from, and a function: the labels of rows."""
        return [y], [np.ones(len(y), bool)], lambda rows: np.full(len(rows), "target")
