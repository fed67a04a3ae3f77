"""AdaGrad behind a rule that sees the norm of each gradient: how a rule for training does on a stream.

Columns are in units that do not move: median and quartiles of the first 100 rows. So the rule is all that
stands between a bad row and the weights.
"""

import math

import numpy as np

from holdfast_lab.gauntlet.optimizers import Gradients
from holdfast_lab.gauntlet.stepping import Stepper

UNITS, RATE = 100, 0.3  # rows that give the units, and the step


class AdaGrad:
    """w - 0.3 g / √(sum of g²), for each weight: it has no scale of its own, and a huge g stops it."""

    def __init__(self, dim: int) -> None:
        self.w, self.squares, self.moved = np.zeros(dim), np.zeros(dim), False

    def step(self, gradients: Gradients, rate: float = 1.0) -> None:
        self.moved = bool(np.any(gradients[0] != 0.0))
        g = rate * gradients[0]
        self.squares += g * g
        self.w -= RATE * g / np.sqrt(np.where(self.squares > 0.0, self.squares, 1.0))

    def arrays(self) -> list[np.ndarray]:
        return [self.w, self.squares]

    def forget(self) -> None:
        self.squares[:] = 0.0


class RuledLearner:
    """A linear model: squared loss for numbers, logistic for labels."""

    def __init__(self, stepper: Stepper, regression: bool, bad: int) -> None:
        self.stepper, self.regression, self.bad = stepper, regression, bad
        self.first: list[np.ndarray] = []
        self.targets: list[float] = []
        self.units: tuple[np.ndarray, np.ndarray, float, float] | None = None
        self.kept: np.ndarray | None = None

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        kept = np.zeros(len(y), bool)
        with np.errstate(all="ignore"):
            for i, (x, target) in enumerate(zip(X, y, strict=True)):
                if self.units is None:
                    self._collect(x, float(target))
                    kept[i] = True
                else:
                    kept[i] = self._learn(x, float(target))
        self.kept = kept

    def _collect(self, x: np.ndarray, target: float) -> None:
        self.first.append(x)
        self.targets.append(target)
        if len(self.first) == UNITS:
            middle, scale = _units(np.array(self.first))
            goal, unit = (
                _units(np.array(self.targets)[:, None]) if self.regression else (np.zeros(1), np.ones(1))
            )
            self.units = middle, scale, float(goal[0]), float(unit[0])
            self.optimizer = AdaGrad(len(x) + 1)
            self.stepping = self.stepper.make(self.optimizer, self.bad)
            for each, y in zip(self.first, self.targets, strict=True):
                self._learn(each, y)

    def _learn(self, x: np.ndarray, target: float) -> bool:
        assert self.units is not None
        z, goal = self._row(x), (target - self.units[2]) / self.units[3]
        output = float(z @ self.optimizer.w)
        if self.regression:
            slope = output - goal
        else:
            slope = -goal / (1.0 + math.exp(min(goal * output, 700.0))) if output == output else math.nan
        self.optimizer.moved = False
        self.stepping.step([slope * z])
        return self.optimizer.moved

    def _row(self, x: np.ndarray) -> np.ndarray:
        assert self.units is not None
        return np.append((x - self.units[0]) / self.units[1], 1.0)

    def predict(self, X: np.ndarray) -> np.ndarray:
        if self.units is None:
            return np.full(len(X), float(np.median(self.targets)) if self.regression else 1.0)
        with np.errstate(all="ignore"):
            outputs = np.array([float(self._row(x) @ self.optimizer.w) for x in X])
        return self.units[2] + self.units[3] * outputs


def _units(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The median of each column, and its quartiles' distance over that of a normal law; 1 if that is 0."""
    low, middle, high = np.nanquantile(columns, (0.25, 0.5, 0.75), axis=0)
    scale = (high - low) / 1.349
    return middle, np.where(scale > 0.0, scale, 1.0)
