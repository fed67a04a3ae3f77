"""Hints by clipping: no need to know how large gradients can be (Cutkosky, 2019)."""

from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import PassedOn
from holdfast.norms import TINY
from holdfast.protocols import HintedLearner, Learner
from holdfast.roles import check_role
from holdfast.rounds import Round
from holdfast.rule import replaced, rule
from holdfast.vectors import add, assign, dot


class ClippedState(NamedTuple):
    inner: Any
    hint: float  # the largest size so far
    left: np.ndarray  # the sum of what was clipped off the gradients
    lost: float  # the sum of <w, that>


@rule
class Clipped:
    """Clip each gradient at the largest one before it, and give that size to the learner as a hint.

    Some learners have to know the size of a gradient before it comes. The largest so far is a guess, and
    whatever exceeds it is cut down to it; as the guess then rises by as much as was cut off, all that is ever
    cut off is no larger than the largest gradient. Nothing is learned from the first gradient but its size.

    Parameters:
        learner (a learner that takes hints): Such as `FreeGrad()`, `Squint()` or `MetaGrad(Ball(1.0))`.
        domain (computed): The learner's.

    Guarantee: The regret of the learner on the clipped gradients, plus at most D max ‖g‖; `bound` adds what
    was really cut off (`docs/math.md`, 9.4).

    >>> from holdfast.learners import FreeGrad
    >>> clipped = Clipped(FreeGrad())
    >>> state = clipped.init(dim=1)
    >>> for g in (1.0, 1.0, 5.0):
    ...     state = clipped.update(state, Round(slope=g, x=np.ones(1)))
    ...     print(state.hint, state.left)
    1.0 [1.]
    1.0 [1.]
    5.0 [5.]
    """

    learner: Learner
    domain: Any = None

    def check(self) -> Any:
        learner: Any = self.learner
        if not learner.needs_hints():
            raise TypeError(
                f"Clipped is for learners that must know how large gradients can be, and "
                f"{type(learner).__name__} need not: use it as it is"
            )
        check_role(learner, HintedLearner)
        return replaced(self, domain=learner.domain)

    needs, reads_rows, check_dim = PassedOn.needs, PassedOn.reads_rows, PassedOn.check_dim
    valid, predict = PassedOn.valid, PassedOn.predict

    def init(self, dim: int) -> ClippedState:
        return ClippedState(self.learner.init(dim), 0.0, np.zeros(dim), 0.0)

    def reset(self: Any, state: ClippedState, dim: int) -> ClippedState:
        assign(state.left, np.zeros(dim))
        return ClippedState(self.learner.reset(state.inner, dim), 0.0, state.left, 0.0)

    def update(self, state: ClippedState, round: Round) -> ClippedState:
        learner: Any = self.learner
        slope, x = round.slope, round.x
        size = learner.gauge(slope, x)
        if not size > TINY:
            return state
        inner, hint, lost = state.inner, state.hint, state.lost
        share = hint / size if size > hint else 1.0
        if share < 1.0:
            lost += (1.0 - share) * slope * dot(learner.predict(inner), x)
            add(state.left, (1.0 - share) * slope, x)
        if share > 0.0:
            shorter = learner.in_units(inner, Round(share * slope, x, round.y, x, 0.0))
            inner = learner.update(inner, shorter)
        if size > hint:
            hint = size
            inner = learner.set_hint(inner, hint)
        return ClippedState(inner, hint, state.left, lost)

    def bound(self: Any, state: ClippedState, u: np.ndarray) -> float:
        return self.learner.bound(state.inner, u) + state.lost - dot(state.left, np.asarray(u, float))
