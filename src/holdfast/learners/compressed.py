"""Any learner, behind a view of its rows in which far cells are near."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import check_hints
from holdfast.protocols import Learner
from holdfast.rule import rule
from holdfast.vectors import ForecastWeights, add, dot, values_of


class CompressedState(NamedTuple):
    """The state of a learner, and a buffer for a row as it sees it."""

    inner: Any
    row: np.ndarray


@rule
class Compressed:
    """A learner that sees cells up to `knee` as they are, and beyond only their logarithm.

    A cell z with |z| > knee becomes knee + ln(1 + |z| - knee), with the sign of z, and at most `most`. So a
    heavy tail is seen, but a cell that is a hundred times too large moves no prediction far. Use it inside
    `Scaled(..., clip=1e6)`: cells are then in standard deviations, and a guard measures rows before they are
    compressed.

    Parameters
    ----------
    learner : a learner
        Such as `OnlineLogistic()`.
    knee : float
        Where the logarithm begins.
    most : float
        The largest absolute value that is seen.

    Guarantee: that of the learner, for the rows that it sees.

    Examples
    --------
    >>> from holdfast.learners import OnlineLogistic
    >>> view = Compressed(OnlineLogistic())
    >>> view.compress(view.init(dim=4), np.array([1.5, -3.0, 1e3, -1e9])).round(2).tolist()
    [1.5, -2.69, 8.0, -8.0]
    """

    learner: Learner
    knee: float = 2.0
    most: float = 8.0

    def check(self):
        if not 0.0 < self.knee <= self.most < math.inf:
            raise ValueError(
                "knee and most are sizes of cells, 0 < knee <= most: "
                f"got knee={self.knee:g} and most={self.most:g}"
            )

    def reads_rows(self):
        return self.learner.reads_rows()

    def needs(self):
        return self.learner.needs()

    def check_dim(self, dim):
        check_hints(self.learner)
        self.learner.check_dim(dim)

    def init(self, dim):
        return CompressedState(self.learner.init(dim), np.zeros(dim))

    def valid(self, state):
        return self.learner.valid(state.inner)

    def reset(self, state, dim):
        return CompressedState(self.learner.reset(state.inner, dim), state.row)

    def to_lazy(self, state, summed):
        return state._replace(inner=self.learner.to_lazy(state.inner, False))

    def after_change(self, state, rows):
        return CompressedState(self.learner.after_change(state.inner, rows), state.row)

    def set_target(self, state, y):
        return CompressedState(self.learner.set_target(state.inner, y), state.row)

    def predict(self, state):
        return ForecastWeights(self, state)

    def forecast(self, state, x):
        """The prediction for a row."""
        return dot(self.learner.predict(state.inner), self.compress(state, x))

    def blind(self, state):
        """The weights of the learner: those of rows whose cells are within the knee."""
        return values_of(self.learner.predict(state.inner))

    def update(self, state, slope, x):
        return CompressedState(self.learner.update(state.inner, slope, self.compress(state, x)), state.row)

    def compress(self, state, x):
        """The row as the learner sees it, in the buffer of the state."""
        row = state.row
        row[:] = 0.0
        add(row, 1.0, x)
        for i in range(len(row)):
            far = abs(row[i]) - self.knee
            if far > 0.0:
                row[i] = math.copysign(min(self.knee + math.log(1.0 + far), self.most), row[i])
        return row


def view_of(w):
    """The knee and the largest value with which weights behind a running scale see a row.

    Without `Compressed` there is no knee, and the largest value is where the scale clips.
    """
    if isinstance(w.v, ForecastWeights) and isinstance(w.v.learner, Compressed):
        return w.v.learner.knee, min(w.v.learner.most, w.clip)
    return w.knee, min(w.most, w.clip)


@np.errstate(all="ignore")
def compressed(Z, knee):
    """Standardised cells with the logarithm beyond the knee, for many rows at once."""
    far = np.abs(Z) - knee
    return np.where(far > 0.0, np.copysign(knee + np.log1p(np.maximum(far, 0.0)), Z), Z)
