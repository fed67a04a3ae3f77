"""scikit-learn: SGD behind a running scale, and estimators for outliers that are fitted again on a window.

scikit-learn refuses rows with NaN or infinity, so they are left out.
"""

import warnings
from typing import Any

import numpy as np

WINDOW = 500  # rows that are fitted again


class ScaledSGD:
    """`SGDRegressor` or `SGDClassifier` behind `StandardScaler`, with `partial_fit`; targets are scaled."""

    def __init__(self, regression: bool, **parameters: Any) -> None:
        from sklearn.linear_model import SGDClassifier, SGDRegressor
        from sklearn.preprocessing import StandardScaler

        self.regression = regression
        self.model = (SGDRegressor if regression else SGDClassifier)(random_state=0, **parameters)
        self.scaler, self.target_scaler = StandardScaler(), StandardScaler()
        self.kept: np.ndarray | None = None

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.kept = np.isfinite(X).all(axis=1)
        X, y = X[self.kept], y[self.kept]
        if len(y) == 0:
            return
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = self.scaler.partial_fit(X).transform(X)
            if self.regression:
                goal = self.target_scaler.partial_fit(y[:, None]).transform(y[:, None])[:, 0]
                self.model.partial_fit(Z, goal)
            else:
                self.model.partial_fit(Z, y, classes=[-1.0, 1.0])

    def predict(self, X: np.ndarray) -> np.ndarray:
        fine = np.isfinite(X).all(axis=1)
        predictions = np.zeros(len(X))
        if fine.any():
            found = self.model.predict(self.scaler.transform(X[fine]))
            if self.regression:
                found = self.target_scaler.inverse_transform(found[:, None])[:, 0]
            predictions[fine] = found
        return predictions


class Refitted:
    """An estimator without `partial_fit`: fitted again, on the last 500 rows, every so many rows.

    If a fit fails, as that of RANSAC where it finds no consensus, the model before it stays.
    """

    def __init__(self, estimator: Any, every: int = 50) -> None:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.pipeline, self.every = make_pipeline(StandardScaler(), estimator), every
        self.fitted: Any = None
        self.rows: np.ndarray | None = None
        self.targets = np.zeros(0)
        self.since = 0

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn.base import clone

        fine = np.isfinite(X).all(axis=1)
        X = X[fine] if self.rows is None else np.vstack([self.rows, X[fine]])
        self.rows, self.targets = X[-WINDOW:], np.concatenate([self.targets, y[fine]])[-WINDOW:]
        self.since += len(y)
        if self.fitted is not None and self.since < self.every:
            return
        self.since = 0
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.fitted = clone(self.pipeline).fit(self.rows, self.targets)
            except ValueError:
                if self.fitted is None:
                    raise

    def predict(self, X: np.ndarray) -> np.ndarray:
        fine = np.isfinite(X).all(axis=1)
        predictions = np.zeros(len(X))
        if fine.any():
            predictions[fine] = self.fitted.predict(X[fine])
        return predictions
