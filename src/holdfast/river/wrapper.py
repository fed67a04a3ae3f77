"""Robust: any River model, learning only from rows that are not outliers."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from river import base, linear_model, reco

from holdfast.audit import SkipMonitor
from holdfast.options import Outliers, read_audit_size, read_missing, read_missing_share
from holdfast.river import batches
from holdfast.river.batches import as_float
from holdfast.river.judging import UNREADABLE, JudgingMixin, has_imputer
from holdfast.river.measures import has_gradient
from holdfast.river.named_units import FAR, Row
from holdfast.river.size_filters import REMEDY, AuditMixin, SizeFilters, recommended


class Robust(AuditMixin, JudgingMixin, base.Wrapper, base.Estimator):
    """Any classifier or regressor of River, learning only from rows whose sizes are not too large.

    Sizes of a row are measured before the model learns from it. If a filter refuses one of them, the row is
    skipped, and nothing in the model changes: no weight, no tree, no optimizer, no scaler of a pipeline. One
    exception: if only the gradient is refused, the transformers before the last step learn the features.
    Otherwise a feature that they cannot scale yet might be refused forever. The sizes are:

    - of the features: the largest deviation from a center, in units of the feature, which are those of the
      default (`holdfast.steady.units`);
    - of the target of a regressor: the same;
    - of the gradient, if the last step is linear and has a loss (`holdfast.river.gradient_size`), with the
      features that this step gets: `LinearRegression`, `LogisticRegression`, `Perceptron`,
      `SoftmaxRegression`, `PAClassifier`, `PARegressor`, also in a `TargetStandardScaler`.

    A missing cell (None or NaN) takes the usual value of its feature, unless the pipeline has an imputer. A
    row with infinity is skipped, and so is one with too many missing cells. Features may be added or absent
    at any time; a new one does not count in its first rows. The predictions of a regressor are never far
    outside of the range of the targets learned from.

    Parameters:
        model: A classifier or regressor, or a whole pipeline: then its scalers do not learn from outliers
            either.
        outliers: "auto", a share such as 0.05 or "5%", a count, or a filter: how many rows may be wrong.
            "auto" tolerates 15 % of rows with wrong features and 15 % with wrong targets, for a classifier
            10 % with wrong features; and, if there is a gradient, 1 % with anything else wrong, for a
            classifier 1 % of the rows of each label. 0 keeps every row that is finite. With "auto" or a
            share, changes are followed; with a count or a filter, nothing is forgotten.
        score: A function of model, x and y, such as `holdfast.river.residual`. Its value replaces the three
            sizes.
        audit_size: The largest number of skipped rows in `audit`.
        missing: "impute": a missing cell takes the usual value of its feature, the running mean of kept rows.
            If its feature is new, it is left out. "skip": a row with a missing cell is skipped, unless the
            pipeline has an imputer for it; a prediction is made from the other features.
        missing_share: With missing="impute", a row with a larger share of missing cells is skipped.
        patience: "auto" or a number of rows: so many bad rows in a row are withstood, and about so many good
            ones are lost after a change of units or of level. The model goes on. "auto" is 1,000. The filters
            remember the last three to six times as many rows. In the first rows, a run of 40 % of the rows so
            far is withstood.

    Guarantee: For gradients, Theorem 1 and the related theorems, if the model has the regret bound that they
    assume. For features, none: the Proposition is about `Quantile` filters, i.i.d. rows and fixed units, and
    here units change. A filter skips the first rows. But a classifier that has not learned a label yet learns
    from the first finite row, whatever its size.

    >>> from river import datasets, linear_model, preprocessing
    >>> from holdfast.river import Robust
    >>> model = Robust(preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1))
    >>> for t, (x, y) in enumerate(datasets.TrumpApproval()):
    ...     model.learn_one(x, 1e4 * y if t % 100 == 50 else y)
    >>> model.audit_counts["target"] >= 10, abs(model.predict_one(x) - y) < 1.0
    (True, True)
    """

    def __new__(cls, model: Any = None, *args: Any, **kwargs: Any) -> Any:
        if cls is Robust:
            cls = next((ours for theirs, ours in _KINDS.items() if isinstance(model, theirs)), Robust)
        return object.__new__(cls)

    def __init__(
        self,
        model: Any,
        outliers: Outliers = "auto",
        score: Callable[[Any, Row, Any], float] | None = None,
        audit_size: int = 1000,
        missing: str = "impute",
        missing_share: float = 0.5,
        patience: str | float = "auto",
    ) -> None:
        if not isinstance(model, base.Classifier | base.Regressor) or isinstance(model, reco.base.Ranker):
            raise TypeError(f"Robust is for classifiers and regressors of River: got {model!r}")
        if score is not None and not callable(score):
            raise TypeError(f"score must be a function of model, x and y: got {score!r}")
        read_audit_size(audit_size)
        read_missing(missing, ("impute", "skip"))
        read_missing_share(missing_share)
        self.model, self.outliers, self.score, self.audit_size = model, outliers, score, audit_size
        self.missing, self.missing_share = missing, missing_share
        self.patience = patience
        self._fills = missing == "impute" and not has_imputer(model)
        names = ["features", "target", "gradient"] if score is None else ["score"]
        filters, near = recommended(isinstance(self, base.Regressor), outliers, patience)
        self._filters = SizeFilters(dict(zip(names, filters, strict=False)), audit_size, near)
        self._linear = score is None and has_gradient(model)
        self._audit, self._monitor = self._filters.audit, SkipMonitor(REMEDY, depth=6)
        self._start()

    # -- learn and predict

    def learn_one(self, x: Row, y: Any, **kwargs: Any) -> None:
        """Learn from a row, unless the filters refuse it."""
        x = self._filled(x)
        if self._keep(x, y, kwargs.get("w", 1.0)):
            self.model.learn_one(x, y, **kwargs)

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """The model's prediction, with usual values for cells that are missing or wild."""
        return self._call(self.model.predict_one, x, kwargs)

    def learn_many(self, X: Any, y: Any, w: Any = None, **kwargs: Any) -> None:
        """Learn from the rows that the filters keep. Gradients are measured with the model before the batch.

        If the model cannot learn from batches, this calls `learn_one` for each row.
        """
        weights = [1.0] * len(X) if w is None else batches.values(w)
        targets = zip(batches.values(y), weights, strict=True)
        if not batches.learns_batches(self.model):
            for x, (target, weight) in zip(batches.rows(X), targets, strict=True):
                self.learn_one(x, target, **(kwargs if w is None else kwargs | {"w": weight}))
            return
        X = self._filled_frame(X)
        kept = [self._keep(x, *target) for x, target in zip(batches.rows(X), targets, strict=True)]
        if any(kept):
            kwargs |= {} if w is None else {"w": batches.kept_values(w, kept)}
            self.model.learn_many(batches.kept_rows(X, kept), batches.kept_values(y, kept), **kwargs)

    def predict_many(self, X: Any, **kwargs: Any) -> Any:
        """The model's own predictions; those of `predict_one` if it cannot predict batches."""
        frame = None if self._untrained and self._target.features else self._usable_frame(X)
        if frame is not None:
            return self.model.predict_many(frame, **kwargs)
        return batches.series([self.predict_one(x, **kwargs) for x in batches.rows(X)], X)

    def _call(self, predict: Callable[..., Any], x: Any, kwargs: dict[str, Any]) -> Any:
        """Call a method of the model, without the features that it cannot use."""
        if wild := self.unusual_cells(x):
            x = {**x, **dict.fromkeys(wild, math.nan)}
        x = self._filled(x)
        if not isinstance(x, str) and not all(_is_finite(value) for value in x.values()):
            x = {name: value for name, value in x.items() if _is_finite(value)}
        try:
            return predict(x, **kwargs)
        except UNREADABLE:
            if isinstance(x, str):
                raise
            numbers = self._features.features  # text instead of a number counts as missing
            near = {
                name: value
                for name, value in x.items()
                if _is_usable(value) and not (isinstance(value, str) and name in numbers)
            }
        try:
            return predict(near, **kwargs)
        except UNREADABLE:  # a step needs a feature that is absent: use its usual value
            return predict(self._features.usual() | near, **kwargs)

    # -- River's own methods

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"model"}

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change the model inside: {"model": {...}}."""
        if isinstance(new_attrs.get("model"), dict):  # a pipeline has its own method for this
            self.model.mutate(new_attrs["model"])
            new_attrs = {name: value for name, value in new_attrs.items() if name != "model"}
        super().mutate(new_attrs)

    def _unit_test_skips(self) -> set[str]:
        return self.model._unit_test_skips()


class RobustWrappedClassifier(Robust, base.Classifier):
    """`Robust` around a classifier."""

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": linear_model.LogisticRegression()}

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """The model's probabilities, from the features that are finite."""
        return self._call(self.model.predict_proba_one, x, kwargs)

    def predict_proba_many(self, X: Any, **kwargs: Any) -> Any:
        """The model's own probabilities; those of `predict_proba_one` if it cannot predict batches."""
        frame = self._usable_frame(X)
        if frame is not None:
            return self.model.predict_proba_many(frame, **kwargs)
        return batches.frame([self.predict_proba_one(x, **kwargs) for x in batches.rows(X)], X)

    def _target_row(self, y: Any) -> dict[str, float]:
        return {"y": math.nan} if y is None or y != y else {}

    def _label(self, y: Any) -> Any:
        return y


class RobustWrappedRegressor(Robust, base.Regressor):
    """`Robust` around a regressor."""

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": linear_model.LinearRegression()}

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """The prediction from the features that are finite, clipped to the range of the targets.

        If the filters have skipped every row so far and the model predicts 0: the median of the targets.
        """
        prediction = super().predict_one(x, **kwargs)
        if self._untrained and prediction == 0.0 and "y" in self._target.features:
            return self._target.features["y"].center
        return self._clip(prediction)

    def predict_many(self, X: Any, **kwargs: Any) -> Any:
        """The model's own predictions, clipped to the range of the targets."""
        predictions = super().predict_many(X, **kwargs)
        values = batches.values(predictions)
        clipped = [self._clip(value) for value in values]
        return predictions if clipped == values else batches.series(clipped, X)

    def _clip(self, prediction: Any) -> Any:
        """Clip to the range of the targets learned from, plus a sixth of it on both sides."""
        if self._untrained or not isinstance(prediction, float):
            return prediction
        return self._target_range.clip(prediction)

    def _target_row(self, y: Any) -> dict[str, float]:
        return {"y": as_float(y)}

    def _label(self, y: Any) -> Any:
        return None


class RobustWrappedBatchClassifier(RobustWrappedClassifier, base.MiniBatchClassifier):
    """`Robust` around a classifier that learns from batches, too."""


class RobustWrappedBatchRegressor(RobustWrappedRegressor, base.MiniBatchRegressor):
    """`Robust` around a regressor that learns from batches, too."""


_KINDS = {  # the class of the wrapper, by the class of the model
    base.MiniBatchClassifier: RobustWrappedBatchClassifier,
    base.MiniBatchRegressor: RobustWrappedBatchRegressor,
    base.Classifier: RobustWrappedClassifier,
    base.Regressor: RobustWrappedRegressor,
}


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or -math.inf < value < math.inf


def _is_usable(value: object) -> bool:
    return isinstance(value, str) or abs(as_float(value)) < FAR
