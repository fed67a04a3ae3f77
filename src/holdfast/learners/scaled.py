"""Any learner, behind a running scale of the features and the target."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import refuse_without_hints
from holdfast.rule import rule
from holdfast.vectors import Affine, absorb, aim, refill, refresh, standardised

_OFTEN = 1.01  # the scales are taken anew when there are this many times as many rounds


class Standing(NamedTuple):
    """What a scaled learner knows: its learner, and where and how wide the features and the target are."""

    inner: Any
    center: np.ndarray
    spread: np.ndarray  # sums of squared deviations, or of sparse rows the largest values
    factors: np.ndarray  # by which deviations are multiplied; 0 for a feature that never varied
    row: np.ndarray
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
    are learned from, so behind a filter no outlier moves them; and no single row moves them far, because
    deviations count up to `clip` standard deviations, as features and as figures.

    Predictions go no further than one standard deviation beyond the targets learned from.

    A feature or target that has never varied counts as 0. When it varies for the first time, the round is
    neither unlike all others nor does it move a prediction: the figures learn of it first.

    The features of sparse rows keep their zeros: each is divided by its largest absolute value so far.

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
        As many rounds move only the figures.

    Guarantee: none of its own, because the units change from round to round. In the units of its round, each
    kept row is as small as the filter promises.

    Examples
    --------
    >>> from holdfast.domains import Box
    >>> from holdfast.learners import AdaGrad
    >>> scaled = Scaled(AdaGrad(Box(-10.0, 10.0)), patience=2)
    >>> state = scaled.init(dim=1)
    >>> for x in (100.0, 300.0, 100.0, 300.0):
    ...     state = scaled.update(state, slope=-1.0, x=np.array([x]))
    >>> state.center, np.sqrt(state.spread / state.rounds)
    (array([200.]), array([100.]))
    """

    learner: Any
    target: bool = False
    clip: float = 8.0
    patience: int = 10

    def check(self):
        if not 1.0 <= self.clip < math.inf:
            raise ValueError(f"clip counts standard deviations, at least 1: got {self.clip}")
        if self.patience < 1:
            raise ValueError(f"patience counts rounds, at least 1: got {self.patience}")

    def fits(self, dim):
        refuse_without_hints(self.learner)
        self.learner.fits(dim + 1)

    def init(self, dim):
        zeros = [np.zeros(dim) for _ in range(3)]
        inner = self.learner.init(dim + 1)
        unknown = 0.0 if self.target else 1.0  # the target's spread
        return Standing(
            inner, *zeros, np.zeros(dim + 1), 0.0, 0.0, 0.0, 0.0, 0.0, unknown, math.inf, -math.inf
        )

    def renewed(self, state, dim):
        for array in (state.center, state.spread, state.factors):
            refill(array, np.zeros(dim))
        inner = self.learner.renewed(state.inner, dim + 1)
        arrays = (state.center, state.spread, state.factors, state.row)
        unknown = 0.0 if self.target else 1.0
        return Standing(inner, *arrays, 0.0, 0.0, 0.0, 0.0, 0.0, unknown, math.inf, -math.inf)

    def lazily(self, state, summed):
        return state._replace(inner=self.learner.lazily(state.inner, False))

    def predict(self, state):
        v = self.learner.predict(state.inner)
        figures = (state.center, state.factors, state.row)
        return Affine(v, *figures, self.clip, state.y_center, state.y_spread, state.y_low, state.y_high)

    def told(self, state, y):
        arrays = (state.center, state.spread, state.factors, state.row)
        figures = (state.y_center, state.y_squares, state.y_spread, state.y_low, state.y_high)
        return Standing(state.inner, *arrays, state.rounds, state.due, y, *figures)

    def recalled(self, state):
        return state.y

    def seen(self, state, x):
        """The row as the learner sees it."""
        return standardised(self.predict(state), x)

    def aimed(self, state):
        """The target of the round as the learner sees it."""
        return aim(self.predict(state), state.y) if self.target else 0.0

    def update(self, state, slope, x):
        inner, n = state.inner, state.rounds + 1.0
        if n > self.patience:
            inner = self.learner.update(inner, slope, self.seen(state, x))
        absorb(state.center, state.spread, state.factors, n, self.clip, x)
        y_center, y_squares, y_spread = state.y_center, state.y_squares, state.y_spread
        y_low, y_high = state.y_low, state.y_high
        if self.target:
            y_low, y_high = min(y_low, state.y), max(y_high, state.y)
            deviation = state.y - y_center
            far = self.clip * y_spread
            if 0.0 < far < abs(deviation):
                deviation = math.copysign(far, deviation)
            y_center += deviation / n
            y_squares += deviation * (deviation - deviation / n)
        due = state.due
        if n >= due:
            due = _OFTEN * n + 1.0
            refresh(state.factors, state.spread, n, x)
            if y_squares > 0.0:
                y_spread = math.sqrt(y_squares / n)
        arrays = (state.center, state.spread, state.factors, state.row)
        figures = (y_center, y_squares, y_spread, y_low, y_high)
        return Standing(inner, *arrays, n, due, state.y, *figures)
