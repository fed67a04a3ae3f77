"""Any learner, behind a running scale of the features and the target."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import SWING, copy_row, update_factors, update_max_abs
from holdfast.learners.missing_cells import missing_with
from holdfast.learners.needs import check_hints
from holdfast.learners.running_scales import scales_with
from holdfast.norms import LONG
from holdfast.protocols import Learner
from holdfast.rule import rarely_called, rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import ScaledWeights, assign, target_for

_NORMAL = 2.198  # the mean of squared normal numbers over their median
_WIDE = 0.01  # of its square: a scale is far too large if that of the first rounds is smaller
_STEP = math.log(1.5)


class ScaledState(NamedTuple):
    """The state of a learner behind running scales."""

    inner: Any
    center: np.ndarray
    spread: np.ndarray  # sums of squared deviations (with a memory, means), or the largest sparse values
    factors: np.ndarray  # by which deviations are multiplied; 0 for a feature that never varied
    counts: np.ndarray  # what `holdfast.learners.running_scales` keeps
    row: np.ndarray
    first: np.ndarray  # the first rows, each with its target
    rounds: float  # learned from
    due: float  # the round in which the factors are computed again
    y: float  # the target of this round
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

    With `memory`, means and deviations fade, and only deviations that are not 0 count. So the 1 of a rare or
    one-hot column is about one unit from its 0, not many. The mean of such a column stays where it is: it
    moves only if fewer than 30 % of the values equal it, and not if there are only two values.

    The features of sparse rows keep their zeros: each is divided by its largest absolute value so far, which
    at most doubles from one round to the next. With `memory` that value fades with each row that has the
    feature.

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
        The number of first rounds that only set the scales.
    stored : int
        So many first rounds are stored, at least `patience`. Now and then scales are compared with medians of
        all of them. If one is ten times too large, it is set to these medians, and the learner starts from
        scratch. A learner that reads targets then learns from the stored rounds again (`relearn`). So a
        stream that starts with bad rows heals when these are fewer than half.
    memory : float, optional
        The number of rounds after which a value counts about a third (1 / e). None: for ever.
    missing : float
        The largest share of the cells of a row that may be missing (NaN). A missing cell then counts as the
        mean of its feature, and of a sparse row as 0. 0: a row with a missing cell is not learned from.
        Nor is one with an infinite cell, in any case.

    Guarantee: none of its own, because the units change from round to round. In the units of its round, each
    kept row is as small as the filter guarantees.

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
    memory: Any = None
    stored: int = 0
    missing: Any = 0.0

    def check(self):
        if not 1.0 <= self.clip < math.inf:
            raise ValueError(f"clip counts standard deviations, at least 1: got {self.clip}")
        if self.patience < 1:
            raise ValueError(f"patience counts rounds, at least 1: got {self.patience}")
        stored = max(self.stored, self.patience)
        return self._make((*self[:-3], scales_with(self.memory), stored, missing_with(self.missing)))

    def reads_rows(self):
        return True

    def needs(self):
        return self.learner.needs()

    def check_dim(self, dim):
        check_hints(self.learner)
        self.learner.check_dim(dim + 1)

    def init(self, dim):
        scales = (*(np.zeros(dim) for _ in range(3)), self.memory.init(dim))
        rows = (np.zeros(dim + 1), np.zeros((self.stored, dim + 1)))
        return ScaledState(self.learner.init(dim + 1), *scales, *rows, *self.first_numbers())

    def first_numbers(self):
        """The last eight fields of the first state. A target that is not scaled has the spread 1."""
        y, spread = (0.0, 0.0) if self.target else (math.nan, 1.0)
        return (0.0, 0.0, y, 0.0, 0.0, spread, math.inf, -math.inf)

    def valid(self, state):
        known = min(state.rounds, float(self.stored))
        if not (is_whole(state.rounds) and state.rounds >= 0.0 and self.learner.valid(state.inner)):
            return False
        return bool(np.isfinite(state.first[: int(known), -1]).all()) or not self.target

    def reset(self, state, dim):
        for array in (state.center, state.spread, state.factors):
            assign(array, np.zeros(dim))
        assign(state.counts, np.zeros(len(state.counts)))
        inner = self.learner.reset(state.inner, dim + 1)
        return ScaledState(inner, *self.arrays(state), *self.first_numbers())

    def arrays(self, state):
        """The arrays of a state, in the order of its fields."""
        scales = (state.center, state.spread, state.factors, state.counts)
        return (*scales, state.row, state.first)

    def to_lazy(self, state, summed):
        inner = self.learner.to_lazy(state.inner, False)
        return state._replace(inner=inner, first=np.zeros((self.stored, 1)))  # of sparse rows, the targets

    def predict(self, state):
        v = self.learner.predict(state.inner)
        scales = (state.center, state.factors, state.row)
        target = (state.y_center, state.y_spread, state.y_low, state.y_high)
        return ScaledWeights(v, *scales, self.clip, *target, self.missing, math.inf, math.inf)

    def set_target(self, state, y):
        numbers = (state.y_center, state.y_squares, state.y_spread, state.y_low, state.y_high)
        return ScaledState(state.inner, *self.arrays(state), state.rounds, state.due, y, *numbers)

    def transform_row(self, state, x):
        """The row as the learner sees it."""
        return self.predict(state).transform_row(x)

    def transform_target(self, state):
        """The target of the round as the learner sees it."""
        return target_for(self.predict(state), state.y) if self.target else 0.0

    def update(self, state, slope, x):
        return self.update_transformed(state, slope, x, self.transform_row(state, x))

    def update_transformed(self, state, slope, x, row):
        if state.rounds < self.patience:
            return self.update_first(state, x)
        inner, n = self.update_inner(state, slope, row), state.rounds + 1.0
        filled = self.missing.fill(state.row, x, state.center)  # `row` is no longer needed
        scales = (state.center, state.spread, state.factors, state.counts)
        has_new = self.memory.update_columns(*scales, n, filled)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            y_low, y_high = min(y_low, state.y), max(y_high, state.y)
            y_center, y_squares, is_new = self.memory.update_target(
                y_center, y_squares, y_spread, state.counts, n, state.y
            )
            has_new = has_new or is_new
        due = state.due
        if n >= due or has_new:
            due, count = self.memory.next_due(n), self.memory.squares(n)
            update_factors(state.factors, state.spread, count, x)
            if y_squares > 0.0:
                y_spread = math.sqrt(y_squares / count)
        numbers = (y_center, y_squares, y_spread, y_low, y_high)
        state = ScaledState(inner, *self.arrays(state), n, due, state.y, *numbers)
        return self.compare_with_first(state, x) if n <= self.stored else state

    def update_inner(self, state, slope, row):
        """The state of the learner after the round, in the units of the scales."""
        inner = self.learner.set_target(state.inner, target_for(self.predict(state), state.y))
        return self.learner.update(inner, slope, row)

    def update_weights(self, state, slope, x, row):
        """The state in which only the learner has learned from the round. The first rounds teach nothing."""
        if state.rounds < self.patience:
            return state
        return self.with_inner(state, self.update_inner(state, slope, row))

    @rarely_called
    def compare_with_first(self, state, x):
        """Store one of the first rounds; sometimes, set scales that are far too large from all of them."""
        rows, n = state.first, int(state.rounds)
        copy_row(rows[n - 1], x)
        rows[n - 1, -1] = state.y
        if not is_checked(n, self.stored):
            return state
        count, wide = self.memory.squares(float(n)), False
        for i in range(rows.shape[1] - 1):
            _, square, _ = median_deviation(rows[:n, i])
            if 0.0 < _NORMAL * square < _WIDE * float(state.spread[i]) / count:
                center, square, moved = deviation_of_near(rows[:n, i])
                state.center[i], wide = center, True
                state.spread[i] = _NORMAL * self.memory.count_first(state.counts, i, moved, n) * square
        if rows.shape[1] > 1:
            update_factors(state.factors, state.spread, count, x)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            targets = rows[:n, -1]
            _, square, _ = median_deviation(targets)
            if 0.0 < _NORMAL * square < _WIDE * y_squares / count:
                y_center, square, moved = deviation_of_near(targets)
                wide = True
                y_squares = _NORMAL * self.memory.count_first(state.counts, -1, moved, n) * square
                y_spread = math.sqrt(y_squares / count)
                near = targets[np.abs(targets - y_center) <= SWING * y_spread]
                y_low, y_high = float(np.min(near)), float(np.max(near))
        inner = self.learner.reset(state.inner, len(state.row)) if wide else state.inner
        numbers = (y_center, y_squares, y_spread, y_low, y_high)
        state = ScaledState(inner, *self.arrays(state), state.rounds, state.due, state.y, *numbers)
        return self.relearned(state, rows[:n]) if wide else state

    def after_change(self, state, rows):
        """Take scales that no longer fit from recent rows. All then move as if these were the first rows."""
        n = float(max(len(rows), self.patience))
        if len(rows) <= self.stored:
            state.first[: len(rows)] = rows
        before, after = self.memory.squares(max(state.rounds, 1.0)), self.memory.squares(n)
        for i in range(rows.shape[1] - 1):
            variance = float(state.spread[i]) / before
            center, variance, _ = self.new_scale(state, rows[:, i], i, float(state.center[i]), variance)
            state.center[i], state.spread[i] = center, after * variance
        if rows.shape[1] > 1:
            update_factors(state.factors, state.spread, after, rows[0, :-1])
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            targets = rows[:, -1]
            y_center, variance, is_new = self.new_scale(state, targets, -1, y_center, y_squares / before)
            y_squares, y_spread = after * variance, math.sqrt(max(variance, 0.0))
            if is_new:
                near = targets[np.abs(targets - y_center) <= SWING * y_spread]
                y_low, y_high = float(np.min(near)), float(np.max(near))
        numbers = (y_center, y_squares, y_spread, y_low, y_high)
        inner = self.learner.after_change(state.inner, rows)
        return self.relearned(ScaledState(inner, *self.arrays(state), n, 0.0, state.y, *numbers), rows)

    def relearned(self, state, rows):
        """The state after the learner has learned from stored rows, in the units of the new scales."""
        inner, y = state.inner, state.y
        if rows.shape[1] == 1:  # sparse rows are not stored
            return state
        for i in range(len(rows)):
            state = self.set_target(state, float(rows[i, -1]))
            row = self.transform_row(state, rows[i, :-1])
            inner = self.learner.relearn(inner, row, target_for(self.predict(state), state.y))
        return self.with_inner(self.set_target(state, y), inner)

    def with_inner(self, state, inner):
        """The state with another one of the learner."""
        numbers = (state.y_center, state.y_squares, state.y_spread, state.y_low, state.y_high)
        return ScaledState(inner, *self.arrays(state), state.rounds, state.due, state.y, *numbers)

    def new_scale(self, state, values, i, center, variance):
        """Center and variance of recent values, and whether they are new. The old ones stay where they fit.

        They fit if the center has moved by less than a standard deviation and the spread by less than a
        factor 2. They also stay if fewer than two values deviate.
        """
        new_center, square, moved = median_deviation(values)
        if square <= 0.0:
            return center, variance, False
        count = self.memory.count_first(state.counts, i, moved, len(values))
        new = _NORMAL * count * square / self.memory.squares(float(len(values)))
        distance = new_center - center
        if 0.25 * variance < new < 4.0 * variance and distance * distance < variance:
            return center, variance, False
        return new_center, new, True

    def update_first(self, state, x):
        """Store one of the first rounds, and compute the scales from all of them."""
        rows, n = state.first, int(state.rounds) + 1
        copy_row(rows[n - 1], x)
        rows[n - 1, -1] = state.y
        for i in range(rows.shape[1] - 1):
            state.center[i], square, moved = median_deviation(rows[:n, i])
            count = self.memory.count_first(state.counts, i, moved, n)
            state.spread[i] = _NORMAL * count * square if square > 0.0 else square
        squares = self.memory.squares(float(n))
        update_max_abs(state.spread, state.factors, x)
        update_factors(state.factors, state.spread, squares, x)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            targets = rows[:n, -1]
            y_center, square, moved = median_deviation(targets)
            count = self.memory.count_first(state.counts, len(state.center), moved, n)
            y_squares = _NORMAL * count * square if square > 0.0 else square
            y_spread = math.sqrt(max(y_squares, 0.0) / squares)
            near = targets[np.abs(targets - y_center) <= SWING * y_spread]
            y_low, y_high = float(np.min(near)), float(np.max(near))
        numbers = (y_center, y_squares, y_spread, y_low, y_high)
        if n == self.stored:
            rows[:] = 0.0  # never compared with; zeros take no space when many states are packed
        return ScaledState(state.inner, *self.arrays(state), float(n), 0.0, state.y, *numbers)


def is_checked(n, last):
    """Whether scales are compared with the first n rounds: when there are half as many more, and at last."""
    return n == last or int(math.log(n) / _STEP) > int(math.log(n - 1) / _STEP)


def median_deviation(values):
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


def deviation_of_near(values):
    """`median_deviation` of the values that are near, by the medians of all of them.

    If nearly half of the values are wild, the medians of all are at the edge of the others.
    """
    center, square, _ = median_deviation(values)
    near = values[np.abs(values - center) <= SWING * math.sqrt(_NORMAL * square)]
    nearer, smaller, moved = median_deviation(near)
    return (nearer, smaller, moved) if smaller > 0.0 else median_deviation(values)
