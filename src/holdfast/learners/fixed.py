"""The learner that does not learn: a comparator as a player."""

import numpy as np

from holdfast.learners.needs import ANY, Needs
from holdfast.rule import rule


@rule
class Fixed:
    """Always play u. Its losses are what regret compares with.

    Guarantee: none; its regret against u itself is 0.

    Examples
    --------
    >>> fixed = Fixed([1.0, -1.0])
    >>> fixed.predict(fixed.init(dim=2)).tolist()
    [1.0, -1.0]
    """

    u: np.ndarray

    def check(self):
        if self.u.ndim != 1 or not np.isfinite(self.u).all():
            raise ValueError(f"u must be a vector of finite numbers: got {self.u}")

    def needs(self):
        return Needs("any", ANY, "any", True)

    def check_dim(self, dim):
        if len(self.u) != dim:
            raise ValueError(f"the comparator has {len(self.u)} entries, but the rounds have {dim}")

    def init(self, dim):
        return self.u.copy()

    def predict(self, state):
        return state

    def update(self, state, slope, x):
        return state
