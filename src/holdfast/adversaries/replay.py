"""The adversary that replays data: a linear model with a loss on each row."""

from typing import Any

from holdfast.adversaries.data import matrix, vector
from holdfast.losses import refuse_zero_one
from holdfast.rule import rule
from holdfast.vectors import dot


@rule
class Replay:
    """Round t reveals f(w) = h(<w, x_t>, y_t), with gradient h' x_t.

    Parameters
    ----------
    X : array or frame of shape (rounds, dim)
        float32 stays float32; anything else becomes float64. C order is used as it stands, also memory
        mapped; Fortran order is copied.
    y : array of shape (rounds,)
        Targets, or labels -1 and +1.
    loss : a loss
        h, such as `Logistic()`.

    Examples
    --------
    >>> from holdfast.losses import Hinge
    >>> replay = Replay([[1.0, 2.0]], [1], Hinge())
    >>> _, loss, slope, x = replay.reveal(replay.start(), 0, [0.5, 0.0])
    >>> loss, slope, x.tolist()
    (0.5, -1.0, [1.0, 2.0])
    """

    X: Any
    y: Any
    loss: Any

    def check(self):
        X, y = matrix(self.X, "X"), vector(self.y, "y")
        if len(X) != len(y):
            raise ValueError(f"X and y must have a row each a round: got {len(X)} and {len(y)}")
        refuse_zero_one(self.loss, y)
        return self._replace(X=X, y=y)

    def extent(self):
        return self.X.shape

    def start(self):
        return 0

    def reveal(self, state, t, w):
        x, y = self.X[t], float(self.y[t])
        z = dot(w, x)
        return state, self.loss.value(z, y), self.loss.slope(z, y), x
