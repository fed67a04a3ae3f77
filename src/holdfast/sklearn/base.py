"""What the two estimators share: to read rows, to make players and models, and the certificate."""

import numbers
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from holdfast.audit import HoldfastWarning
from holdfast.certificates.certificate import certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.defaults import default_learner, recommended
from holdfast.domains import Everywhere
from holdfast.learners import Averaged
from holdfast.sklearn.audited import AuditMixin
from holdfast.sklearn.cells import empty_columns, filled, with_missing
from holdfast.sklearn.linear_model import FittedModel, Models
from holdfast.sklearn.nested_parameters import NestedParametersMixin
from holdfast.sklearn.parameters import learner_rule, loss_rule
from holdfast.sklearn.passes import PassesMixin
from holdfast.sklearn.small_tables import columns_for_learner
from holdfast.sklearn.sparse_rows import usual_values
from holdfast.steady import Steady
from holdfast.steady.certificate import default_certificate, left_out_at_most
from holdfast.vectors import ScaledWeights, values_of

_AHEAD = 100  # rows: a table in order of time is judged by forecasts for so many rows


class RobustEstimator(NestedParametersMixin, AuditMixin, PassesMixin, BaseEstimator):
    """Learn from the rows of a table, one after the other, and skip outliers.

    Two classes, or a regression, need one model, more classes several. Each has a game that goes on
    (`holdfast.continuing.Game`).
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_models")

    @property
    def certificate_(self):
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

    def _default_certificate(self, state):
        k = left_out_at_most(self._player.gate, state.rounds)
        if k is None:
            raise AttributeError("there is no certificate with a filter that does not count outliers")
        try:
            return default_certificate(self._player, state, k)
        except ValueError as error:
            raise AttributeError(f"there is no certificate: {error}") from error

    def reset(self):
        """Forget what was learned; the parameters stay. The next `partial_fit` is a first one."""
        for name in set(vars(self)) - set(self.get_params(deep=False)) - {"_metadata_request"}:
            delattr(self, name)
        return self

    # -- read the data

    def _read(self, X, first, all_rows=False):
        """The rows as floats; dense or sparse, as in the first call. Columns without a value become 0."""
        if self.missing not in ("impute", "skip", "raise"):
            raise ValueError(f'missing must be "impute", "skip" or "raise": got {self.missing!r}')
        if not 0.0 <= self.missing_share < 1.0:
            raise ValueError(f"missing_share is a share of cells, below 1: got {self.missing_share!r}")
        if first or not self._is_valid(X):
            X = validate_data(
                self,
                X,
                reset=first,
                accept_sparse="csr",
                dtype=(np.float64, np.float32),
                order="C",
                ensure_all_finite=self.missing == "raise",
            )
        if not first and self._sparse and not sp.issparse(X):
            X = sp.csr_array(X)
        if first:
            self._left_out = self._empty_columns(X) if all_rows else np.zeros(0, int)
        if len(self._left_out) > 0:
            X = X.copy()
            X[:, self._left_out] = 0.0
        return X if self.scale or self.missing != "impute" else filled(X, 0.0, self.missing_share)

    def _is_valid(self, X):
        """Whether `validate_data` would return X itself: it takes as long as a few rows do to learn from."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
            and (self.missing != "raise" or bool(np.isfinite(X).all()))
        )

    def _empty_columns(self, X):
        """The columns without any value, if missing cells are imputed. Warns if there are any."""
        empty = empty_columns(X) if self.missing == "impute" else np.zeros(0, int)
        if len(empty) > 0:
            names = ", ".join(self._column_names()[empty[:10]]) + (", ..." if len(empty) > 10 else "")
            warnings.warn(f"left out, because all cells are missing: {names}", HoldfastWarning, stacklevel=4)
        return empty

    def _column_names(self):
        names = [f"x{i}" for i in range(self.n_features_in_)]
        return np.asarray(getattr(self, "feature_names_in_", names), dtype=str)

    def _read_weights(self, sample_weight, X):
        """The weight of each row; None if all are 1."""
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    # -- start

    def _start(self, X, count, regression, weighted=False, all_rows=False):
        """Check the parameters and start again, with so many models."""
        if not isinstance(self.audit_size, numbers.Integral) or self.audit_size < 0:
            raise ValueError(f"audit_size counts skipped rows, at least 0: got {self.audit_size!r}")
        if self.scale and not self.fit_intercept:
            raise ValueError(
                "scale=True subtracts the running mean from every feature, which acts as an intercept: "
                "for fit_intercept=False scale the features yourself and use scale=False"
            )
        self._loss = loss_rule(self.loss, self._LOSSES, regression)
        columns = columns_for_learner(X, all_rows)
        self._default = default_learner(regression, self.scale, self._loss, columns, bool(self.average))
        learner = self._learner_rule()
        unbounded = not getattr(learner, "domain", Everywhere()).bounded()
        learner = Averaged(learner) if self.average else learner
        player = recommended(regression, self.outliers, learner, bool(self.scale), self.memory, self.patience)
        if self.delay != "batch" and not isinstance(player, Steady):
            raise ValueError(
                f"delay={self.delay!r} is for the default learner, whose regressions are weighed by their "
                'forecasts: use delay="batch" here, or learner=None and scale=True'
            )
        player = with_missing(self._as_asked(player, all_rows), self._missing_share())
        self._player = player
        self._sparse = sp.issparse(X) and not isinstance(player, Steady)  # which sees all cells: zeros count
        passes = self._passes(X.shape[0])
        counted = isinstance(self.outliers, numbers.Integral) and self.outliers >= 1
        if counted and not (self.scale or self.average or self._sparse or unbounded):
            self._player = Certified(player, int(self.outliers) * (passes if all_rows else 1))
        self._unbounded, self._regression = unbounded, regression
        self._shift = usual_values(X) if self._sparse and self.scale else None
        self._games, self._models = [None] * count, Models([None] * count)
        vars(self).pop("_weight_unit", None)
        self._sums = [(0.0, 0.0)] * count
        self._start_audit()
        self.n_iter_ = 0

    def _as_asked(self, player, all_rows):
        """The player, judged by the forecasts that this call stands for.

        After `fit` it predicts rows that are far away: next to each other in a shuffled table none is. A
        table in order of time is judged 100 rows ahead. `partial_fit` judges as `delay` says.
        """
        delay, by_batch = self.delay, str(self.delay) == "batch"
        is_count = not isinstance(delay, bool) and isinstance(delay, numbers.Integral) and delay >= 1
        if not (by_batch or is_count):
            raise ValueError(f'delay is "batch" or a number of rows, at least 1: got {delay!r}')
        if not isinstance(player, Steady):
            return player
        if all_rows:
            return player._replace(delay=1 if self.shuffle else _AHEAD)
        return player._replace(delay=0 if by_batch else int(delay))

    def _has_default_learner(self):
        return self.learner is None and self.learning_rate is None and self.alpha == 0.0

    def _learner_rule(self):
        if self._has_default_learner():
            return self._default
        constant = bool(self.scale or self.fit_intercept)
        return learner_rule(self.learner, self._loss, self.learning_rate, self.alpha, constant)

    def _missing_share(self):
        """The largest share of missing cells in a row that is learned from."""
        return float(self.missing_share) if self.missing == "impute" else 0.0

    # -- the models

    def _learner_state(self, game):
        state = game.state.inner if isinstance(self._player, Certified) else game.state
        return state.learner.inner if self.scale else state.learner

    def _sum(self, game):
        """The sum of the weights over all rows learned from, and the number of these rows."""
        if game is None or not self.average:
            return 0.0, 0.0
        state = self._learner_state(game)
        return state.summed.copy(), state.rounds

    def _model(self, game, sums):
        """The model of a game. If weights are averaged: over the steps since `sums`, if there are any."""
        w = self._player.current_weights(game.state)
        v = np.array(values_of(w.v if isinstance(w, ScaledWeights) else w))
        if self.average and self._learner_state(game).rounds > sums[1]:
            total, count = self._sum(game)
            v = (total - sums[0]) / (count - sums[1])
        if isinstance(w, ScaledWeights):
            center = self._shift.copy() if self._sparse else w.center.copy()
            limits = w.to_target_units(-np.inf), w.to_target_units(np.inf)
            knee, clip = w.view()
            scale = (w.factors.copy(), clip, w.y_center, w.y_spread)
            return FittedModel(v[:-1], float(v[-1]), center, *scale, *limits, self._missing_share(), knee)
        weights, constant = (v[:-1], float(v[-1])) if self.fit_intercept else (v, 0.0)
        unscaled = (np.zeros(len(weights)), np.ones(len(weights)), np.inf, 0.0, 1.0, -np.inf, np.inf, 0.0)
        return FittedModel(weights, constant, *unscaled)

    def _fitted_models(self):
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not been fitted yet")
        return self._models

    def _predictions(self, X):
        """The predictions of every model, a column each."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        X = self._read(X, first=False)
        return self._models.predict(X)
