"""Online logistic regression that returns to its weights from before a burst of wrong labels."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import check_hints
from holdfast.learners.onlinelogistic import OnlineLogistic
from holdfast.protocols import LearnerInDomain
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import assign, dot

_USUAL = 500.0  # rounds: the memory of the share of mistakes
_LEAST, _MOST = 0.02, 0.45  # what that share counts as, at least and at most
_EARLY = 100  # rounds: labels that turn sooner may have been wrong from the first round on
_STEP = 1.5  # no round counts more when the old weights are compared with the new ones
_AHEAD = 0.25  # when the old weights predict
_TINY = 1e-300
_BETTER, _NOISY = 2.0, 5.0  # and the second times the usual share of mistakes: when the old weights return


class ReturningState(NamedTuple):
    """The state of a learner, its weights from before the trouble, and what tells trouble."""

    inner: Any
    old: np.ndarray
    rounds: float  # learned from
    usual: float  # the fading share of mistakes
    trouble: float  # the evidence that mistakes are more frequent than usual, in natural logarithms
    left: float  # rounds for which the old weights are still kept
    better: float  # by how much the losses of the old weights were smaller of late


@rule
class Returning:
    """`OnlineLogistic` that returns to earlier weights when a burst of wrong labels is over.

    No learner can tell at once whether labels are wrong or the stream has changed. This one goes on learning,
    but keeps its weights from before. It works as follows.

    - Trouble is the evidence that half of the recent predictions were wrong, and not the usual share of them
      (a CUSUM test). While there is none, the old weights are a copy of the current ones.
    - If trouble exceeds 1 + ln(n) in round n, the old weights are kept for `patience` rounds, but for no more
      than n. So a false alarm is rare in a stream of any length, and it changes nothing yet.
    - In the first 100 rounds the labels before may be the wrong ones. Then the learner also starts from
      scratch, and the old weights are compared with those of the new start.
    - While the sum of the logistic losses of the old weights was smaller of late, by more than 0.25, they
      predict. If it is smaller by more than 2 + 5 times the usual share of mistakes, they return. Usually
      this takes 2 to 4 rounds.
    - When the old weights predict as well as usual, the trouble is over. They return if they are the ones
      that predict. If not, it was a false alarm, and they are a copy of the current ones again.

    If the labels have changed for good, the old weights rarely predict better by chance, and little is lost.
    A round costs O(dim) more.

    Parameters
    ----------
    learner : OnlineLogistic
        The learner.
    patience : float
        So many rounds after the trouble began, the old weights are given up.
    domain : computed
        The learner's.

    Guarantee: none.

    Examples
    --------
    >>> learner = Returning(OnlineLogistic())
    >>> state = learner.init(dim=1)
    >>> for t in range(600):
    ...     y, z = -1.0 if t % 10 == 0 else 1.0, float(learner.predict(state)[0])
    ...     y = -y if 500 <= t < 590 else y
    ...     state = learner.update(state, slope=-y / (1.0 + math.exp(y * z)), x=np.ones(1))
    >>> round(1.0 / (1.0 + math.exp(-learner.predict(state)[0])), 1)
    0.9
    """

    learner: LearnerInDomain
    patience: float = 1000.0
    domain: Any = None

    def check(self):
        if not isinstance(self.learner, OnlineLogistic):
            name = type(self.learner).__name__
            raise TypeError(f"only the weights of OnlineLogistic can be set to earlier ones: got {name}")
        if not 1.0 <= self.patience < math.inf:
            raise ValueError(f"patience counts rounds, at least 1: got {self.patience:g}")
        return self._make((self.learner, self.patience, self.learner.domain))

    def needs(self):
        return self.learner.needs()

    def reads_rows(self):
        return self.learner.reads_rows()

    def check_dim(self, dim):
        check_hints(self.learner)
        self.learner.check_dim(dim)

    def init(self, dim):
        return ReturningState(self.learner.init(dim), np.zeros(dim), *_first_numbers())

    def valid(self, state):
        return is_whole(state.rounds) and state.rounds >= 0.0 and self.learner.valid(state.inner)

    def reset(self, state, dim):
        assign(state.old, np.zeros(dim))
        return ReturningState(self.learner.reset(state.inner, dim), state.old, *_first_numbers())

    def after_change(self, state, rows):
        inner = self.learner.after_change(state.inner, rows)
        return ReturningState(inner, state.old, state.rounds, state.usual, 0.0, 0.0, 0.0)

    def predict(self, state):
        return state.old if state.better > _AHEAD else self.learner.predict(state.inner)

    def update(self, state, slope, x):
        w, old = self.learner.predict(state.inner), state.old
        z = dot(w, x) if slope != 0.0 else math.nan
        if not abs(z) < math.inf:
            return state
        margin, other = (z, 1.0) if slope < 0.0 else (-z, -1.0)
        rounds, usual, trouble, left, better = state.rounds + 1.0, state.usual, state.trouble, state.left, 0.0
        if left > 0.0:
            other *= dot(old, x)
            if state.better > _AHEAD:  # the slope is that of the old weights
                slope *= wrong(margin) / max(wrong(other), _TINY)
            step = max(min(loss(margin) - loss(other), _STEP), -_STEP)
            better = max(state.better + step, 0.0)
            trouble = min(trouble + evidence(other, usual), limit(rounds))
            if better > _BETTER + _NOISY * usual or (trouble <= 0.0 and better > _AHEAD):
                assign(w, old)
                return ReturningState(state.inner, old, rounds, usual, 0.0, 0.0, 0.0)
            left -= 1.0
            if trouble <= 0.0 or left <= 0.0:
                trouble, left, better = 0.0, 0.0, 0.0
        else:
            trouble = max(trouble + evidence(margin, usual), 0.0)
            usual += ((1.0 if margin <= 0.0 else 0.0) - usual) / min(rounds + 1.0, _USUAL)
            if trouble > 0.0 and trouble > limit(rounds):
                left = min(self.patience, rounds)
                if rounds <= _EARLY:
                    inner = self.learner.reset(state.inner, len(old))
                    return ReturningState(inner, old, rounds, usual, trouble, left, 0.0)
        inner = self.learner.update(state.inner, slope, x)
        if trouble == 0.0:  # after the update, which then computes the prediction for x only once
            assign(old, self.learner.predict(inner))
        return ReturningState(inner, old, rounds, usual, trouble, left, better)


def _first_numbers():
    return (0.0, 0.5, 0.0, 0.0, 0.0)


def limit(rounds):
    """The evidence of an alarm: rare by chance in a stream of any length."""
    return 1.0 + math.log(rounds)


def loss(margin):
    """The logistic loss."""
    return math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)


def wrong(margin):
    """The probability of the other label."""
    e = math.exp(-abs(margin))
    return (e if margin >= 0.0 else 1.0) / (1.0 + e)


def evidence(margin, usual):
    """The evidence of a prediction that half of them are wrong, and not the usual share."""
    share = min(max(usual, _LEAST), _MOST)
    return math.log(0.5 / (share if margin <= 0.0 else 1.0 - share))
