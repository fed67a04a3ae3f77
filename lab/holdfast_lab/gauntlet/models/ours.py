"""Our estimators."""

import warnings
from typing import Any

import numpy as np


class Robust:
    """`RobustRegressor` or `RobustClassifier`, with its defaults unless parameters are given."""

    def __init__(self, regression: bool, **parameters: Any) -> None:
        from holdfast.sklearn import RobustClassifier, RobustRegressor

        estimator = RobustRegressor if regression else RobustClassifier
        self.estimator = estimator(random_state=0, **parameters)
        self.more = {} if regression else {"classes": [-1.0, 1.0]}
        self.kept: np.ndarray | None = None

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # many rows are skipped: the scores say whether rightly
            self.estimator.partial_fit(X, y, **self.more)
        self.kept = np.array(self.estimator.kept_mask_, bool)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.estimator.predict(X)
