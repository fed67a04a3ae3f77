"""Intervals and sets of labels: the errors of the forecasts of a pass, and the widths that follow them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.intervals import IntervalReport, Widths
from holdfast.intervals.widths import LABELS, NUMBERS, label_scores

Floats = NDArray[np.float64]


class Forecasts:
    """What all models said of each row before they learned from it.

    For numbers it is the prediction. For labels it is the margin of the right label: with pairs of classes,
    -ln Σ exp(-m) over the margins m of the pairs that it is in, which are those that learn from the row.
    """

    def __init__(self, rows: int, regression: bool, of_rest: bool = False) -> None:
        self.regression, self.of_rest = regression, of_rest
        self.values = np.full(rows, np.nan)

    @np.errstate(all="ignore")
    def add(self, rows: Any, predictions: Floats, targets: Floats) -> None:
        """Add what a model said of these rows; its targets of labels are +1 and -1."""
        if self.regression:
            self.values[rows] = predictions
            return
        own = targets > 0.0 if self.of_rest else np.ones(len(targets), bool)
        lost, rows = -(predictions * targets)[own], rows[own]
        before = self.values[rows]
        self.values[rows] = np.logaddexp(np.where(np.isnan(before), -np.inf, before), lost)

    def follow(self, widths: Widths, rows: Any, targets: Floats) -> None:
        """Let widths follow the errors of these rows, in this order."""
        if self.regression:
            widths.add_forecasts(self.values[rows], targets[rows])
        else:
            widths.add(label_scores(-self.values[rows]))


class IntervalMixin:
    """The widths that an estimator follows."""

    _widths: Widths

    def _start_widths(self, regression: bool) -> None:
        self._widths = Widths(NUMBERS if regression else LABELS)

    def _width_at(self, coverage: float | Sequence[float]) -> Floats:
        """The width for each coverage."""
        return np.array([self._widths.at(float(each)) for each in np.atleast_1d(coverage)])

    @property
    def interval_report_(self) -> tuple[IntervalReport, ...]:
        """How the intervals of each tracked coverage have done, for the rows that were learned from."""
        return self._widths.report()
