"""Robust: any River model behind filters on the sizes of its rounds."""

import math
import numbers

from river import base, linear_model, reco

from holdfast.defaults import filters_for
from holdfast.filters import TopShare
from holdfast.river import batches
from holdfast.river.gradients import gradient_size, has_gradient, last_step
from holdfast.river.running_scale import FAR, FIRST, Range, Scale, as_float
from holdfast.river.size_filters import SizeFilters
from holdfast.river.transformers import teach_transformers

_AUTO = (TopShare(0.05, slack=4.5), TopShare(0.05, slack=4.5), TopShare(0.01))  # features, target, gradient
_UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError)  # raised at what models cannot work with


class Robust(base.Wrapper, base.Estimator):
    """Any classifier or regressor of River, learning only from rounds of a credible size.

    Every round is measured before the model sees it; if a filter says no, the model is not called, and
    nothing in it moves: no weight, no tree, no optimizer, and no scaler of a pipeline, unless its features
    and target are credible and only its gradient is not. Then the transformers before the last step learn
    the features, or one whose scale they do not know yet would never be let in. What is measured:

    - the features: how far the farthest is from where it usually is (`holdfast.river.running_scale`);
    - the target of a regressor, in the same way;
    - the gradient, if the last step has a linear form and a loss (`holdfast.river.gradient_size`), with the
      features as that step sees them: `LinearRegression`, `LogisticRegression`, `Perceptron`,
      `SoftmaxRegression`, `PAClassifier`, `PARegressor`, also in a `TargetStandardScaler`.

    A round with NaN or infinity is never learned from; nor is one with a missing value (None), unless a
    pipeline begins with an imputer for it. Features may come and go: a new one tells nothing until it has
    been there for some rounds. A regressor predicts nothing far beyond the targets it has learned from.

    Parameters
    ----------
    model
        A classifier or regressor, or a whole pipeline, so that its scalers are guarded, too.
    outliers
        "auto", a share below 1, a count, or a filter: how many rounds may be wrong. "auto" withstands 5 % of
        wrong rows, 5 % of wrong targets and, where there is a gradient, 1 % of anything else, for a
        classifier 1 % of the rounds with the same label. 0 keeps every round that is finite.
    score
        A function of model, x and y that is the size of a round, instead of all the above; such as
        `holdfast.river.residual`.
    audit_size
        How many skipped rounds `audit` tells of.

    Attributes
    ----------
    kept, skipped
        How many rounds were learned from, and how many were not.
    audit
        The first skipped rounds, a dict of columns: `round`, sizes and thresholds, and `by` which of them the
        round was skipped. A threshold is NaN where a size was not finite, and no filter was asked.
    audit_counts
        How many were skipped, by reason.

    Guarantee
    ---------
    For a gradient Theorem 1 and its kin, if the model has the regret bound that they ask for. For features
    the Proposition: `Quantile` filters, i.i.d. rows, and units that stand still, which those of a running
    scale do not. A filter skips the first rounds; but a classifier that has never learned knows no label, so
    it learns from the first round that is finite, whatever its size.

    Examples
    --------
    >>> from river import datasets, linear_model, preprocessing
    >>> from holdfast.river import Robust
    >>> model = Robust(preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1))
    >>> for t, (x, y) in enumerate(datasets.TrumpApproval()):
    ...     model.learn_one(x, 1e4 * y if t % 100 == 50 else y)
    >>> model.audit_counts["target"] >= 10, abs(model.predict_one(x) - y) < 1.0
    (True, True)
    """

    def __new__(cls, model=None, outliers="auto", score=None, audit_size=1000):
        if cls is Robust:
            cls = next((ours for theirs, ours in _KINDS.items() if isinstance(model, theirs)), Robust)
        return object.__new__(cls)

    def __init__(self, model, outliers="auto", score=None, audit_size=1000):
        if not isinstance(model, base.Classifier | base.Regressor) or isinstance(model, reco.base.Ranker):
            raise TypeError(f"Robust is for classifiers and regressors of River: got {model!r}")
        if score is not None and not callable(score):
            raise TypeError(f"score must be a function of model, x and y: got {score!r}")
        if isinstance(audit_size, bool) or not isinstance(audit_size, numbers.Integral) or audit_size < 0:
            raise ValueError(f"audit_size counts skipped rounds, at least 0: got {audit_size!r}")
        self.model, self.outliers, self.score, self.audit_size = model, outliers, score, audit_size
        names = ["features", "target", "gradient"] if score is None else ["score"]
        filters = _AUTO if isinstance(outliers, str) and outliers == "auto" else filters_for(outliers)
        self._filters = SizeFilters(dict(zip(names, filters, strict=False)), audit_size)
        self._linear = score is None and has_gradient(model)
        self._begin()

    def _begin(self):
        """Nothing has been learned yet."""
        self._features, self._target, self._learned = Scale(), Scale(), Range()
        self._rounds, self._mute = 0, True

    # -- rounds

    def learn_one(self, x, y, **kwargs):
        """Learn from a round, if its size is credible."""
        if self._credible(x, y, kwargs.get("w", 1.0)):
            self.model.learn_one(x, y, **kwargs)

    def predict_one(self, x, **kwargs):
        """The model's prediction, from the features that are finite."""
        return self._answer(self.model.predict_one, x, kwargs)

    def learn_many(self, X, y, w=None, **kwargs):
        """Learn from those rows that are credible, each judged by the model as it is before the batch.

        If the model cannot learn from batches, they are learned from one after the other, as by `learn_one`.
        """
        weights = [1.0] * len(X) if w is None else batches.answers(w)
        rounds = zip(batches.rounds(X), batches.answers(y), weights, strict=True)
        if not batches.learns_batches(self.model):
            for x, one, weight in rounds:
                self.learn_one(x, one, **(kwargs if w is None else kwargs | {"w": weight}))
            return
        kept = [self._credible(*one) for one in rounds]
        if any(kept):
            kwargs |= {} if w is None else {"w": batches.some(w, kept)}
            self.model.learn_many(batches.some_rows(X, kept), batches.some(y, kept), **kwargs)

    def predict_many(self, X, **kwargs):
        """The model's own predictions, as it makes them; without batches, those of `predict_one`."""
        if batches.learns_batches(self.model) and not (self._mute and self._target.places):
            return self.model.predict_many(X, **kwargs)
        return batches.series([self.predict_one(x, **kwargs) for x in batches.rounds(X)], X)

    # -- what was skipped

    @property
    def kept(self):
        """How many rounds the model has learned from."""
        return self._filters.audit.kept

    @property
    def skipped(self):
        """How many rounds were skipped."""
        return self._filters.audit.skipped

    @property
    def audit(self):
        """The first `audit_size` skipped rounds, for `pandas.DataFrame(audit)` too."""
        return self._filters.audit.table()

    @property
    def audit_counts(self):
        """How many rounds were skipped for each reason."""
        return dict(self._filters.audit.counts)

    # -- measure and ask

    def _credible(self, x, y, w=1.0):
        """Whether to learn from this round. If so, its values are among the usual ones from now on."""
        if self._filters.restart:
            self.model = self.model.clone()
            self._begin()
        try:
            row, sizes = self._measured(x, y, w)
        except _UNREADABLE:
            row, sizes = {}, [math.nan] * 3
        answers = self._filters.ask(self._scored(x, y, sizes), self._label(y))
        kept = answers.keep or (answers.finite and self._mute and self.model.predict_one(x) is None)
        self._filters.record(answers, kept)
        early, steep = answers.finite and self._rounds < FIRST, answers.refused == ["gradient"]
        if kept or steep or early:  # medians need no guard
            self._features.absorb(row)
        if kept or early:
            self._target.absorb(self._aim(y))
            self._rounds += 1
        if kept:
            self._learned.absorb(self._aim(y))
        elif steep:
            teach_transformers(self.model, x)
        self._mute = self._mute and not kept
        return kept

    def _measured(self, x, y, w):
        """The features by name, and the sizes of the round in the order of the filters."""
        step, seen, text = None, x, isinstance(x, str)
        if self._linear or text or None in x.values():
            step, seen = last_step(self.model, x)
        row = seen if text else x
        aim = self._aim(y)
        sizes = [self._features.size(row), self._target.size(aim) if aim else None]
        return row, [*sizes, gradient_size(step, seen, y, w) if self._linear else None]

    def _scored(self, x, y, sizes):
        """The sizes to ask about. A score that raises is a mistake, and not the stream's."""
        if self.score is None:
            return sizes
        finite = all(size is None or abs(size) < math.inf for size in sizes)
        return [float(self.score(self.model, x, y)) if finite else math.nan]

    def _answer(self, predict, x, kwargs):
        """Ask the model, without what it cannot work with."""
        if not isinstance(x, str) and not all(_is_fine(value) for value in x.values()):
            x = {name: value for name, value in x.items() if _is_fine(value)}
        try:
            return predict(x, **kwargs)
        except _UNREADABLE:
            if isinstance(x, str):
                raise
            near = {name: value for name, value in x.items() if abs(as_float(value)) < FAR}
        try:
            return predict(near, **kwargs)
        except LookupError:  # a step asks for a feature: let it have what is usual
            return predict(self._features.usual() | near, **kwargs)

    # -- what River asks for

    @property
    def _wrapped_model(self):
        return self.model

    @property
    def _mutable_attributes(self):
        return {"model"}

    def mutate(self, new_attrs):
        """Modify the model inside: {"model": {...}}."""
        if isinstance(new_attrs.get("model"), dict):  # a pipeline knows by itself how that is done
            self.model.mutate(new_attrs["model"])
            new_attrs = {name: value for name, value in new_attrs.items() if name != "model"}
        super().mutate(new_attrs)

    def _unit_test_skips(self):
        return self.model._unit_test_skips()


class RobustClassifier(Robust, base.Classifier):
    """`Robust` around a classifier."""

    @classmethod
    def _unit_test_params(cls):
        yield {"model": linear_model.LogisticRegression()}

    def predict_proba_one(self, x, **kwargs):
        """The model's probabilities, from the features that are finite."""
        return self._answer(self.model.predict_proba_one, x, kwargs)

    def predict_proba_many(self, X, **kwargs):
        """The model's own probabilities; without batches, those of `predict_proba_one`."""
        if batches.learns_batches(self.model):
            return self.model.predict_proba_many(X, **kwargs)
        return batches.frame([self.predict_proba_one(x, **kwargs) for x in batches.rounds(X)], X)

    def _aim(self, y):
        return {"y": math.nan} if y is None or y != y else {}

    def _label(self, y):
        return y


class RobustRegressor(Robust, base.Regressor):
    """`Robust` around a regressor."""

    @classmethod
    def _unit_test_params(cls):
        yield {"model": linear_model.LinearRegression()}

    def predict_one(self, x, **kwargs):
        """The prediction from the features that are finite, within reach of the targets learned from.

        While the filters let it learn from nothing, the median of the targets so far, if it says 0.
        """
        prediction = super().predict_one(x, **kwargs)
        if self._mute and prediction == 0.0 and "y" in self._target.places:
            return self._target.places["y"].center
        return self._within_reach(prediction)

    def predict_many(self, X, **kwargs):
        """The model's own predictions, within reach of the targets learned from."""
        predictions = super().predict_many(X, **kwargs)
        values = batches.answers(predictions)
        near = [self._within_reach(value) for value in values]
        return predictions if near == values else batches.series(near, X)

    def _within_reach(self, prediction):
        """At most a third of the target's reach beyond the largest and the smallest learned from."""
        if self._mute or not isinstance(prediction, float):
            return prediction
        return self._learned.nearest(prediction, beyond=self._target.places["y"].reach / 3.0)

    def _aim(self, y):
        return {"y": as_float(y)}

    def _label(self, y):
        return None


class RobustBatchClassifier(RobustClassifier, base.MiniBatchClassifier):
    """`Robust` around a classifier that learns from batches, too."""


class RobustBatchRegressor(RobustRegressor, base.MiniBatchRegressor):
    """`Robust` around a regressor that learns from batches, too."""


_KINDS = {  # whatever the model is, to River, Robust is as well
    base.MiniBatchClassifier: RobustBatchClassifier,
    base.MiniBatchRegressor: RobustBatchRegressor,
    base.Classifier: RobustClassifier,
    base.Regressor: RobustRegressor,
}


def _is_fine(value):
    return not isinstance(value, float) or -math.inf < value < math.inf
