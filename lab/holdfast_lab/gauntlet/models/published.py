"""WoLF and QC-SGD, restated from their papers in `holdfast_lab.trials`, behind our running scale."""

import math

import numpy as np

import holdfast as hf
from holdfast.vectors import dot, prediction_of
from holdfast_lab.trials.contestants import QCSGD_FOR_LABELS, QCSGD_FOR_NUMBERS, WOLF


class Published:
    """A rule of ours without a filter; its settings were chosen on clean data."""

    def __init__(self, name: str, regression: bool) -> None:
        learner = WOLF if name == "WoLF" else QCSGD_FOR_NUMBERS if regression else QCSGD_FOR_LABELS
        self.rule = hf.Filtered(hf.Scaled(learner, target=regression), hf.Everything())
        self.loss = hf.Squared() if regression else hf.Logistic()
        self.player: hf.Player | None = None

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        if self.player is None:
            self.player = hf.Player(self.rule, X.shape[1], compiled=False)
        with np.errstate(all="ignore"):
            for row, target in zip(X, y, strict=True):
                self.player.learn(row, float(target), self.loss)

    def predict(self, X: np.ndarray) -> np.ndarray:
        if self.player is None:
            return np.full(len(X), math.nan)
        with np.errstate(all="ignore"):
            w = self.player.rule.current_weights(self.player.state)
            return np.array([prediction_of(w, dot(w, row)) for row in X])
