"""Ridge regressions that forget at different rates, with one covariance for all of them."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.covariance import (
    Covariance,
    forget,
    independent,
    set_independent,
    shrink,
    variance_of,
)
from holdfast.learners.needs import LOSS_FORM, Needs
from holdfast.learners.robustridge import RATE, USUAL, moved, set_back
from holdfast.matrices import sum_of_rows
from holdfast.protocols import Domain
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import add, assign, dot, largest, scale_by, sum_abs

_FAR = 3.0  # residuals count up to so many times the smallest mean residual, when regressions are compared
_ETA = 0.1  # the rate at which the better regressions gain weight
_WILD = 4.0  # standard deviations: a stored row or target that is farther away is not learned from again
_LEAST = 1e-300  # a round that counts less moves nothing
_SHARE = 0.001  # of the weight that is divided equally in each round


class RobustRidgesState(NamedTuple):
    """The weights of all regressions and their mean, one covariance, and scales of residuals and rows."""

    w: np.ndarray  # the mean
    each: np.ndarray  # a row of weights for each regression
    covariance: Covariance
    parts: np.ndarray  # how much each regression counts in the mean
    residuals: np.ndarray  # fading means of absolute residuals
    errors: np.ndarray  # a buffer: the residuals of a round, then how far each regression moves
    cell: float  # a fading mean of the largest absolute entry of a row
    rounds: float  # since the start or the last change
    y: float  # the target of this round, NaN if there is none


@rule
class RobustRidges:
    """The weighted mean of recursive least squares regressions that forget at different rates.

    A short memory follows changes, a long one has less noise. The regressions differ only in how many rounds
    they remember and in how much a large residual counts. All see the same rows, so the covariances of their
    weights differ mostly by a factor: the one that remembers m rounds has 1 / m of the inverse covariance of
    the rows. So one covariance is kept, and a round costs little more than one of `RobustRidge`.

    As in `RobustRidge`, a residual is measured in units of a fading mean of absolute residuals, a row that is
    farther than usual lowers the limit, and the target is read itself: it goes with any loss whose best
    prediction is the center of the targets, such as `Absolute()` and `Squared()`, but not with quantiles.

    A regression counts in the mean by its residuals: in each round its part is multiplied by exp(-0.1 r), r
    its absolute residual over the smallest mean residual, at most 3. Then 0.1 % is divided equally, so that a
    regression that was bad for long has its part back soon after it becomes good.

    Use it inside `Scaled(..., target=True)`.

    Parameters
    ----------
    memories : array
        For each regression, the number of rounds after which a round counts about a third (1 / e).
    limits : array
        For each, the residual up to which a round counts 1, in mean residuals.
    powers : array
        For each: a residual r times the limit counts r ** -power. 1 is Huber's loss, 2 counts far residuals
        less than those at the limit.
    strength : float
        Of the regularisation: the covariance starts as the identity divided by it.
    memory : float
        That of the covariance, in rounds. The errors hardly depend on it, from 300 to 3,000 rounds.
    domain : Everywhere
        There is no version of it for other domains.

    Guarantee: none.

    Examples
    --------
    >>> learner = RobustRidges()
    >>> state = learner.init(dim=1)
    >>> for t in range(1000):
    ...     y = 1e9 if t % 10 == 9 else 2.0 + 0.1 * (-1) ** t
    ...     state = learner.update(learner.set_target(state, y), slope=0.0, x=np.ones(1))
    >>> learner.predict(state).round(1)
    array([2.])
    """

    memories: np.ndarray = (math.inf, 1000.0, 100.0, 20.0)  # type: ignore[assignment]
    limits: np.ndarray = (3.0, 0.7, 3.0, 3.0)  # type: ignore[assignment]
    powers: np.ndarray = (2.0, 1.0, 2.0, 2.0)  # type: ignore[assignment]
    strength: float = 0.1
    memory: float = 1000.0
    domain: Domain = Everywhere()

    def check(self):
        shapes = {np.shape(each) for each in (self.memories, self.limits, self.powers)}
        if len(shapes) != 1 or len(min(shapes)) != 1 or min(shapes) == (0,):
            raise ValueError(
                "memories, limits and powers have a number for each regression, at least one: "
                f"got arrays of the shapes {', '.join(map(str, sorted(shapes)))}"
            )
        if not (self.memories >= 2.0).all():
            raise ValueError(f"memories count rounds, at least 2: got {self.memories.tolist()}")
        if not 2.0 <= self.memory < math.inf:
            raise ValueError(f"memory counts rounds, at least 2, and is finite: got {self.memory:g}")
        if not ((self.limits > 0.0) & (self.limits < math.inf)).all():
            raise ValueError(f"limits count mean residuals, so they are positive: got {self.limits.tolist()}")
        if not ((self.powers >= 0.0) & (self.powers <= 10.0)).all():
            raise ValueError(f"powers are exponents from 0 to 10: got {self.powers.tolist()}")
        if not 1e-100 < self.strength < 1e100:
            raise ValueError(f"strength weighs a regulariser, so it must be positive: got {self.strength}")
        if self.domain.bounded():
            raise TypeError(f"RobustRidges has no version for bounded domains: got {self.domain!r}")

    def reads_rows(self):
        return True

    def needs(self):
        return Needs("any", LOSS_FORM, "any", False)

    def init(self, dim):
        count, covariance = len(self.memories), independent(dim, 1.0 / self.strength)
        arrays = (np.full(count, 1.0 / count), np.ones(count), np.zeros(count))
        weights = (np.zeros(dim), np.zeros((count, dim)))
        return RobustRidgesState(*weights, covariance, *arrays, 1.0, 0.0, math.nan)

    def valid(self, state):
        return is_whole(state.rounds) and state.rounds >= 0.0

    def reset(self, state, dim):
        count = len(state.each)
        assign(state.w, np.zeros(dim))
        for k in range(count):
            assign(state.each[k], np.zeros(dim))
        assign(state.parts, np.full(count, 1.0 / count))
        assign(state.residuals, np.ones(count))
        assign(state.errors, np.zeros(count))
        covariance = set_independent(state.covariance, 1.0 / self.strength)
        arrays = (state.parts, state.residuals, state.errors)
        return RobustRidgesState(state.w, state.each, covariance, *arrays, 1.0, 0.0, math.nan)

    def after_change(self, state, rows):
        w, each, covariance, parts, residuals, errors, _, _, y = state
        assign(residuals, np.ones(len(each)))
        covariance = set_independent(covariance, 1.0 / self.strength)
        return RobustRidgesState(w, each, covariance, parts, residuals, errors, 1.0, 0.0, y)

    def set_target(self, state, y):
        w, each, covariance, parts, residuals, errors, cell, rounds, _ = state
        return RobustRidgesState(w, each, covariance, parts, residuals, errors, cell, rounds, y)

    def relearn(self, state, row, y):
        if not (largest(row) <= _WILD and abs(y) <= _WILD):
            return state
        return self.set_target(self.update(self.set_target(state, y), 0.0, row), state.y)

    def predict(self, state):
        return state.w

    def update(self, state, slope, x):
        w, each, covariance, parts, residuals, errors, cell, rounds, y = state
        target, far, most = y if y == y else dot(w, x) - float(slope), largest(x), 0.0
        for k in range(len(each)):
            errors[k] = target - dot(each[k], x)
            most = max(most, abs(float(errors[k])))
        if not (0.0 < far < math.inf and most < math.inf and target == target):
            return state
        move_parts(parts, errors, float(residuals.min()))
        rounds += 1.0
        rate, excess = max(1.0 / rounds, RATE), max(far / (USUAL * cell), 1.0)
        variance, mean_weight = variance_of(covariance, x), 0.0
        for k in range(len(each)):
            error, residual = float(errors[k]), float(residuals[k])
            r = abs(error) / (float(self.limits[k]) * residual) * excess * excess
            weight = r ** -float(self.powers[k]) if r > 1.0 else 1.0
            mean_weight += float(parts[k]) * weight
            # It remembers fewer rounds than P, or more, so its covariance is so many times P.
            times = min(rounds, self.memory) / min(rounds, float(self.memories[k]))
            errors[k] = times * weight * error / (1.0 + times * weight * variance)
            residuals[k] = moved(residual, rate, abs(error))
        cell = moved(cell, rate, far)
        if 0.0 < variance < math.inf and mean_weight > _LEAST:
            shrink(covariance, variance, 1.0 / mean_weight)
            for k in range(len(each)):
                add(each[k], covariance.growth * float(errors[k]), covariance.along)
        covariance = forget(covariance, self.memory)
        set_back(covariance, self.strength, self.memory, rounds)
        sum_of_rows(each, parts, w)
        return RobustRidgesState(w, each, covariance, parts, residuals, errors, cell, rounds, y)


def move_parts(parts, errors, residual):
    """Give larger parts to regressions with small errors, and divide a share of all parts equally."""
    least = _FAR
    for k in range(len(parts)):
        least = min(least, abs(float(errors[k])) / residual)
    for k in range(len(parts)):
        parts[k] *= math.exp(_ETA * (least - min(abs(float(errors[k])) / residual, _FAR)))
    scale_by(parts, (1.0 - _SHARE) / sum_abs(parts))
    for k in range(len(parts)):
        parts[k] += _SHARE / len(parts)
