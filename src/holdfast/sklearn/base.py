"""What the two estimators share: to read rows, to learn from them, and the audit of skipped rows."""

import numbers
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from holdfast.audit import NOT_FINITE, Audit, HoldfastWarning, SkipMonitor, reasons
from holdfast.certificates.certificate import certificate_of_state
from holdfast.certificates.certified import Certified
from holdfast.change import Changing
from holdfast.compiling import FEW, expecting
from holdfast.continuing import Rows, continued, drop_rounds
from holdfast.defaults import default_learner, recommended, refuse_weights
from holdfast.domains import Everywhere
from holdfast.learners import Averaged
from holdfast.learners.compressed import view_of
from holdfast.role_checks import Rule
from holdfast.sklearn.cells import empty_columns, farthest_cells, filled, with_missing
from holdfast.sklearn.judging import MEASURES, NOTHING_JUDGED, is_ordinary, joined, judged, thinned
from holdfast.sklearn.linear_model import FittedModel, Models
from holdfast.sklearn.parameters import as_rule, learner_rule, loss_rule, nested_parameters, with_parameter
from holdfast.soft_guard import SoftGuarded
from holdfast.vectors import ScaledWeights, values_of

_PLACES = ("round", "row", "label", "column", "value")
_REMEDY = "audit_ and audit_counts_ say why. If the data has changed, reset() and learn again"
_SETTLED = 50  # rows; before, running scales may change much
_KEEP = ("sizes", "thresholds", "kept", "guard")
_CHUNK = 2**21  # entries: 16 MB of float64
_EPOCHS = 5  # the most passes by default
_ENOUGH = 5_000  # rows of all passes, for a learner of second order


class RobustEstimator(BaseEstimator):
    """Learn from the rows of a table, one after the other, and skip outliers.

    Two classes, or a regression, need one model, more classes several. Each continues from its record of
    `holdfast.play`.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
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

        A `holdfast.Certificate`: print it to read it, `bound` is its number. A list, one for each model, if
        there are more than two classes.

        Its rounds are steps, not rows: after `fit` a kept row has been a round of every pass. So that it is
        about `outliers` wrong rows, its `k` is that number times the number of passes.

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
                "alpha: it is about losses without a penalty": self.alpha != 0.0,
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

    def reset(self):
        """Forget what was learned; the parameters stay. The next `partial_fit` is a first one."""
        for name in set(vars(self)) - set(self.get_params(deep=False)) - {"_metadata_request"}:
            delattr(self, name)
        return self

    # -- parameters of rules, such as learner__rate

    def get_params(self, deep=True):
        """The parameters by name; with deep=True also those of rules, such as "learner__rate"."""
        found = super().get_params(deep=False)
        if deep:
            for name, value in list(found.items()):
                found |= nested_parameters(name, value) if isinstance(value, Rule) else {}
        return found

    def set_params(self, **params):
        """Set parameters by name, also those of rules: `set_params(learner__rate=0.1)`.

        If the learner or the loss is a name, it becomes that rule. `learner=None` becomes the learner of
        `holdfast.defaults.LEARNER`.
        """
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        for path, value in params.items():
            name, _, rest = path.partition("__")
            if rest:
                if name not in self.get_params(deep=False):
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
                rule = as_rule(name, getattr(self, name), self._LOSSES)
                setattr(self, name, with_parameter(rule, rest, value))
        return self

    # -- read the data

    def _read(self, X, first, all_rows=False):
        """The rows as floats; dense or sparse, as in the first call. Columns without a value become 0."""
        if self.missing not in ("impute", "skip", "raise"):
            raise ValueError(f'missing must be "impute", "skip" or "raise": got {self.missing!r}')
        if not 0.0 <= self.missing_share < 1.0:
            raise ValueError(f"missing_share is a share of cells, below 1: got {self.missing_share!r}")
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
        if first:
            self._left_out = self._empty_columns(X) if all_rows else np.zeros(0, int)
        if len(self._left_out) > 0:
            X = X.copy()
            X[:, self._left_out] = 0.0
        return X if self.scale or self.missing != "impute" else filled(X, 0.0, self.missing_share)

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
        if sample_weight is None:
            return np.ones(X.shape[0])
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    # -- learn

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
        columns = np.inf if sp.issparse(X) else X.shape[1]
        self._default = default_learner(regression, self.outliers, self.scale, self._loss, columns, weighted)
        learner = self._learner_rule()
        unbounded = not getattr(learner, "domain", Everywhere()).bounded()
        learner = Averaged(learner) if self.average else learner
        player = with_missing(self._recommended_player(X, learner, regression), self._missing_share())
        self._player = player
        passes = self._passes(X.shape[0])
        counted = isinstance(self.outliers, numbers.Integral) and self.outliers >= 1
        if counted and not (self.scale or self.average or sp.issparse(X) or unbounded):
            self._player = Certified(player, int(self.outliers) * (passes if all_rows else 1))
        self._unbounded = unbounded
        self._sparse, self._regression = sp.issparse(X), regression
        self._records, self._models = [None] * count, Models([None] * count)
        self._sums = [(0.0, 0.0)] * count
        self._audit = Audit(self.audit_size, MEASURES, _PLACES)
        self._monitor = SkipMonitor(_REMEDY)
        self.n_iter_ = 0

    def _recommended_player(self, X, learner, regression):
        recency = (self.memory, self.patience)
        return recommended(regression, self.outliers, learner, bool(self.scale), *recency)

    def _learner_rule(self):
        if self.learner is None and self.learning_rate is None and self.alpha == 0.0:
            return self._default
        constant = bool(self.scale or self.fit_intercept)
        return learner_rule(self.learner, self._loss, self.learning_rate, self.alpha, constant)

    def _missing_share(self):
        """The largest share of missing cells in a row that is learned from."""
        return float(self.missing_share) if self.missing == "impute" else 0.0

    def _passes(self, rows):
        """The number of passes over so many rows."""
        epochs = self.n_epochs
        if isinstance(epochs, str) and epochs == "auto":
            return min(max(-(-_ENOUGH // rows), 1), _EPOCHS) if self._is_second_order() else _EPOCHS
        if isinstance(epochs, bool) or not isinstance(epochs, numbers.Integral) or epochs < 1:
            raise ValueError(f'n_epochs is "auto" or counts passes over the data, at least 1: got {epochs!r}')
        return int(epochs)

    def _learn_passes(self, X, targets, taught, labels, weights):
        """Learn in several passes. The average is over the last one.

        A row is judged in the first pass, and a row that is skipped is left out of all later passes.
        """
        rng, rows = check_random_state(self.random_state), np.flatnonzero(weights > 0.0)
        used, passes, all_decisions = [mask.copy() for mask in taught], self._passes(X.shape[0]), []
        with expecting(passes * sum(int(mask[rows].sum()) for mask in taught), self._cost()):
            for number in range(passes):
                if number == passes - 1:
                    self._sums = [self._sum(record) for record in self._records]
                order = rng.permutation(rows) if self.shuffle else rows
                passed = self._learn(X, targets, weights, [order[mask[order]] for mask in used])
                if number == 0:
                    self._sample = thinned(passed[0])
                if number < passes - 1:
                    several = zip(passed, targets, self._records, strict=True)
                    passed = [self._final(*each, is_first=number == 0) for each in several]
                for mask, decisions in zip(used, passed, strict=True):
                    mask[decisions.rows[~decisions.kept]] = False
                all_decisions.append(passed)
        self._monitor.enough = 0
        self._add_to_audit(X, targets, labels, weights, all_decisions)

    def _learn_once(self, X, targets, taught, labels, weights):
        """Learn in one pass, in the order of the rows."""
        with expecting(0, self._cost()):
            rows = [np.flatnonzero(mask & (weights > 0.0)) for mask in taught]
            passed = self._learn(X, targets, weights, rows)
        self._sample = thinned(passed[0])
        self._add_to_audit(X, targets, labels, weights, [passed])

    def _is_second_order(self):
        return isinstance(self._player, SoftGuarded | Changing)

    def _cost(self):
        """The time of a round in Python, over that of AdaGrad."""
        return 4 if self._is_second_order() else 1

    def _learn(self, X, targets, weights, rows):
        """Let each model learn from its rows, in their order. Returns the decisions of each.

        They learn from some rows at a time, so that copies of them in float64 take little memory.
        """
        records, decisions = list(self._records), [[] for _ in targets]
        weighted = any(are_unequal(weights[own]) for own in rows)
        if weighted:
            refuse_weights(self._learner_rule())
        entries = X.nnz // max(X.shape[0], 1) if sp.issparse(X) else X.shape[1]
        size = max(_CHUNK // max(entries, 1), 100)
        for start in range(0, max(*map(len, rows), 1), size):
            table, taken = None, None
            for i, (y, own) in enumerate(zip(targets, rows, strict=True)):
                some = own[start : start + size]
                if len(some) == 0 and records[i] is not None:
                    decisions[i].append(NOTHING_JUDGED)
                    continue
                if table is None or not np.array_equal(some, taken):
                    table, taken = self._table(X, some), some
                data = Rows(table, y[some], self._loss, weights[some] if weighted else None)
                # In place, unless an interrupted call could leave a model that has learned half of its rows.
                in_place = start > 0 or len(own) <= FEW
                records[i] = continued(self._player, data, records[i], _KEEP, in_place)
                decisions[i].append(judged(records[i], some))
                drop_rounds(records[i])
        self._models = Models(
            model if model is not None and len(own) == 0 else self._model(record, sums)
            for model, own, record, sums in zip(self._models, rows, records, self._sums, strict=True)
        )
        self._records = records
        self.n_iter_ += 1
        return [joined(each) for each in decisions]

    def _table(self, X, rows):
        """These rows, as the models get them."""
        part = X if np.array_equal(rows, np.arange(X.shape[0])) else X[rows]
        return self._with_constant(part.astype(np.float64, copy=False))

    def _final(self, passed, y, record, is_first):
        """The skipped rows that later passes leave out.

        Others are judged again: rows before the scales were settled, and rows of the first pass that are
        ordinary when compared with all rows.
        """
        learned = record.kept_count - passed.kept.sum() + np.cumsum(passed.kept)  # rows before each step
        final = ~passed.kept & (learned >= _SETTLED if self.scale else True)
        if is_first:
            groups = np.zeros(len(passed.rows)) if self._regression else np.sign(y[passed.rows])
            final &= ~is_ordinary(passed, groups)
        return passed.some(final)

    def _add_to_audit(self, X, targets, labels, weights, all_decisions):
        """Record each skipped row once: where the first of the models has skipped it first."""
        self.kept_mask_ = weights > 0.0
        if all(decisions.kept.all() for passed in all_decisions for decisions in passed):
            self._audit.kept += int(self.kept_mask_.sum())
            self._monitor.add(self.kept_mask_[self.kept_mask_])
            return
        for passed in all_decisions:
            for i, decisions in enumerate(passed):
                if decisions.kept.all():
                    continue
                new = decisions.some(~decisions.kept & self.kept_mask_[decisions.rows])
                self.kept_mask_[new.rows] = False
                if len(new.rows) > 0:
                    cells = self._cells(X, targets[i], i, new)
                    places = (new.rounds, new.rows, labels[new.rows], *cells)
                    self._audit.add(places, new.sizes, new.thresholds)
        self._audit.kept += int(self.kept_mask_.sum())
        self._monitor.add(self.kept_mask_[weights > 0.0])

    def _cells(self, X, y, i, skipped):
        """The columns and the values that made these rows outliers; as many as fit into the audit."""
        first = skipped.some(slice(0, self._audit.room))
        by, rows = reasons(MEASURES, first.sizes, first.thresholds), first.rows
        columns = farthest_cells(X, rows, self._models[i], by == NOT_FINITE)
        values = np.array([X[row, column] for row, column in zip(rows, columns, strict=True)], float)
        names = self._column_names()[columns].astype(object)
        in_target = (by == "target") | ((by == NOT_FINITE) & ~np.isfinite(y[rows]))
        names[in_target], values[in_target] = "target", y[rows][in_target]
        names[by == "gradient"], values[by == "gradient"] = "", np.nan
        return names.astype(str), values

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
            knee, clip = view_of(w)
            scale = (w.factors.copy(), clip, w.y_center, w.y_spread)
            return FittedModel(v[:-1], float(v[-1]), center, *scale, *limits, self._missing_share(), knee)
        weights, constant = (v[:-1], float(v[-1])) if self.fit_intercept else (v, 0.0)
        unscaled = (np.zeros(len(weights)), np.ones(len(weights)), np.inf, 0.0, 1.0, -np.inf, np.inf, 0.0)
        return FittedModel(weights, constant, *unscaled)

    def _predictions(self, X):
        """The predictions of every model, a column each."""
        check_is_fitted(self)
        X = self._read(X, first=False)
        return self._models.predict(X)


def are_unequal(weights):
    """Whether the rows that count have other weights than 1."""
    return bool(((weights != 1.0) & (weights > 0.0)).any())
