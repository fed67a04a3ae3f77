"""Any learner, behind a running scale of the features and the target."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import check_hints
from holdfast.norms import LONG
from holdfast.protocols import Learner
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import (
    SWING,
    ScaledWeights,
    add_square,
    assign,
    copy_row,
    standardise,
    target_for,
    update_factors,
    update_max_abs,
    update_moments,
)

_OFTEN = 1.01  # the scales are taken anew when there are this many times as many rounds
_NORMAL = 2.198  # the mean of squared normal numbers over their median


class ScaledState(NamedTuple):
    """What a scaled learner knows: its learner, and where and how wide the features and the target are."""

    inner: Any
    center: np.ndarray
    spread: np.ndarray  # sums of squared deviations (`grown` says when below 0), or the largest sparse values
    factors: np.ndarray  # by which deviations are multiplied; 0 for a feature that never varied
    row: np.ndarray
    first: np.ndarray  # the rows that came first, each with its target
    rounds: float  # learned from
    due: float  # when the factors are
    y: float  # the target of this round
    y_center: float
    y_squares: float
    y_spread: float
    y_low: float
    y_high: float


@rule
class Scaled:
    """A learner that sees every feature from its running mean, in units of its running standard deviation.

    It also has a constant to learn, as a last weight. Both running figures are moved only by the rounds that
    are learned from, so behind a filter no outlier moves them. They begin as medians of the first rounds, and
    later no row moves them far, because its deviations count up to 5 standard deviations. So neither wild
    rows at the start, fewer than half, nor a feature that is wild in up to 4 % of the rounds ruin them.

    Predictions go no further than one standard deviation beyond the targets learned from.

    A feature or target that has varied at most once counts as 0. When it varies for the first time, the round
    is neither unlike all others nor does it move a prediction, and the second time says how far it goes.

    The features of sparse rows keep their zeros: each is divided by its largest absolute value so far, which
    at most doubles from one round to the next.

    Parameters
    ----------
    learner : a learner
        Of one weight more than there are features, such as `AdaGrad(Box(-10, 10))`.
    target : bool
        Whether the target has a running mean and standard deviation, too: for regression. Losses are then in
        these units.
    clip : float
        How many standard deviations a feature can be from its mean.
    patience : int
        As many rounds, the first, move only the figures.

    Guarantee: none of its own, because the units change from round to round. In the units of its round, each
    kept row is as small as the filter promises.

    Examples
    --------
    >>> from holdfast.domains import Box
    >>> from holdfast.learners import AdaGrad
    >>> scaled = Scaled(AdaGrad(Box(-10.0, 10.0)), patience=5)
    >>> state = scaled.init(dim=1)
    >>> for x in (100.0, 1e9, 300.0, 200.0, 300.0):
    ...     state = scaled.update(state, slope=-1.0, x=np.array([x]))
    >>> scaled.transform_row(state, np.array([400.0])).round(2)
    array([0.44, 1.  ])
    """

    learner: Learner
    target: bool = False
    clip: float = 8.0
    patience: int = 20

    def check(self):
        if not 1.0 <= self.clip < math.inf:
            raise ValueError(f"clip counts standard deviations, at least 1: got {self.clip}")
        if self.patience < 1:
            raise ValueError(f"patience counts rounds, at least 1: got {self.patience}")

    def reads_rows(self):
        return True

    def needs(self):
        return self.learner.needs()

    def check_dim(self, dim):
        check_hints(self.learner)
        self.learner.check_dim(dim + 1)

    def init(self, dim):
        zeros = [np.zeros(dim) for _ in range(3)]
        room = (np.zeros(dim + 1), np.zeros((self.patience, dim + 1)))
        unknown = 0.0 if self.target else 1.0  # the target's spread
        figures = (0.0, 0.0, 0.0, 0.0, 0.0, unknown, math.inf, -math.inf)
        return ScaledState(self.learner.init(dim + 1), *zeros, *room, *figures)

    def valid(self, state):
        begun = min(state.rounds, float(self.patience))
        if not (is_whole(state.rounds) and state.rounds >= 0.0 and self.learner.valid(state.inner)):
            return False
        return bool(np.isfinite(state.first[: int(begun), -1]).all()) or not self.target

    def reset(self, state, dim):
        for array in (state.center, state.spread, state.factors):
            assign(array, np.zeros(dim))
        inner = self.learner.reset(state.inner, dim + 1)
        arrays = (state.center, state.spread, state.factors, state.row, state.first)
        unknown = 0.0 if self.target else 1.0
        return ScaledState(inner, *arrays, 0.0, 0.0, 0.0, 0.0, 0.0, unknown, math.inf, -math.inf)

    def to_lazy(self, state, summed):
        inner = self.learner.to_lazy(state.inner, False)
        return state._replace(inner=inner, first=np.zeros((self.patience, 1)))  # of sparse rows, the targets

    def predict(self, state):
        v = self.learner.predict(state.inner)
        figures = (state.center, state.factors, state.row)
        return ScaledWeights(
            v, *figures, self.clip, state.y_center, state.y_spread, state.y_low, state.y_high
        )

    def set_target(self, state, y):
        arrays = (state.center, state.spread, state.factors, state.row, state.first)
        figures = (state.y_center, state.y_squares, state.y_spread, state.y_low, state.y_high)
        return ScaledState(state.inner, *arrays, state.rounds, state.due, y, *figures)

    def transform_row(self, state, x):
        """The row as the learner sees it."""
        return standardise(self.predict(state), x)

    def transform_target(self, state):
        """The target of the round as the learner sees it."""
        return target_for(self.predict(state), state.y) if self.target else 0.0

    def update(self, state, slope, x):
        return self.update_transformed(state, slope, x, self.transform_row(state, x))

    def update_transformed(self, state, slope, x, row):
        if state.rounds < self.patience:
            return self.begun(state, x)
        inner = self.learner.set_target(state.inner, target_for(self.predict(state), state.y))
        inner, n = self.learner.update(inner, slope, row), state.rounds + 1.0
        update_moments(state.center, state.spread, state.factors, n, x)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            y_low, y_high = min(y_low, state.y), max(y_high, state.y)
            deviation = max(min(state.y - y_center, LONG), -LONG)
            if y_spread > 0.0:
                far = SWING * y_spread
                deviation = max(min(deviation, far), -far)
                y_center += deviation / n
                y_squares += deviation * (deviation - deviation / n)
            else:
                y_squares = add_square(y_squares, deviation * deviation)
        due = state.due
        if n >= due:
            due = _OFTEN * n + 1.0
            update_factors(state.factors, state.spread, n, x)
            if y_squares > 0.0:
                y_spread = math.sqrt(y_squares / n)
        arrays = (state.center, state.spread, state.factors, state.row, state.first)
        figures = (y_center, y_squares, y_spread, y_low, y_high)
        return ScaledState(inner, *arrays, n, due, state.y, *figures)

    def begun(self, state, x):
        """One more of the first rounds, from which the figures are taken anew."""
        rows, n = state.first, int(state.rounds) + 1
        copy_row(rows[n - 1], x)
        rows[n - 1, -1] = state.y
        for i in range(rows.shape[1] - 1):
            state.center[i], state.spread[i] = _figures(rows[:n, i])
        update_max_abs(state.spread, state.factors, x)
        update_factors(state.factors, state.spread, n, x)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            targets = rows[:n, -1]
            y_center, y_squares = _figures(targets)
            y_spread = math.sqrt(max(y_squares, 0.0) / n)
            near = targets[np.abs(targets - y_center) <= SWING * y_spread]
            y_low, y_high = float(np.min(near)), float(np.max(near))
        arrays = (state.center, state.spread, state.factors, state.row, rows)
        figures = (y_center, y_squares, y_spread, y_low, y_high)
        return ScaledState(state.inner, *arrays, float(n), 0.0, state.y, *figures)


def _figures(values):
    """The center of a few values, fewer than half of them wild, and the sum of their squared deviations."""
    center = float(np.sort(values)[(len(values) - 1) // 2])
    squares = np.sort(np.minimum(np.abs(values - center), LONG) ** 2)
    moved = squares[squares > 0.0]
    if len(moved) < 2:
        return center, float(0.0 - squares[-1])  # as `grown` has it
    return center, float(_NORMAL * len(moved) * moved[(len(moved) - 1) // 2])
