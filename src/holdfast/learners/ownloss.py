"""A learner with a loss of its own, which need not be the loss of the game."""

import math
from typing import Any, NamedTuple

from holdfast.learners.needs import check_hints
from holdfast.protocols import Learner, Loss
from holdfast.rule import rule
from holdfast.vectors import dot, target_for


class OwnLossState(NamedTuple):
    """The state of the learner, and the target of this round."""

    inner: Any
    y: float


@rule
class OwnLoss:
    """Update `learner` with the slope of `loss` at its own prediction, whatever slope the game has.

    For a `Mixture`: ridge regression must see residuals, that is the slopes of `Squared()`, also where the
    predictions are judged by absolute errors. The game must have targets.

    Parameters
    ----------
    learner : a learner
        Such as `OnlineRidge()`.
    loss : a loss
        Such as `Squared()`.

    Guarantee: none for the loss of the game. For `loss`, that of the learner.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> ridge = OwnLoss(hf.OnlineRidge(), hf.Squared())
    >>> state = ridge.set_target(ridge.init(dim=1), 4.0)
    >>> state = ridge.update(state, slope=-1.0, x=np.ones(1))  # the slope of the absolute loss
    >>> ridge.predict(state)
    array([2.])
    """

    learner: Learner
    loss: Loss

    def reads_rows(self):
        return True

    def needs(self):
        needs = self.learner.needs()
        return None if needs is None else needs._replace(losses="any", proved=False)

    def check_dim(self, dim):
        check_hints(self.learner)
        self.learner.check_dim(dim)

    def init(self, dim):
        return OwnLossState(self.learner.init(dim), math.nan)

    def valid(self, state):
        return self.learner.valid(state.inner)

    def reset(self, state, dim):
        return OwnLossState(self.learner.reset(state.inner, dim), math.nan)

    def to_lazy(self, state, summed):
        return OwnLossState(self.learner.to_lazy(state.inner, summed), state.y)

    def after_change(self, state, rows):
        return OwnLossState(self.learner.after_change(state.inner, rows), state.y)

    def set_target(self, state, y):
        return OwnLossState(self.learner.set_target(state.inner, y), y)

    def transform_row(self, state, x):
        return self.learner.transform_row(state.inner, x)

    def transform_target(self, state):
        """The target too is read, so it must be finite also where the learner does not read it."""
        return target_for(self.learner.predict(state.inner), state.y)

    def predict(self, state):
        return self.learner.predict(state.inner)

    def update(self, state, slope, x):
        return self.update_transformed(state, slope, x, self.learner.transform_row(state.inner, x))

    def update_transformed(self, state, slope, x, row):
        w = self.learner.predict(state.inner)
        own = float(self.loss.slope(dot(w, x), target_for(w, state.y)))
        if not abs(own) < math.inf:
            return state
        return OwnLossState(self.learner.update_transformed(state.inner, own, x, row), state.y)
