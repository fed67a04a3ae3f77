"""River: linear models behind its scaler, with clipped slopes, with its filter, and its trees."""

import warnings
from typing import Any

import numpy as np

_SUSPECT = 0.95  # rows with scores above this quantile are skipped, as in the example of QuantileFilter


def linear(regression: bool, clip: bool = False, filtered: bool = False) -> Any:
    """StandardScaler | LinearRegression or LogisticRegression, as in River's tutorials."""
    from river import anomaly, linear_model, preprocessing

    slope = {"clip_gradient": 1.0} if clip else {}
    if regression:
        model: Any = linear_model.LinearRegression(**slope)
        if clip:  # the slope is clipped, so that targets are scaled
            model = preprocessing.TargetStandardScaler(model)
    else:
        model = linear_model.LogisticRegression(**slope)
    if filtered:
        model = anomaly.QuantileFilter(anomaly.OneClassSVM(), q=_SUSPECT) | model
    return preprocessing.StandardScaler() | model


def tree(regression: bool, robust: bool = False) -> Any:
    """A Hoeffding tree with its defaults, and `holdfast.river.Robust` around it."""
    from river import tree as trees

    model = trees.HoeffdingTreeRegressor() if regression else trees.HoeffdingTreeClassifier()
    if robust:
        from holdfast.river import Robust

        return Robust(model)
    return model


class RiverModel:
    """A model of River on rows of arrays."""

    def __init__(self, model: Any, regression: bool) -> None:
        self.model, self.regression = model, regression

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            self._learn(dict(enumerate(row)), target if self.regression else target > 0.0)

    def _learn(self, row: dict[int, float], target: float | bool) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `Robust` warns if many rows are skipped
            self.model.learn_one(row, target)

    def predict(self, X: np.ndarray) -> np.ndarray:
        rows = [dict(enumerate(row)) for row in X.tolist()]
        if self.regression:
            return np.array([self.model.predict_one(row) for row in rows], float)
        return np.array([1.0 if self.model.predict_one(row) else -1.0 for row in rows])
