"""Level for River: an anomaly detector for one number."""

import math
from collections.abc import Callable
from typing import Any

from river import base

from holdfast.levels import Event, Level, Reading
from holdfast.river.batches import as_float


class LevelScorer(base.SupervisedAnomalyDetector):
    """Is this number odd? `holdfast.Level`, as an anomaly detector on the target, for use in River.

    It does not look at the features. A number that cannot be read changes nothing.

    Parameters:
        coverage, season, patience, alarms, on_event: As in `holdfast.Level`.

    Guarantee: That of `holdfast.levels.baseline.Baseline`.

    >>> import numpy as np
    >>> from holdfast.river import LevelScorer
    >>> scorer = LevelScorer()
    >>> for y in np.random.default_rng(0).normal(20.0, 1.0, 500):
    ...     scorer.learn_one({}, y)
    >>> scorer.score_one({}, 20.5) < 1.0 < scorer.score_one({}, 99.0)
    True
    >>> low, high = scorer.predict_interval_one()
    >>> 17.0 < low < high < 23.0
    True
    """

    def __init__(
        self,
        coverage: float = 0.9,
        season: int = 0,
        patience: int = 20,
        alarms: float = 1e-3,
        on_event: Callable[[Event], Any] | None = None,
    ) -> None:
        self.coverage, self.season, self.patience = coverage, season, patience
        self.alarms, self.on_event = alarms, on_event
        self._level = Level(coverage, season, patience, alarms, on_event)
        self._last = Reading(math.nan, math.inf, False, -math.inf, math.inf)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Follow a number."""
        self._last = self._level.update(as_float(y))

    def score_one(self, x: dict[Any, Any], y: Any) -> float:
        """How far a number is from what is expected next: above 1 it is odd. It is 0 before the 16th."""
        return self._level.score(as_float(y))

    def predict_interval_one(self, x: dict[Any, Any] | None = None) -> tuple[float, float]:
        """The interval of the next number, which covers a share `coverage`; infinite before the 16th."""
        return self._last.low, self._last.high

    @property
    def reading(self) -> Reading:
        """What is known after the last number: level, spread, whether it was kept, and the interval."""
        return self._last
