"""Any learner, behind a running scale of the features and the target."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import SWING, add_square, copy_row, update_factors, update_max_abs, update_moments
from holdfast.learners.missing_cells import missing_with
from holdfast.learners.needs import PassedOn, check_hints
from holdfast.norms import LONG
from holdfast.protocols import Learner, Row
from holdfast.rounds import Round
from holdfast.rule import replaced, rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import ScaledWeights, assign, target_for

_NORMAL = 2.198  # the mean of squared normal numbers over their median
_OFTEN = 1.01  # the factors are computed again when there are this many times as many rounds


class ScaledState(NamedTuple):
    inner: Any
    center: np.ndarray
    spread: np.ndarray  # sums of squared deviations, or the largest sparse values
    factors: np.ndarray  # by which deviations are multiplied; 0 for a feature that never varied
    row: np.ndarray
    first: np.ndarray  # the first rows, each with its target
    rounds: float  # learned from
    due: float  # the round in which the factors are computed again
    y_center: float
    y_squares: float
    y_spread: float
    y_low: float
    y_high: float


@rule
class Scaled:
    """A learner that sees every feature minus its running mean, in units of its running standard deviation.

    It also learns a constant, as a last weight. Mean and deviation are moved only by the rounds that are
    learned from, so behind a filter no outlier moves them. They start as medians of the first rounds, and
    later no row moves them far, because its deviations count up to 5 standard deviations. So neither wild
    rows at the start, fewer than half, nor a feature that is wild in up to 4 % of the rounds ruin them.

    Predictions go no further than one standard deviation beyond the targets learned from.

    A feature or target that has varied at most once counts as 0. When it varies for the first time, the round
    neither looks like an outlier nor moves a prediction; the second time decides its scale.

    The features of sparse rows keep their zeros: each is divided by its largest absolute value so far, which
    at most doubles from one round to the next.

    Parameters:
        learner: Of one weight more than there are features, such as `AdaGrad(Box(-10, 10))`.
        target: Whether the target has a running mean and standard deviation, too: for regression. Losses are
            then in these units.
        clip: How many standard deviations a feature can be from its mean.
        patience: The number of first rounds that only set the scales.
        missing: The largest share of the cells of a row that may be missing (NaN). A missing cell then counts
            as the mean of its feature, and of a sparse row as 0. 0: a row with a missing cell is not learned
            from. Nor is one with an infinite cell, in any case.

    Guarantee: none of its own, because the units change from round to round. In the units of its round, each
    kept row is as small as the filter guarantees.

    >>> from holdfast.rounds import after_round
    >>> from holdfast.domains import Box
    >>> from holdfast.learners import AdaGrad
    >>> scaled = Scaled(AdaGrad(Box(-10.0, 10.0)), patience=5)
    >>> state = scaled.init(dim=1)
    >>> for x in (100.0, 1e9, 300.0, 200.0, 300.0):
    ...     state = after_round(scaled, state, Round(-1.0, np.array([x])))
    >>> scaled.in_units(state, Round(-1.0, np.array([400.0]))).row.round(2)
    array([0.44, 1.  ])
    """

    learner: Learner
    target: bool = False
    clip: float = 8.0
    patience: int = 20
    missing: Any = 0.0

    def check(self) -> Any:
        if not 1.0 <= self.clip < math.inf:
            raise ValueError(f"clip counts standard deviations, at least 1: got {self.clip}")
        if self.patience < 1:
            raise ValueError(f"patience counts rounds, at least 1: got {self.patience}")
        return replaced(self, missing=missing_with(self.missing))

    needs = PassedOn.needs

    def reads_rows(self) -> bool:
        return True

    def check_dim(self: Any, dim: int) -> None:
        check_hints(self.learner)
        self.learner.check_dim(dim + 1)

    def init(self, dim: int) -> ScaledState:
        scales = (np.zeros(dim), np.zeros(dim), np.zeros(dim), np.zeros(dim + 1))
        first = np.zeros((self.patience, dim + 1))
        return ScaledState(self.learner.init(dim + 1), *scales, first, *self.first_numbers())

    def first_numbers(self) -> tuple[float, float, float, float, float, float, float]:
        """The last seven fields of the first state. A target that is not scaled has the spread 1."""
        return (0.0, 0.0, 0.0, 0.0, 0.0 if self.target else 1.0, math.inf, -math.inf)

    def valid(self, state: ScaledState) -> bool:
        learner: Any = self.learner
        known = min(state.rounds, float(self.patience))
        if not (is_whole(state.rounds) and state.rounds >= 0.0 and learner.valid(state.inner)):
            return False
        return bool(np.isfinite(state.first[: int(known), -1]).all()) or not self.target

    def reset(self, state: ScaledState, dim: int) -> ScaledState:
        learner: Any = self.learner
        for array in (state.center, state.spread, state.factors):
            assign(array, np.zeros(dim))
        inner = learner.reset(state.inner, dim + 1)
        return ScaledState(inner, *self.arrays(state), *self.first_numbers())

    def arrays(self, state: ScaledState) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of a state, in the order of its fields."""
        return (state.center, state.spread, state.factors, state.row, state.first)

    def to_lazy(self: Any, state: ScaledState, summed: bool) -> ScaledState:
        inner = self.learner.to_lazy(state.inner, False)
        return state._replace(inner=inner, first=np.zeros((self.patience, 1)))  # of sparse rows, the targets

    def predict(self, state: ScaledState) -> ScaledWeights:
        v = self.learner.predict(state.inner)
        scales = (state.center, state.factors, state.row)
        target = (state.y_center, state.y_spread, state.y_low, state.y_high)
        return ScaledWeights(v, *scales, self.clip, *target, self.missing, math.inf, math.inf)

    def in_units(self, state: ScaledState, round: Round) -> Round:
        w = self.predict(state)
        target = target_for(w, round.y) if self.target else 0.0
        return Round(round.slope, round.x, round.y, w.row_in_units(round.x), target)

    def update(self, state: ScaledState, round: Round) -> ScaledState:
        x, y = round.x, round.y
        if state.rounds < self.patience:
            return self.update_first(state, x, y)
        target = target_for(self.predict(state), y)
        learner: Any = self.learner
        seen = learner.in_units(state.inner, Round(round.slope, round.row, target, round.row, 0.0))
        inner = learner.update(state.inner, seen)
        n = state.rounds + 1.0
        filled = self.missing.fill(state.row, x, state.center)  # `row` is no longer needed
        update_moments(state.center, state.spread, state.factors, n, filled)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            y_low, y_high = min(y_low, y), max(y_high, y)
            y_center, y_squares = move_target(y_center, y_squares, y_spread, n, y)
        due = state.due
        if n >= due:
            due = _OFTEN * n + 1.0
            update_factors(state.factors, state.spread, n, x)
            if y_squares > 0.0:
                y_spread = math.sqrt(y_squares / n)
        numbers = (y_center, y_squares, y_spread, y_low, y_high)
        return ScaledState(inner, *self.arrays(state), n, due, *numbers)

    def update_first(self, state: ScaledState, x: Row, y: float) -> ScaledState:
        """Store one of the first rounds, and compute the scales from all of them."""
        rows, n = state.first, int(state.rounds) + 1
        copy_row(rows[n - 1], x)
        rows[n - 1, -1] = y
        for i in range(rows.shape[1] - 1):
            state.center[i], square, moved = median_deviation(rows[:n, i])
            state.spread[i] = _NORMAL * moved * square if square > 0.0 else square
        update_max_abs(state.spread, state.factors, x)
        update_factors(state.factors, state.spread, float(n), x)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            targets = rows[:n, -1]
            y_center, square, moved = median_deviation(targets)
            y_squares = _NORMAL * moved * square if square > 0.0 else square
            y_spread = math.sqrt(max(y_squares, 0.0) / n)
            near = targets[np.abs(targets - y_center) <= SWING * y_spread]
            y_low, y_high = float(np.min(near)), float(np.max(near))
        numbers = (y_center, y_squares, y_spread, y_low, y_high)
        if n == self.patience:
            rows[:] = 0.0  # never compared with; zeros take no space when many states are packed
        return ScaledState(state.inner, *self.arrays(state), float(n), 0.0, *numbers)


def move_target(center: float, squares: float, spread: float, n: float, y: float) -> tuple[float, float]:
    """Center and sum of squared deviations of the target, after the n-th one."""
    deviation = max(min(y - center, LONG), -LONG)
    if not spread > 0.0:
        return center, add_square(squares, deviation * deviation)
    far = SWING * spread
    deviation = max(min(deviation, far), -far)
    return center + deviation / n, squares + deviation * (deviation - deviation / n)


def median_deviation(values: np.ndarray) -> tuple[float, float, float]:
    """The median of a few values; and of the deviations that are not 0 the median square and their number.

    Missing values (NaN) are left out. If there are no others, the median is 0.

    Neither is moved far by wild values, if fewer than half are. If at most one value deviates, its square is
    returned as a negative number.
    """
    values = values[values == values]
    if len(values) == 0:
        return 0.0, 0.0, 0.0
    center = float(np.sort(values)[(len(values) - 1) // 2])
    squares = np.sort(np.minimum(np.abs(values - center), LONG) ** 2)
    moved = squares[squares > 0.0]
    if len(moved) < 2:
        return center, float(0.0 - squares[-1]), float(len(moved))
    middle = float(moved[(len(moved) - 1) // 2])
    if moved[0] == moved[-1]:  # a column with two values: the mean is the median
        middle /= _NORMAL
    return center, middle, float(len(moved))
