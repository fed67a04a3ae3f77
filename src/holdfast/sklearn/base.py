"""What the two estimators share: to read rows, to learn from them, and the audit of skipped rows."""

import dataclasses
import numbers

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from holdfast.adversaries import Replay, Weighted
from holdfast.audit import Audit
from holdfast.certificates.certificate import certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.defaults import default_learner, named_learner, recommended, refuse_weights
from holdfast.domains import Everywhere
from holdfast.learners import Averaged
from holdfast.play import WORTH_COMPILING, play
from holdfast.protocols import Learner, Loss
from holdfast.role_checks import Rule, check_role
from holdfast.sklearn.linear_model import FittedModel
from holdfast.vectors import ScaledWeights, values_of

_MEASURES, _PLACES = ("features", "target", "gradient"), ("round", "row", "label")
_KEEP = ("sizes", "thresholds", "kept", "guard")


class RobustEstimator(BaseEstimator):
    """Learn from the rows of a table, one after the other, and skip outliers. One model for each class.

    Two classes, or a regression, need one model. Each continues from its record of `holdfast.play`.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "skip"
        return tags

    @property
    def audit_(self):
        """The first `audit_size` skipped rows: a dict of columns, also for `pandas.DataFrame(audit_)`."""
        return self._fitted_audit().table()

    @property
    def audit_counts_(self):
        """How many rows were skipped, by reason, also those beyond `audit_size`."""
        return dict(self._fitted_audit().counts)

    @property
    def skipped_(self):
        """How many rows were skipped."""
        return self._fitted_audit().skipped

    @property
    def kept_(self):
        """How many rows were learned from."""
        return self._fitted_audit().kept

    @property
    def certificate_(self):
        """What the rows so far prove about the regret, whichever `outliers` of them were wrong.

        A `holdfast.Certificate`: print it to read it, `bound` is its number. A list, one for each class, if
        there are more than two. After `fit` it is about all passes.

        It needs scale=False, average=False, dense rows, a count of at least 1 as outliers, and a learner with
        a bounded domain. There is none for standardised features: the running scale changes the meaning of a
        weight from row to row, so there are no fixed weights to compare with.
        """
        check_is_fitted(self)
        if not isinstance(self._player, Certified):
            reasons = {
                "scale=True: the units of the weights change from row to row, so there are no fixed weights "
                "to compare with": self.scale,
                "average=True": self.average,
                "sparse rows": self._sparse,
                "a learner whose domain is unbounded": self._unbounded,
                "outliers that are not a count, at least 1": True,
            }
            reason = next(reason for reason, applies in reasons.items() if applies)
            raise AttributeError(f"there is no certificate with {reason}; use scale=False and outliers=k")
        proofs = [
            certificate_of_state(record.state[0], self._player, self._player.k, record.unmeasured_count)
            for record in self._records
        ]
        return proofs if len(proofs) > 1 else proofs[0]

    def _fitted_audit(self):
        if not hasattr(self, "_audit"):
            raise AttributeError(f"this {type(self).__name__} has not been fitted yet")
        return self._audit

    # -- read the data

    def _read(self, X, first):
        """The rows as floats; dense or sparse, as in the first call."""
        if self.missing not in ("skip", "raise"):
            raise ValueError(f'missing must be "skip" or "raise": got {self.missing!r}')
        X = validate_data(
            self,
            X,
            reset=first,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            order="C",
            ensure_all_finite=self.missing == "raise",
        )
        if not first and self._sparse != sp.issparse(X):
            X = sp.csr_array(X) if self._sparse else X.toarray()
        return X

    def _read_weights(self, sample_weight, X):
        if sample_weight is None:
            return np.ones(X.shape[0])
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    # -- learn

    def _start(self, X, classes, regression, weighted=False):
        """Check the parameters and start again, with a model for each of these classes."""
        epochs = self.n_epochs
        if isinstance(epochs, bool) or not isinstance(epochs, numbers.Integral) or epochs < 1:
            raise ValueError(f"n_epochs counts passes over the data, at least 1: got {epochs!r}")
        if not isinstance(self.audit_size, numbers.Integral) or self.audit_size < 0:
            raise ValueError(f"audit_size counts skipped rows, at least 0: got {self.audit_size!r}")
        if self.scale and not self.fit_intercept:
            raise ValueError(
                "scale=True subtracts the running mean from every feature, which acts as an intercept: "
                "for fit_intercept=False scale the features yourself and use scale=False"
            )
        self._loss = self._loss_rule()
        few = X.shape[1] if not sp.issparse(X) else np.inf
        self._default = default_learner(regression, self.outliers, self.scale, self._loss, few, weighted)
        learner = self._learner_rule()
        unbounded = not getattr(learner, "domain", Everywhere()).bounded()
        learner = Averaged(learner) if self.average else learner
        recency = (self.memory, self.patience) if regression else ()
        player = recommended(regression, self.outliers, learner, bool(self.scale), *recency)
        counted = isinstance(self.outliers, numbers.Integral) and self.outliers >= 1
        if counted and not (self.scale or self.average or sp.issparse(X) or unbounded):
            player = Certified(player, int(self.outliers))
        self._player, self._classes, self._unbounded = player, classes, unbounded
        self._sparse = sp.issparse(X)
        self._records = [None] * len(classes)
        self._sums = [(0.0, 0.0)] * len(classes)
        self._audit = Audit(self.audit_size, _MEASURES, _PLACES)
        self.n_iter_ = 0

    def _loss_rule(self):
        if isinstance(self.loss, str):
            if self.loss not in self._LOSSES:
                raise ValueError(
                    f"loss must be one of {', '.join(self._LOSSES)}, or a loss of holdfast: got {self.loss!r}"
                )
            return self._LOSSES[self.loss]
        if not isinstance(self.loss, Rule):
            raise TypeError(
                f"loss must be a name or a loss of holdfast, such as Huber(2.0): got {self.loss!r}"
            )
        check_role(self.loss, Loss)
        return self.loss

    def _learner_rule(self):
        if self.learner is None:
            return self._default
        if isinstance(self.learner, str):
            return named_learner(self.learner, self._loss)
        check_role(self.learner, Learner)
        return self.learner

    def _learn_passes(self, X, targets, weights):
        """Learn in `n_epochs` passes. The audit and the average are of the last pass."""
        rng, rows = check_random_state(self.random_state), np.flatnonzero(weights > 0.0)
        compiled = len(rows) * self.n_epochs * len(targets) >= WORTH_COMPILING or None
        for left in reversed(range(self.n_epochs)):
            if left == 0:
                self._audit = Audit(self.audit_size, _MEASURES, _PLACES)
                self._sums = [self._sum(record) for record in self._records]
            self._learn(X, targets, weights, rng.permutation(rows) if self.shuffle else rows, compiled)

    def _learn_once(self, X, targets, weights):
        """Learn in one pass, in the order of the rows."""
        rows = np.flatnonzero(weights > 0.0)
        before = sum(record.rounds for record in self._records if record is not None)
        compiled = before + len(rows) * len(targets) >= WORTH_COMPILING or None
        self._learn(X, targets, weights, rows, compiled)

    def _learn(self, X, targets, weights, rows, compiled):
        X = self._with_constant(X if np.array_equal(rows, np.arange(X.shape[0])) else X[rows])
        for i, y in enumerate(targets):
            adversary = Replay(X, y[rows], self._loss)
            if (weights[rows] != 1.0).any():
                refuse_weights(self._learner_rule())
                adversary = Weighted(adversary, weights[rows])
            record = play(self._player, adversary, keep=_KEEP, after=self._records[i], compiled=compiled)
            self._add_to_audit(record, self._classes[i], rows)
            self._records[i] = _without_rounds(record)
        self.n_iter_ += 1
        self._models = [self._model(*pair) for pair in zip(self._records, self._sums, strict=True)]

    def _add_to_audit(self, record, label, rows):
        """Add the steps of a record, which were made with these rows, to the audit."""
        skipped = np.flatnonzero(~record.kept)
        self._audit.kept += len(record.kept) - len(skipped)
        if len(skipped) > 0:
            rounds = record.rounds - len(record.kept) + skipped
            sizes = (record.feature_sizes, record.target_sizes, record.sizes)
            thresholds = (record.feature_thresholds, record.target_thresholds, record.thresholds)
            columns = ([column[skipped] for column in some] for some in (sizes, thresholds))
            self._audit.add((rounds, rows[skipped], np.full(len(skipped), label)), *columns)

    def _with_constant(self, X):
        """The rows with a column of ones, unless `Scaled` adds it or there is no intercept."""
        if self.scale or not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1), X.dtype)
        return sp.hstack([X, sp.csr_array(ones)], format="csr") if self._sparse else np.hstack([X, ones])

    # -- the models

    def _learner_state(self, record):
        state = record.state[0].inner if isinstance(self._player, Certified) else record.state[0]
        return state.learner.inner if self.scale else state.learner

    def _sum(self, record):
        """The sum of the weights over all rows learned from, and the number of these rows."""
        if record is None or not self.average:
            return 0.0, 0.0
        state = self._learner_state(record)
        return state.summed.copy(), state.rounds

    def _model(self, record, sums):
        """The model of a record. If weights are averaged: over the steps since `sums`, if there are any."""
        w = self._player.current_weights(record.state[0])
        v = np.array(values_of(w.v if isinstance(w, ScaledWeights) else w))
        if self.average and self._learner_state(record).rounds > sums[1]:
            total, count = self._sum(record)
            v = (total - sums[0]) / (count - sums[1])
        if isinstance(w, ScaledWeights):
            center = np.zeros_like(w.center) if self._sparse else w.center.copy()
            limits = w.to_target_units(-np.inf), w.to_target_units(np.inf)
            scale = (w.factors.copy(), w.clip, w.y_center, w.y_spread)
            return FittedModel(v[:-1], float(v[-1]), center, *scale, *limits)
        weights, constant = (v[:-1], float(v[-1])) if self.fit_intercept else (v, 0.0)
        unscaled = (np.zeros(len(weights)), np.ones(len(weights)), np.inf, 0.0, 1.0, -np.inf, np.inf)
        return FittedModel(weights, constant, *unscaled)

    def _predictions(self, X):
        """The predictions of every model, a column each."""
        check_is_fitted(self)
        X = self._read(X, first=False)
        return np.column_stack([model.predict(X) for model in self._models])


def _without_rounds(record):
    """The record without data and columns, which are not needed to continue."""
    columns = ("sizes", "thresholds", "kept", "feature_sizes", "feature_thresholds")
    columns += ("target_sizes", "target_thresholds")
    return dataclasses.replace(record, adversary=None, again=None, **dict.fromkeys(columns))
