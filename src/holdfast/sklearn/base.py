"""What the two estimators share: games that go on, and a linear model of each."""

import dataclasses
import numbers
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from holdfast.adversaries import Replay, Weighted
from holdfast.audit import Audit
from holdfast.certificates.certificate import certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.defaults import LEARNER, named_learner, recommended, refuse_weights
from holdfast.domains import Everywhere
from holdfast.learners import Averaged
from holdfast.play import WORTH_COMPILING, play
from holdfast.protocols import Learner, Loss
from holdfast.role_checks import Rule, check_role
from holdfast.vectors import ScaledWeights, values_of

_MEASURES, _PLACES = ("features", "target", "gradient"), ("round", "row", "label")
_KEEP = ("sizes", "thresholds", "kept", "guard")
_AT_ONCE = 2**20  # entries of a matrix that are standardised in one go


class Model(NamedTuple):
    """Weights of a game, of features as they are (`factors` None) or standardised, and of the constant."""

    weights: np.ndarray
    constant: float
    center: np.ndarray | None
    factors: np.ndarray | None
    clip: float
    y_center: float
    y_spread: float
    y_low: float
    y_high: float

    def slopes(self):
        return self.y_spread * self.weights * (1.0 if self.factors is None else self.factors)

    def intercept(self):
        shift = 0.0 if self.center is None else self.weights @ (self.factors * self.center)
        return self.y_center + self.y_spread * (self.constant - shift)

    @np.errstate(all="ignore")
    def predict(self, X):
        """Of every row; the prediction of the constant for those with NaN or infinity."""
        step = max(_AT_ONCE // max(X.shape[1], 1), 1)
        parts = [self._seen(X[part]) @ self.weights for part in gen_batches(X.shape[0], step)]
        z = np.concatenate(parts) + self.constant
        y = self.y_center + self.y_spread * np.where(np.isnan(z), self.constant, z)
        return np.clip(y, self.y_low, self.y_high)

    def _seen(self, X):
        if not sp.issparse(X):
            known = np.isfinite(X).all(axis=1)
            Z = np.where(known[:, None], X, 0.0)
            if self.factors is not None:
                Z = np.clip((Z - self.center) * self.factors, -self.clip, self.clip)
                Z[~known] = 0.0
            return Z
        unknown = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[~np.isfinite(X.data)]
        values = X.data.astype(np.float64)
        if self.factors is not None:
            values = np.clip(values * self.factors[X.indices], -self.clip, self.clip)
        for row in np.unique(unknown):
            values[X.indptr[row] : X.indptr[row + 1]] = 0.0
        return sp.csr_array((values, X.indices, X.indptr), X.shape)


class Robust(BaseEstimator):
    """Guarded online learning on the rows of a table; subclasses say what the targets of the games are."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "skip"
        return tags

    @property
    def audit_(self):
        """The first `audit_size` skipped rounds: a dict of columns, for `pandas.DataFrame(audit_)` too."""
        return self._looked_at().table()

    @property
    def audit_counts_(self):
        """How many rounds were skipped, by reason, also those beyond `audit_size`."""
        return dict(self._looked_at().counts)

    @property
    def skipped_(self):
        return self._looked_at().skipped

    @property
    def kept_(self):
        return self._looked_at().kept

    @property
    def certificate_(self):
        """What the rounds so far prove about their regret, whichever `outliers` of them were wrong.

        A `holdfast.Certificate`: print it to read it, `bound` is its figure. A list, one for each class, if
        there are more than two. Of `fit`, it is about all its passes.

        Only with scale=False, average=False, dense rows, outliers a count, at least 1, and a learner whose
        domain is bounded: then the books are kept for it. There is none for standardised features, because a
        running scale changes what a weight means from round to round, and with it the weights that the
        learner is compared with.
        """
        check_is_fitted(self)
        if not isinstance(self._player, Certified):
            reasons = {
                "scale=True: the units of its weights change from round to round, so nothing fixed is there "
                "to compare them with": self.scale,
                "average=True": self.average,
                "sparse rows": self._sparse,
                "a learner whose domain has no end": self._endless,
                "outliers that are not a count, at least 1": True,
            }
            reason = next(reason for reason, applies in reasons.items() if applies)
            raise AttributeError(
                f"there is no certificate with {reason}; keep the books with scale=False and outliers=k"
            )
        proofs = [
            certificate_of_state(game.state[0], self._player, self._player.k, game.unmeasured_count)
            for game in self._games
        ]
        return proofs if len(proofs) > 1 else proofs[0]

    def _looked_at(self):
        if not hasattr(self, "_audit"):
            raise AttributeError(f"this {type(self).__name__} has not been fitted yet")
        return self._audit

    # -- data in

    def _read(self, X, first):
        """The rows as floats; of the kind, dense or sparse, that this estimator began with."""
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

    # -- the games

    def _begin(self, X, labels, regression):
        """Forget everything. There will be a game for each of these labels."""
        if (
            isinstance(self.n_epochs, bool)
            or not isinstance(self.n_epochs, numbers.Integral)
            or self.n_epochs < 1
        ):
            raise ValueError(f"n_epochs counts passes over the data, at least 1: got {self.n_epochs!r}")
        if not isinstance(self.audit_size, numbers.Integral) or self.audit_size < 0:
            raise ValueError(f"audit_size counts skipped rounds, at least 0: got {self.audit_size!r}")
        if self.scale and not self.fit_intercept:
            raise ValueError(
                "scale=True takes every feature from its running mean, which is as good as an intercept: "
                "for fit_intercept=False scale the features yourself and use scale=False"
            )
        self._loss = self._loss_rule()
        learner = self._learner_rule()
        endless = not getattr(learner, "domain", Everywhere()).bounded()
        learner = Averaged(learner) if self.average else learner
        player = recommended(regression, self.outliers, learner, bool(self.scale))
        counted = isinstance(self.outliers, numbers.Integral) and self.outliers >= 1
        if counted and not (self.scale or self.average or sp.issparse(X) or endless):
            player = Certified(player, int(self.outliers))
        self._player, self._labels, self._endless = player, labels, endless
        self._sparse = sp.issparse(X)
        self._games = [None] * len(labels)
        self._sums = [(0.0, 0.0)] * len(labels)
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
            return LEARNER
        if isinstance(self.learner, str):
            return named_learner(self.learner, self._loss)
        check_role(self.learner, Learner)
        return self.learner

    def _learn_passes(self, X, targets, weights):
        """`n_epochs` passes; what is written down is about the last one."""
        rng, rows = check_random_state(self.random_state), np.flatnonzero(weights > 0.0)
        compiled = len(rows) * self.n_epochs * len(targets) >= WORTH_COMPILING or None
        for left in reversed(range(self.n_epochs)):
            if left == 0:
                self._audit = Audit(self.audit_size, _MEASURES, _PLACES)
                self._sums = [self._sum(game) for game in self._games]
            self._learn(X, targets, weights, rng.permutation(rows) if self.shuffle else rows, compiled)

    def _learn_on(self, X, targets, weights):
        """One pass, in order."""
        rows = np.flatnonzero(weights > 0.0)
        played = sum(game.rounds for game in self._games if game is not None)
        compiled = played + len(rows) * len(targets) >= WORTH_COMPILING or None
        self._learn(X, targets, weights, rows, compiled)

    def _learn(self, X, targets, weights, rows, compiled):
        X = self._with_constant(X if np.array_equal(rows, np.arange(X.shape[0])) else X[rows])
        for i, y in enumerate(targets):
            adversary = Replay(X, y[rows], self._loss)
            if (weights[rows] != 1.0).any():
                refuse_weights(self._learner_rule())
                adversary = Weighted(adversary, weights[rows])
            record = play(self._player, adversary, keep=_KEEP, after=self._games[i], compiled=compiled)
            self._write_down(record, self._labels[i], rows)
            self._games[i] = _without_rounds(record)
        self.n_iter_ += 1
        self._models = [self._model(game, sums) for game, sums in zip(self._games, self._sums, strict=True)]

    def _write_down(self, record, label, rows):
        """Tell of the rounds of a record, made of these rows of the data, in the game of this label."""
        skipped = np.flatnonzero(~record.kept)
        self._audit.kept += len(record.kept) - len(skipped)
        if len(skipped) > 0:
            rounds = record.rounds - len(record.kept) + skipped
            sizes = (record.feature_sizes, record.target_sizes, record.sizes)
            thresholds = (record.feature_thresholds, record.target_thresholds, record.thresholds)
            columns = ([column[skipped] for column in some] for some in (sizes, thresholds))
            self._audit.add((rounds, rows[skipped], np.full(len(skipped), label)), *columns)

    def _with_constant(self, X):
        """What the learner gets to see: `Scaled` adds the constant by itself."""
        if self.scale or not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1), X.dtype)
        return sp.hstack([X, sp.csr_array(ones)], format="csr") if self._sparse else np.hstack([X, ones])

    # -- what was learned

    def _course(self, game):
        state = game.state[0].inner if isinstance(self._player, Certified) else game.state[0]
        return state.learner.inner if self.scale else state.learner

    def _sum(self, game):
        """The weights of all rounds learned from, and how many these were."""
        if game is None or not self.average:
            return 0.0, 0.0
        course = self._course(game)
        return course.summed.copy(), course.rounds

    def _model(self, game, sums):
        w = self._player.current_weights(game.state[0])
        v = np.array(values_of(w.v if isinstance(w, ScaledWeights) else w))
        if self.average and self._course(game).rounds > sums[1]:
            total, count = self._sum(game)
            v = (total - sums[0]) / (count - sums[1])
        if isinstance(w, ScaledWeights):
            center = None if self._sparse else w.center.copy()
            reach = w.to_target_units(-np.inf), w.to_target_units(np.inf)
            figures = (w.factors.copy(), w.clip, w.y_center, w.y_spread)
            return Model(v[:-1], float(v[-1]), center, *figures, *reach)
        weights, constant = (v[:-1], float(v[-1])) if self.fit_intercept else (v, 0.0)
        return Model(weights, constant, None, None, np.inf, 0.0, 1.0, -np.inf, np.inf)

    def _predictions(self, X):
        """Of all games, a column each."""
        check_is_fitted(self)
        X = self._read(X, first=False)
        return np.column_stack([model.predict(X) for model in self._models])


def _without_rounds(record):
    """What is needed to go on, and no more: neither the data nor a column of it."""
    columns = ("sizes", "thresholds", "kept", "feature_sizes", "feature_thresholds")
    columns += ("target_sizes", "target_thresholds")
    return dataclasses.replace(record, adversary=None, again=None, **dict.fromkeys(columns))
