"""Logistic regression by one Newton step a round, with a memory that fades and labels that may be wrong."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.covariance import (
    Covariance,
    forget,
    independent,
    learn,
    set_independent,
    variance_of,
    variance_of_weight,
)
from holdfast.learners.needs import ANY, Needs, check_memory, check_positive, refuse_domain
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import assign, dot, largest

_START = 20.0  # rounds: the memory in the first round, which grows by 1 with each
_FLATTEST = 1e-4  # no round counts with less curvature
_STEEP = 0.35  # times the error: a round that is mispredicted counts with at least this curvature
_LEAST = 1e-6  # no label is doubted more
_HEAVIEST = 1e100  # no round weighs more
_TURNS = 5.0  # of each weight at least, while a round is remembered: each costs as much as a round


class OnlineLogisticState(NamedTuple):
    w: np.ndarray
    covariance: Covariance
    rounds: float
    positive: float  # the fading share of the label +1


@rule
class OnlineLogistic:
    """Logistic regression with full second order: a Newton step a round, O(dim²).

    The weights begin as normal numbers around 0, and each round moves their mean and covariance as an
    extended Kalman filter does. Beside p (1 - p) the curvature of a round is at least 0.35 times its error
    |y - p|. So a sure prediction that turns out wrong does not move the weights too far.

    It is made for games with `Logistic()` losses. The label of a round is +1 if the slope is negative and -1
    if it is positive, and the slope over that of the logistic loss is the weight of the round.

    In the n-th round the memory is min(memory, 20 + n) rounds: the first rounds, in which running scales are
    rough, soon count little. What is forgotten is replaced by the prior, one weight at a time, so that the
    covariance stays bounded. It is kept as a square root (Potter's form), so that it is never negative in any
    direction.

    The variance of the prior is at most the memory over `dim`: while there are few rounds for each weight,
    weights stay small, above all those of columns that are nearly the same.

    Parameters:
        memory: The number of rounds after which a round counts about a third (1 / e). None: a round counts in
            proportion to 20 plus its number.
        prior: The largest variance of the prior of each weight. Small values are strong L2 regularisation.
        flips: The share of the rounds of each label in which it is wrong. A round counts with the probability
            that its label is right, given the prediction. 0: every label is believed. A rare label is doubted
            no more than a frequent one: only where the prediction is surer than the share of the label makes
            it.
        domain (Everywhere): There is no version of it for other domains.

    Guarantee: none. For logistic losses a fixed curvature has one (`ONS`), with larger constants.

    >>> learner = OnlineLogistic()
    >>> state = learner.init(dim=1)
    >>> for t in range(1000):
    ...     y, z = 1.0 if t % 4 else -1.0, float(learner.predict(state)[0])
    ...     state = learner.update(state, Round(slope=-y / (1.0 + math.exp(y * z)), x=np.ones(1)))
    >>> round(1.0 / (1.0 + math.exp(-learner.predict(state)[0])), 2)
    0.75
    """

    memory: float | None = 1e4
    prior: float = 1.0
    flips: float = 0.0
    domain: Domain = Everywhere()

    def check(self) -> Any:
        check_positive(self, "prior is a variance", 1e-100, 1e100)
        if not 0.0 <= self.flips < 0.5:
            raise ValueError(f"flips is a share of wrong labels, below a half: got {self.flips}")
        refuse_domain(self)
        return check_memory(self)

    def needs(self) -> Needs:
        return Needs("any", ANY, "logistic", False)

    def init(self, dim: int) -> OnlineLogisticState:
        return OnlineLogisticState(np.zeros(dim), independent(dim, self.variance(0.0, dim)), 0.0, 0.5)

    def valid(self, state: OnlineLogisticState) -> bool:
        return is_whole(state.rounds) and state.rounds >= 0.0

    def reset(self, state: OnlineLogisticState, dim: int) -> OnlineLogisticState:
        assign(state.w, np.zeros(dim))
        covariance = set_independent(state.covariance, self.variance(0.0, dim))
        return OnlineLogisticState(state.w, covariance, 0.0, 0.5)

    def remembered(self: Any, rounds: float) -> float:
        """How many rounds are remembered after so many."""
        return min(self.memory, _START + rounds)

    def variance(self, rounds: float, dim: int) -> float:
        """That of the prior of each weight after so many rounds."""
        return min(self.prior, self.remembered(rounds) / dim)

    def predict(self, state: OnlineLogisticState) -> Weights:
        return state.w

    def update(self, state: OnlineLogisticState, round: Round) -> OnlineLogisticState:
        slope, x = round.slope, round.x
        w, covariance, rounds, positive = state
        z = dot(w, x) if slope != 0.0 else math.nan
        if not (abs(z) < math.inf and 0.0 < largest(x) < math.inf):
            return state
        sign = 1.0 if slope < 0.0 else -1.0
        e = math.exp(-abs(z))
        right = (1.0 if sign * z >= 0.0 else e) / (1.0 + e)  # the probability of the label
        wrong = (e if sign * z >= 0.0 else 1.0) / (1.0 + e)
        if wrong == 0.0:
            return state
        weight, curvature = min(abs(slope) / wrong, _HEAVIEST), max(right * wrong, _STEEP * wrong, _FLATTEST)
        if self.flips > 0.0:
            share = positive if sign > 0.0 else 1.0 - positive
            clean, flipped = (1.0 - self.flips) * right * (1.0 - share), self.flips * wrong * share
            weight *= max(clean / (clean + flipped), _LEAST)
        learn(w, covariance, variance_of(covariance, x), 1.0 / (weight * curvature), sign * wrong / curvature)
        rounds += 1.0
        memory = self.remembered(rounds)
        positive += (max(sign, 0.0) - positive) / memory
        covariance = forget(covariance, memory)
        self.restore_prior(w, covariance, rounds)
        return OnlineLogisticState(w, covariance, rounds, positive)

    def restore_prior(self, w: np.ndarray, covariance: Covariance, rounds: float) -> None:
        """Of the weights whose turn it is, the prior replaces what is forgotten.

        Every weight has at least five turns within as many rounds as are remembered, if there are so many.
        The gap between two turns is a power of two: it doubles when the rounds have doubled, so that all
        weights have their turns in between, however long the memory grows.
        """
        dim, memory = len(w), self.remembered(rounds)
        gap, turns = power_of_two(memory / (_TURNS * dim)), math.ceil(dim / memory)
        if int(rounds) % gap != 0:
            return
        noise = self.variance(rounds, dim) * turns * memory / (dim * gap)
        for i in range(turns):
            k = (int(rounds) // gap * turns + i) % dim
            learn(w, covariance, variance_of_weight(covariance, k), noise, -float(w[k]))


def power_of_two(value: float) -> int:
    """The largest power of two that is at most this value, or 1."""
    return int(math.ldexp(1.0, max(math.frexp(value)[1] - 1, 0)))
