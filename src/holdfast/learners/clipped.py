"""Hints by clipping: no need to know how large gradients can be (Cutkosky, 2019)."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.norms import TINY
from holdfast.protocols import HintedLearner, Learner
from holdfast.role_checks import check_role
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot


class ClippedState(NamedTuple):
    """A learner's state, the largest size so far, and what was clipped away."""

    inner: Any
    hint: float
    left: np.ndarray  # the sum of what was clipped off the gradients
    lost: float  # the sum of <w, that>


@rule
class Clipped:
    """Hand each gradient on no larger than the largest before it, and say so to the learner in advance.

    Some learners have to know the size of a gradient before it comes. The largest so far is a guess, and
    whatever exceeds it is cut down to it; as the guess then rises by as much as was cut off, all that is ever
    cut off is no larger than the largest gradient. Nothing is learned from the first gradient but its size.

    Parameters
    ----------
    learner : a learner that takes hints
        Such as `FreeGrad()`, `Squint()` or `MetaGrad(Ball(1.0))`.
    domain : computed
        The learner's.

    Guarantee
    ---------
    The regret of the learner on the clipped gradients, plus at most D max ‖g‖; `bound` adds what was really
    cut off (`docs/math.md`, 9.4).

    Examples
    --------
    >>> from holdfast.learners import FreeGrad
    >>> clipped = Clipped(FreeGrad())
    >>> state = clipped.init(dim=1)
    >>> for g in (1.0, 1.0, 5.0):
    ...     state = clipped.update(state, slope=g, x=np.ones(1))
    ...     print(state.hint, state.left)
    1.0 [1.]
    1.0 [1.]
    5.0 [5.]
    """

    learner: Learner
    domain: Any = None

    def check(self):
        if not self.learner.needs_hints():
            raise TypeError(
                f"Clipped is for learners that must know how large gradients can be, and "
                f"{type(self.learner).__name__} need not: use it as it is"
            )
        check_role(self.learner, HintedLearner)
        return self._make((self.learner, self.learner.domain))

    def needs(self):
        return self.learner.needs()

    def reads_rows(self):
        return self.learner.reads_rows()

    def check_dim(self, dim):
        self.learner.check_dim(dim)

    def init(self, dim):
        return ClippedState(self.learner.init(dim), 0.0, np.zeros(dim), 0.0)

    def valid(self, state):
        return self.learner.valid(state.inner)

    def reset(self, state, dim):
        assign(state.left, np.zeros(dim))
        return ClippedState(self.learner.reset(state.inner, dim), 0.0, state.left, 0.0)

    def predict(self, state):
        return self.learner.predict(state.inner)

    def update(self, state, slope, x):
        size = self.learner.gauge(slope, x)
        if not size > TINY:
            return state
        inner, hint, lost = state.inner, state.hint, state.lost
        share = hint / size if size > hint else 1.0
        if share < 1.0:
            lost += (1.0 - share) * slope * dot(self.learner.predict(inner), x)
            add(state.left, (1.0 - share) * slope, x)
        if share > 0.0:
            inner = self.learner.update(inner, share * slope, x)
        if size > hint:
            hint = size
            inner = self.learner.set_hint(inner, hint)
        return ClippedState(inner, hint, state.left, lost)

    def bound(self, state, u):
        return self.learner.bound(state.inner, u) + state.lost - dot(state.left, np.asarray(u, float))
