"""Vowpal Wabbit with its defaults."""

from typing import Any

import numpy as np


class VowpalWabbit:
    """`vowpalwabbit.Workspace`: squared loss for numbers, logistic for labels."""

    def __init__(self, regression: bool) -> None:
        from vowpalwabbit import Workspace

        loss = [] if regression else ["--loss_function", "logistic"]
        self.workspace: Any = Workspace(arg_list=["--quiet", *loss])

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            self.workspace.learn(f"{target!r} {_features(row)}")

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([self.workspace.predict(_features(row)) for row in X.tolist()], float)


def _features(row: list[float]) -> str:
    return "| " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row))
