"""The learner that does not learn: a comparator as a player."""

import numpy as np

from holdfast.learners.needs import ANY, Needs
from holdfast.protocols import Weights
from holdfast.rounds import Round
from holdfast.rule import rule


@rule
class Fixed:
    """Always play u. Its losses are what regret compares with.

    Guarantee: none; its regret against u itself is 0.

    >>> fixed = Fixed([1.0, -1.0])
    >>> fixed.predict(fixed.init(dim=2)).tolist()
    [1.0, -1.0]
    """

    u: np.ndarray

    def check(self) -> None:
        if self.u.ndim != 1 or not np.isfinite(self.u).all():
            raise ValueError(f"u must be a vector of finite numbers: got {self.u}")

    def needs(self) -> Needs:
        return Needs("any", ANY, "any", True)

    def check_dim(self, dim: int) -> None:
        if len(self.u) != dim:
            raise ValueError(f"the comparator has {len(self.u)} entries, but the rounds have {dim}")

    def init(self, dim: int) -> np.ndarray:
        return self.u.copy()

    def predict(self, state: np.ndarray) -> Weights:
        return state

    def update(self, state: np.ndarray, round: Round) -> np.ndarray:
        return state
