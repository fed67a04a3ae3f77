"""What the two estimators share: to read rows, to make players and models, and the certificate."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from holdfast import options
from holdfast.audit import HoldfastWarning
from holdfast.certificates.certificate import certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.defaults import default_learner, recommended
from holdfast.domains import Everywhere
from holdfast.intervals import IntervalReport, Widths
from holdfast.intervals.widths import LABELS, NUMBERS, Gaps
from holdfast.learners import Averaged
from holdfast.linear_model import (
    LinearModels,
    empty_models,
    wild_limit,
    write_plain,
    write_scaled,
    write_view,
)
from holdfast.sklearn.audited import AuditMixin
from holdfast.sklearn.journaled import JournalMixin
from holdfast.sklearn.judging import ForecastError
from holdfast.sklearn.parameters import (
    NestedParametersMixin,
    columns_for_learner,
    learner_rule,
    with_fields,
    with_missing,
)
from holdfast.sklearn.rows import (
    Weights,
    empty_columns,
    filled,
    index_of,
    usual_values,
    words_of_columns,
)
from holdfast.steady import Full, Steady
from holdfast.steady.certificate import default_certificate, left_out_at_most
from holdfast.steady.state import ROUNDS
from holdfast.vectors import ScaledWeights, values_of

_EPOCHS = 5  # the most passes by default
_ENOUGH = 5_000  # rows of all passes, for a learner of second order
_AHEAD = 100  # rows: a table in order of time is judged by forecasts for so many rows


class RobustEstimator(NestedParametersMixin, AuditMixin, JournalMixin, BaseEstimator):
    """Learn from the rows of a table, one after the other, and skip outliers.

    Two classes, or a regression, need one model, more classes several. Each has a game that goes on
    (`holdfast.continuing.Game`).
    """

    outliers: options.Outliers
    loss: Any
    learner: Any
    learning_rate: float | None
    alpha: float
    scale: bool
    memory: str | float
    patience: str | float
    delay: str | int
    fit_intercept: bool
    average: bool
    missing: str
    missing_share: float
    audit_size: int
    on_event: Any
    n_epochs: str | int
    shuffle: bool
    random_state: Any
    n_iter_: int
    _class_models: Any  # of a classifier
    _games: list[Any]  # None before the first row
    _far: list[float]  # for each model, the distance from which on a row is not learned from; all are equal
    _models: LinearModels
    _player: Any

    def _set_parameters(self, given: dict[str, Any]) -> None:
        """Store the arguments of `__init__`, as scikit-learn wants it: unchanged, under their names."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_games") and self._games[0] is not None

    @property
    def certificate_(self) -> Any:
        """What the rows so far prove about the regret, whichever `outliers` of them were wrong.

        Print it to read it; `bound` is its number. A list, one for each model, if there are more than two
        classes.

        With the default learners, a `holdfast.steady.certificate.DefaultCertificate`. Its `k` is `outliers`,
        if that is a count. For a share of the rounds so far, it is their mean number and three standard
        deviations. There is none for squared losses, or for rows with weights.

        With scale=False, average=False, dense rows, a count of at least 1 as outliers, and a learner with a
        bounded domain, a `holdfast.Certificate`. Its `k` is `outliers` times the number of passes. There is
        none for the other learners with scale=True: the running scale changes the meaning of a weight from
        row to row, so there are no fixed weights to compare with.

        Rounds are steps, not rows: after `fit`, a row has been a round of every pass that did not leave it
        out, and sums are over all passes. So a wrong row may be a wrong round of each pass.
        """
        check_is_fitted(self)
        if isinstance(self._player, Steady):
            proofs = [self._default_certificate(game.state) for game in self._games]
            return proofs if len(proofs) > 1 else proofs[0]
        if not isinstance(self._player, Certified):
            reasons = {
                "scale=True: the units of the weights change from row to row, so there are no fixed weights "
                "to compare with": self.scale,
                "average=True": self.average,
                "sparse rows": self._sparse,
                "alpha: it is about losses without a penalty": self.alpha != 0.0,
                "a learner whose domain is unbounded": self._unbounded,
                "outliers that are not a count, at least 1": True,
            }
            reason = next(reason for reason, applies in reasons.items() if applies)
            raise AttributeError(f"there is no certificate with {reason}; use scale=False and outliers=k")
        proofs = [
            certificate_of_state(game.state, self._player, self._player.k, game.unmeasured_count)
            for game in self._games
        ]
        return proofs if len(proofs) > 1 else proofs[0]

    def _default_certificate(self, state: Any) -> Any:
        k = left_out_at_most(self._player.gate, int(state.numbers[ROUNDS]))
        if k is None:
            raise AttributeError("there is no certificate with a filter that does not count outliers")
        try:
            return default_certificate(self._player, state, k)
        except ValueError as error:
            raise AttributeError(f"there is no certificate: {error}") from error

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant of each model, in the units of the data."""
        return self._fitted_models().intercepts()

    @property
    def forecast_error_(self) -> float:
        """The mean error of the forecasts for kept rows, as they were asked; NaN if there are none.

        It is the mean absolute error of numbers, and the share of mistakes in labels; with more than two
        classes, that of all models. `fit` counts its first pass, in which each row is predicted before it is
        learned from: `partial_fit` predicts as `delay` says. No forecast is asked before the 8th row. Weights
        do not count.
        """
        check_is_fitted(self)
        return self._forecasts.mean

    @property
    def interval_report_(self) -> tuple[IntervalReport, ...]:
        """How intervals, or sets of labels, have done: how many targets were outside, for each coverage."""
        return self._widths.report()

    def _width_at(self, coverage: float | Sequence[float]) -> NDArray[np.float64]:
        return np.array([self._widths.at(float(each)) for each in np.atleast_1d(coverage)])

    def reset(self) -> Self:
        """Forget what was learned; the parameters stay. The next `partial_fit` is a first one."""
        for name in set(vars(self)) - set(self.get_params(deep=False)) - {"_metadata_request"}:
            delattr(self, name)
        return self

    # -- read the data

    def _read(self, X: Any, first: bool, all_rows: bool = False, learning: bool = True) -> Any:
        """The rows as floats; dense or sparse, as in the first call. Columns without a value become 0."""
        if learning:
            self._index = index_of(X)
        options.read_missing(self.missing)
        options.read_missing_share(self.missing_share)
        if self._is_valid(X, first):
            self.n_features_in_ = X.shape[1]
        else:
            try:
                X = validate_data(
                    self,
                    X,
                    reset=first,
                    accept_sparse="csr",
                    dtype=(np.float64, np.float32),
                    order="C",
                    ensure_all_finite=self.missing == "raise",
                )
            except (ValueError, TypeError) as problem:
                if words := words_of_columns(X):
                    raise ValueError(words) from problem
                raise
        if not first and self._sparse and not sp.issparse(X):
            X = sp.csr_array(X)
        if first:
            self._left_out = self._empty_columns(X) if all_rows else np.zeros(0, int)
        if len(self._left_out) > 0:
            X = X.copy()
            X[:, self._left_out] = 0.0
        return X if self.scale or self.missing != "impute" else filled(X, 0.0, self.missing_share)

    def _is_valid(self, X: Any, first: bool) -> bool:
        """Whether `validate_data` would return X itself: it takes a millisecond the first time."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] > 0
            and (first or X.shape[1] == self.n_features_in_)
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
            and (self.missing != "raise" or bool(np.isfinite(X).all()))
        )

    def _empty_columns(self, X: Any) -> NDArray[np.intp]:
        """The columns without any value, if missing cells are imputed. Warns if there are any."""
        empty = empty_columns(X) if self.missing == "impute" else np.zeros(0, int)
        if len(empty) > 0:
            names = ", ".join(self._column_names()[empty[:10]]) + (", ..." if len(empty) > 10 else "")
            warnings.warn(f"left out, because all cells are missing: {names}", HoldfastWarning, stacklevel=4)
        return empty

    def unusual_cells(self, X: Any) -> dict[str, NDArray[Any]]:
        """The cells of a table that `predict` counts as missing, because they are infinite or too far.

        A row with such a cell would not be learned from; to predict, its other cells count. With several
        models, a cell is listed if it is too far for all of them. A dict of columns: `row`, `column` and
        `value`, also for `pandas.DataFrame`.
        """
        self._fitted_models()
        X = self._read(X, first=False, learning=False)
        X = X.toarray() if sp.issparse(X) else X
        rows, columns = np.nonzero(self._wild_cells(X))
        return {"row": rows, "column": self._column_names()[columns], "value": X[rows, columns]}

    def _wild_cells(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The cells that are too far for all models."""
        each = [self._models.wild_cells(X, np.full(1, i)) for i in range(len(self._models.wild))]
        return np.logical_and.reduce(each)

    def _has_no_width(self, X: Any) -> NDArray[np.bool_]:
        """Rows with a cell that is wild, or is missing and hardly ever was: no width is known for them."""
        X = self._read(X, first=False, learning=False)
        if sp.issparse(X) and not isinstance(self._player, Steady):
            return np.zeros(X.shape[0], bool)
        X = X.toarray() if sp.issparse(X) else X
        return self._wild_cells(X).any(axis=1) | self._gaps.are_new(X)

    def _column_names(self) -> NDArray[np.str_]:
        names = [f"x{i}" for i in range(self.n_features_in_)]
        return np.asarray(getattr(self, "feature_names_in_", names), dtype=str)

    def _read_weights(self, sample_weight: Any, X: Any) -> Weights:
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    # -- start

    def _start(self, X: Any, count: int, all_rows: bool = False) -> None:
        """Check the parameters and start again, with so many models."""
        options.read_audit_size(self.audit_size)
        self.__dict__.pop("_journal", None)  # of rows that are forgotten now
        if self.scale and not self.fit_intercept:
            raise ValueError(
                "scale=True subtracts the running mean from every feature, which acts as an intercept: "
                "for fit_intercept=False scale the features yourself and use scale=False"
            )
        outliers = options.read_outliers(self.outliers)
        self._loss = options.read_loss(self.loss, self._regression)
        columns = columns_for_learner(X, all_rows)
        self._default = default_learner(self._regression, self.scale, self._loss, columns, bool(self.average))
        learner = self._learner_rule()
        self._unbounded = not getattr(learner, "domain", Everywhere()).bounded()
        learner = Averaged(learner) if self.average else learner
        settings = (outliers, learner, bool(self.scale), self.memory, self.patience)
        player = recommended(self._regression, *settings)
        if not isinstance(player, Steady):
            options.refuse_without_default("auto", "auto", self.delay)
        player = with_missing(self._as_asked(player, all_rows), self._missing_share())
        self._player = player
        self._sparse = sp.issparse(X) and not isinstance(player, Steady)  # which sees all cells: zeros count
        passes = self._passes(X.shape[0])
        counted = isinstance(outliers, int) and outliers >= 1
        if counted and not (self.scale or self.average or self._sparse or self._unbounded):
            self._player = Certified(player, outliers * (passes if all_rows else 1))
        self._shift = usual_values(X) if all_rows and self._sparse else np.zeros(X.shape[1])
        self._games, self._models = [None] * count, empty_models(count, X.shape[1])
        self._weight_unit: float | None = None
        self._sums, self._far = [(0.0, 0.0)] * count, [np.inf] * count
        self._start_audit()
        self._widths, self._gaps = Widths(NUMBERS if self._regression else LABELS), Gaps()
        self._forecasts = ForecastError(self._regression)
        self.n_iter_ = 0

    def _passes(self, rows: int) -> int:
        epochs: Any = self.n_epochs
        if isinstance(epochs, str) and epochs == "auto":
            return min(max(-(-_ENOUGH // rows), 1), _EPOCHS) if self._is_second_order() else _EPOCHS
        if not options.is_whole(epochs) or epochs < 1:
            raise ValueError(f'n_epochs is "auto" or counts passes over the data, at least 1: got {epochs!r}')
        return int(epochs)

    def _is_second_order(self) -> bool:
        return isinstance(self._player, Steady) and isinstance(self._player.learner.covariance, Full)

    def _as_asked(self, player: Any, all_rows: bool) -> Any:
        """The player, judged by the forecasts that this call stands for.

        After `fit` it predicts rows that are far away: next to each other in a shuffled table none is. A
        table in order of time is judged 100 rows ahead. `partial_fit` judges as `delay` says.
        """
        delay = options.read_delay(self.delay, batch=True)
        if all_rows:
            delay = 1 if self.shuffle else _AHEAD
        is_other = isinstance(player, Steady) and player.delay != delay  # else it stays the same object
        return with_fields(player, Steady, delay=delay) if is_other else player

    def _has_default_learner(self) -> bool:
        return options.is_auto(self.learner) and self.learning_rate is None and self.alpha == 0.0

    def _learner_rule(self) -> Any:
        if self._has_default_learner():
            return self._default
        constant = bool(self.scale or self.fit_intercept)
        return learner_rule(self.learner, self._loss, self.learning_rate, self.alpha, constant)

    def _missing_share(self) -> float:
        """The largest share of missing cells in a row that is learned from."""
        return float(self.missing_share) if self.missing == "impute" else 0.0

    # -- the models

    def _learner_state(self, game: Any) -> Any:
        state = game.state.inner if isinstance(self._player, Certified) else game.state
        return state.learner.inner if self.scale else state.learner

    def _sum(self, game: Any) -> tuple[Any, float]:
        """The sum of the weights over all rows learned from, and the number of these rows."""
        if game is None or not self.average:
            return 0.0, 0.0
        state = self._learner_state(game)
        return state.summed.copy(), state.rounds

    def _write_model(self, models: LinearModels, i: int, game: Any) -> None:
        """Write the model of a game. If weights are averaged: over the last steps, if there are any."""
        w = self._player.current_weights(game.state)
        is_scaled = isinstance(w, ScaledWeights)
        v, (before, rounds) = values_of(w.v if is_scaled else w), self._sums[i]
        if self.average and self._learner_state(game).rounds > rounds:
            total, count = self._sum(game)
            v = (total - before) / (count - rounds)
        if is_scaled:
            write_scaled(models, i, v, w)
        else:
            write_plain(models, i, v if self.fit_intercept else np.append(v, 0.0))
        if is_scaled and self._sparse:
            models.center[i] = self._shift
        write_view(models, w)
        if isinstance(self._player, Steady):
            models.wild[i] = wild_limit(self._far[i], models.knee[i])

    def _fitted_models(self) -> LinearModels:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not been fitted yet")
        return self._models

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        return self._models.predict(self._read(X, first=False, learning=False))
