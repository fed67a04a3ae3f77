"""RobustRegressor: predict numbers."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import assert_all_finite, check_consistent_length

from holdfast.losses import LOSSES_FOR_NUMBERS
from holdfast.sklearn.base import RobustEstimator
from holdfast.sklearn.row_weights import are_unequal, which_count


class RobustRegressor(RegressorMixin, RobustEstimator):
    """A linear regression for tables in which some rows are arbitrarily wrong.

    It learns from one row after the other, as `SGDRegressor` does, and skips a row if the size of its
    features, of its target or of its gradient is too large, compared with the rows before. Features and
    targets are standardised with the mean and the spread of the rows learned from.

    With outliers="auto" it follows changes, and a row whose target alone is surprising still moves the
    weights a little (`holdfast.soft_guard.SoftGuarded`). It withstands wild rows and targets, one wild cell,
    stuck sensors and bad first rows. No theorem covers all of that together. A count, a share or a filter as
    `outliers`, another learner, and rows with weights use `holdfast.Guarded`, which has a theorem and does
    not follow changes.

    With scale=True, predictions are at most a standard deviation above the largest target learned from, and
    at most as much below the smallest.

    Parameters
    ----------
    outliers : "auto", a share below 1, a count, or a filter
        How many rows may be wrong. "auto" tolerates 15 % of wrong rows and 15 % of wrong targets; 10 % with
        another learner, scale=False, or rows with weights. 0 keeps every row that is finite.
    loss : "absolute_error", "squared_error", "huber", "pinball", "epsilon_insensitive", or a loss of holdfast
        Such as `holdfast.Pinball(0.9)`. With scale=True the units of `Huber(knee)` and
        `EpsilonInsensitive(epsilon)` are standard deviations of the target.
    learner : a learner or the name of one
        By default, with outliers="auto", "second_order" up to 100 columns: the mean of four ridge regressions
        that forget at different rates. "first_order" for more columns, for sparse rows and for quantiles: a
        mixture of three AdaGrads. With learning_rate, alpha or another `outliers` it is
        `AdaGrad(Box(-10, 10), rate=0.008, ballast=1)`. All other names are as in `RobustClassifier`.

        For a small table, of at most 200 rows or five rows for each column, the first pass of `fit` only
        judges rows. Then the regularisation of the default learner is chosen by leave-one-out errors, as in
        `sklearn.linear_model.RidgeCV`. Up to 200 rows it is of second order for up to 300 columns.
    learning_rate, alpha, fit_intercept, average, n_epochs, shuffle, random_state, audit_size
        As in `RobustClassifier`.
    memory : "auto" or a number of rows
        With outliers="auto": after so many rows a value counts about a third in the running scales. "auto" is
        300.
    patience : "auto" or a number of rows
        With outliers="auto": so many bad rows in a row are withstood, and about as many good ones are lost
        after a change of units. "auto" is 1000.
    scale : bool
        Whether features and target have a running scale. If not, a wrong target is found by its gradient
        only.
    missing, missing_share
        As in `RobustClassifier`. A row with a missing target is skipped, with missing="raise" it is an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (features,) and (1,)
        In the units of the data. They do not apply to a row with a feature so far from its mean that it is
        clipped (`holdfast.Scaled`).
    audit_, audit_counts_, skipped_, kept_, kept_mask_
        As in `RobustClassifier`.
    certificate_, n_iter_, n_features_in_, feature_names_in_
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

    _LOSSES = LOSSES_FOR_NUMBERS

    def __init__(
        self,
        outliers="auto",
        *,
        loss="absolute_error",
        learner=None,
        learning_rate=None,
        alpha=0.0,
        scale=True,
        memory="auto",
        patience="auto",
        delay="batch",
        fit_intercept=True,
        average=False,
        n_epochs="auto",
        shuffle=True,
        random_state=None,
        missing="impute",
        missing_share=0.5,
        audit_size=10_000,
    ):
        self.outliers = outliers
        self.loss = loss
        self.learner = learner
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.scale = scale
        self.memory = memory
        self.patience = patience
        self.delay = delay
        self.fit_intercept = fit_intercept
        self.average = average
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.missing = missing
        self.missing_share = missing_share
        self.audit_size = audit_size

    def fit(self, X, y, sample_weight=None):
        """Start again and learn in `n_epochs` passes."""
        X, y = self._read(X, first=True, all_rows=True), self._read_target(X, y)
        if not np.isfinite(y).any():
            assert_all_finite(y, input_name="y")
        weights = self._read_weights(sample_weight, X)
        if not which_count(weights, X.shape[0]).any():
            raise ValueError("all sample weights are zero: there is nothing to learn from")
        self._start(X, 1, True, are_unequal(weights), all_rows=True)
        self._learn_passes(X, *self._targets(y), weights)
        return self

    def partial_fit(self, X, y, sample_weight=None):
        """Learn from these rows once, in this order. Many calls give the same as one call with all rows."""
        first = not hasattr(self, "_games")
        X, y = self._read(X, first), self._read_target(X, y, first)
        weights = self._read_weights(sample_weight, X)
        if first:
            self._start(X, 1, True, are_unequal(weights))
        self._learn_once(X, *self._targets(y), weights)
        return self

    @property
    def coef_(self):
        """The weights of the features, in the units of the data."""
        return self._fitted_models()[0].coefficients()

    @property
    def intercept_(self):
        """The constant, in an array."""
        return np.array([self._fitted_models()[0].intercept()])

    def predict(self, X):
        """The target of every row."""
        return self._predictions(X)[:, 0]

    def _read_target(self, X, y, first=True):
        if not first and isinstance(y, np.ndarray) and y.dtype == np.float64 and y.shape == X.shape[:1]:
            return y if np.isfinite(y).all() else self._with_nan(y)
        if y is None:
            raise ValueError("RobustRegressor requires y to be passed, but the target y is None")
        finite = self.missing == "raise"
        y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=finite, input_name="y")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return self._with_nan(y)

    def _with_nan(self, y):
        """NaN for targets that are not finite: an infinite one would have a finite slope."""
        finite = np.isfinite(y)
        if self.missing == "raise" and not finite.all():
            assert_all_finite(y, input_name="y")
        return np.where(finite, y, np.nan)

    def _targets(self, y):
        """The targets of the only model, which rows it learns from, and a function: the labels of rows."""
        return [y], [np.ones(len(y), bool)], lambda rows: np.full(len(rows), "target")
