"""Judge a label with the forecast that was given for its id, however long ago, and not with a newer one."""

import json
import math
from typing import NamedTuple

import numpy as np

from holdfast.intervals.widths import LABELS, NUMBERS, Widths, label_scores
from holdfast.io.columns import Target
from holdfast.serve.rows import target_number

RECENT = 1_000  # judged forecasts of which /model and /metrics have the mean


class Judged(NamedTuple):
    """The error of a forecast, and its score for the widths of intervals; NaN where there is none."""

    error: float
    score: float


def judge(target: Target, forecast: str, text: str) -> Judged:
    """Compare a target with a forecast of the store: a prediction, margins of labels, and `outlier`."""
    found, y = json.loads(forecast), target_number(target, text)
    near = math.nan if found["outlier"] else 1.0
    prediction = found["prediction"]
    if prediction is None:
        return Judged(math.nan, math.nan)
    if target.regression:
        error = abs(y - prediction)
        return Judged(error, error * near)
    margins = found["margins"]
    score = float(label_scores(np.array([margins[int(y)]]))[0]) * near if margins else math.nan
    return Judged(float(prediction != text), score)


class Judge:
    """The widths of intervals by the forecasts as they were given, and the errors of the last of them."""

    def __init__(self, target: Target, begun: np.ndarray) -> None:
        """`begun`: the widths of the run, for the first intervals."""
        self._widths = Widths(NUMBERS if target.regression else LABELS)
        self._widths.load(begun)
        self._errors: list[float] = []
        self.count, self.mean = 0, 0.0  # of all errors

    def add(self, judged: list[Judged]) -> None:
        """Add forecasts, in the order of their labels."""
        if judged:
            self._widths.add(np.array([one.score for one in judged]))
        errors = [one.error for one in judged if math.isfinite(one.error)]
        for error in errors:  # a sum could be too large for a float64
            self.count += 1
            self.mean += error / self.count - self.mean / self.count
        self._errors = (self._errors + errors)[-RECENT:]

    def table(self) -> np.ndarray:
        return self._widths.table()

    def mean_error(self) -> float | None:
        return mean_of(self._errors) if self._errors else None

    def to_text(self) -> str:
        """All that is known, for `load`."""
        return json.dumps(
            {
                "widths": self._widths.numbers().tolist(),
                "errors": self._errors,
                "count": self.count,
                "mean": self.mean,
            }
        )

    def load(self, text: str) -> None:
        """Continue from `to_text()`."""
        found = json.loads(text)
        self._widths.load(np.array([math.inf if x is None else x for x in found["widths"]], np.float64))
        self._errors, self.count, self.mean = found["errors"], found["count"], found["mean"]


def mean_of(values: list[float]) -> float:
    """The mean of numbers whose sum may be too large for a float64."""
    return math.fsum(value / len(values) for value in values)
