"""AdaGrad on a box whose sums of squared gradients fade."""

import math
from typing import Any, NamedTuple

from holdfast.learners.memory import check_memory
from holdfast.learners.needs import EACH_WEIGHT, Needs
from holdfast.protocols import LearnerInDomain
from holdfast.rule import rule
from holdfast.vectors import scale_by

_MOST = 2.0**16


class FadingAdaGradState(NamedTuple):
    """The state of AdaGrad, and the factor of the last gradient, at most 1."""

    inner: Any
    inflation: float


@rule
class FadingAdaGrad:
    """AdaGrad that forgets old gradients; `AdaGrad(Box(-1.0, 1.0), memory=1000)` makes it.

    Each gradient is multiplied by a factor that grows from round to round, so that all before count less.
    Steps depend on ratios of gradients only, so that they are the ones of fading sums, and a sparse round
    still costs O(nonzeros). From time to time the factor and all sums are divided by a power of 2.

    Parameters
    ----------
    learner : AdaGrad
        On a box, without a memory.
    memory : float
        The number of rounds with a gradient after which a gradient counts about a third (1 / e).
    domain
        That of the learner.

    Guarantee: none.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.domains import Box
    >>> from holdfast.learners import AdaGrad
    >>> adagrad = AdaGrad(Box(-1.0, 1.0), rate=0.1, memory=10)
    >>> state = adagrad.update(adagrad.init(dim=1), slope=1e9, x=np.ones(1))
    >>> for _ in range(600):
    ...     state = adagrad.update(state, slope=-1.0, x=np.ones(1))
    >>> adagrad.predict(state)  # without a memory it would still be at -0.14
    array([1.])
    """

    learner: LearnerInDomain
    memory: float
    domain: Any = None

    def check(self):
        check_memory(self)
        return self._make((self.learner, self.memory, self.learner.domain))

    def needs(self):
        return Needs("bounded", EACH_WEIGHT, "convex", False)

    def check_dim(self, dim):
        self.learner.check_dim(dim)

    def init(self, dim):
        return FadingAdaGradState(self.learner.init(dim), 1.0)

    def valid(self, state):
        return self.learner.valid(state.inner) and 0.0 < state.inflation <= 1.0

    def reset(self, state, dim):
        return FadingAdaGradState(self.learner.reset(state.inner, dim), 1.0)

    def predict(self, state):
        return self.learner.predict(state.inner)

    def update(self, state, slope, x):
        if slope == 0.0:
            return state
        inflation = state.inflation / math.sqrt(1.0 - 1.0 / self.memory)
        if inflation > 1.0:
            inflation /= _MOST
            scale_by(state.inner.squares, 1.0 / (_MOST * _MOST))
        return FadingAdaGradState(self.learner.update(state.inner, slope * inflation, x), inflation)
