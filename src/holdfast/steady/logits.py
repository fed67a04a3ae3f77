"""The learner for labels: logistic regressions of second and of first order, with several memories."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import add_to_rows, products
from holdfast.rule import rule
from holdfast.steady.covariances import Full
from holdfast.steady.memories import (
    express_column,
    first_part,
    restore_prior,
    told_in_unit,
    weight_in_unit,
)
from holdfast.vectors import add, assign, dot, scale_by

_YOUNG = 20.0  # rounds: the memory of the covariance in the first round, which grows by 1 with each
_FLATTEST = 1e-4  # no round counts with less curvature
_STEEP = 0.35  # times the error: a round that is mispredicted counts with at least this curvature
_LEAST = 1e-6  # no label is doubted more
_RECENT = 1000.0  # rounds, of the share of the label +1
_BENT = 0.25  # the largest curvature of the logistic loss
_NOTHING = 1e-300


def chances(z: float) -> tuple[float, float]:
    """The probabilities of the label that is given, and of the other one, if its margin is z."""
    e = math.exp(-abs(z))
    return (1.0 if z >= 0.0 else e) / (1.0 + e), (e if z >= 0.0 else 1.0) / (1.0 + e)


class LogitsState(NamedTuple):
    """The weights of all regressions, those of first order last, and one covariance for the others.

    All is changed in place.
    """

    each: np.ndarray
    covariance: Any
    errors: np.ndarray  # a buffer: forecasts, then steps
    mean: np.ndarray  # of the rows
    away: np.ndarray  # a buffer: the direction of gradient steps
    numbers: np.ndarray  # rounds learned from; the recent share of the label +1


@rule
class Logits:
    """Newton steps of logistic regression with several memories, and gradient steps of several lengths.

    The Newton steps are those of `Ridges`, with one covariance. In place of refused targets, labels are
    doubted: a round counts with the probability that its label is right, if a share `flips` is wrong.

    Newton steps take rows for independent, and become too sure where neighbouring rows are alike. Gradient
    steps do not become sure: the weights move by step g d / (1 + step |d|² / 4), where g is the slope of
    the loss, so no row moves a margin further than an implicit step would. Here d is the row less the mean of
    all rows. Else many rows in a row of one label would teach the constant alone, and the next rows of the
    other label would be predicted wrong.

    Parameters:
        memories, flips: For each regression, the number of rounds after which a round counts about a third,
            and the share of wrong labels that it counts with.
        prior: The largest variance of the prior of a weight. It is also at most the memory over the number of
            weights: with few rounds for each weight, weights stay small.
        steps: For each regression of first order the length of its steps.
        memory, covariance: As in `Ridges`.

    Guarantee: none of its own. In `Steady`, a fallback has one.
    """

    memories: np.ndarray = (math.inf, math.inf, 100.0)  # type: ignore[assignment]
    flips: np.ndarray = (0.0, 0.05, 0.05)  # type: ignore[assignment]
    steps: np.ndarray = (0.03, 1.0)  # type: ignore[assignment]
    prior: float = 3.0
    memory: float = 10000.0
    covariance: Any = Full()

    def check(self) -> None:
        shapes = {np.shape(self.memories), np.shape(self.flips)}
        if len(shapes) != 1 or len(min(shapes)) != 1 or min(shapes) == (0,):
            raise ValueError(
                "memories and flips have a number for each regression, at least one: "
                f"got arrays of the shapes {', '.join(map(str, sorted(shapes)))}"
            )
        if not ((self.memories >= 2.0).all() and 2.0 <= self.memory < math.inf):
            raise ValueError(
                "memories count rounds, at least 2, and that of the covariance is finite: "
                f"got {self.memories.tolist()} and {self.memory:g}"
            )
        if not ((self.flips >= 0.0) & (self.flips < 0.5)).all():
            raise ValueError(f"flips are shares of wrong labels, below a half: got {self.flips.tolist()}")
        if np.ndim(self.steps) != 1 or not ((self.steps > 0.0) & (self.steps < 1e100)).all():
            raise ValueError(f"steps are lengths, so they must be positive: got {self.steps.tolist()}")
        if not 1e-100 < self.prior < 1e100:
            raise ValueError(f"prior is a variance, so it must be positive: got {self.prior}")

    def scales_target(self) -> bool:
        """False: labels are as they are."""
        return False

    def first_part(self, k: int) -> float:
        """`holdfast.steady.memories.first_part` of a regression. Gradient steps count as a long memory."""
        return first_part(float(self.memories[k])) if k < len(self.memories) else 1.0

    def variance(self, rounds: float, dim: int) -> float:
        """That of the prior of each weight after so many rounds."""
        return min(self.prior, min(self.memory, _YOUNG + rounds) / dim)

    def init(self, dim: int) -> LogitsState:
        count = len(self.memories) + len(self.steps)
        covariance = self.covariance.independent(dim, self.variance(0.0, dim))
        each, errors = np.zeros((count, dim)), np.zeros(count)
        return LogitsState(each, covariance, errors, np.zeros(dim), np.zeros(dim), np.array([0.0, 0.5]))

    def valid(self, state: LogitsState) -> bool:
        return bool(state.numbers[0] >= 0.0 and 0.0 <= state.numbers[1] <= 1.0)

    def reset(self, state: LogitsState, dim: int) -> LogitsState:
        for k in range(len(state.each)):
            assign(state.each[k], np.zeros(dim))
        assign(state.mean, np.zeros(dim))
        self.covariance.set_independent(state.covariance, self.variance(0.0, dim))
        state.numbers[0], state.numbers[1] = 0.0, 0.5
        return state

    def clear_buffers(self, state: LogitsState) -> None:
        """Set all buffers to 0, in place."""
        self.covariance.clear_buffers(state.covariance)
        assign(state.errors, np.zeros(len(state.errors)))
        assign(state.away, np.zeros(len(state.away)))

    def to_prior(self, state: LogitsState) -> None:
        """Make the weights as uncertain as at the start."""
        self.covariance.set_independent(state.covariance, self.variance(0.0, state.each.shape[1]))
        state.numbers[0] = 0.0

    def forecast(self, state: LogitsState, row: np.ndarray) -> np.ndarray:
        """The margins of all regressions, in the buffer `errors`."""
        products(state.each, row, state.errors)
        return state.errors

    def distance(self, state: LogitsState, y: float) -> float:
        """0, labels are not refused."""
        return 0.0

    def is_near(self, state: LogitsState, y: float) -> bool:
        """True, labels have no range."""
        return True

    def loss_unit(self, state: LogitsState) -> float:
        """The unit of log losses."""
        return 1.0

    def learn(
        self,
        state: LogitsState,
        parts: np.ndarray,
        row: np.ndarray,
        y: float,
        likely: bool,
        first: bool,
        weight: float,
    ) -> None:
        """Learn from a round whose forecasts are in the buffer, with the label y, -1 or +1."""
        each, covariance, errors, average, away, numbers = state
        rounds, positive = float(numbers[0]) + 1.0, float(numbers[1])
        variance, mean, whole = self.covariance.variance_of(covariance, row), 0.0, 0.0
        if not 0.0 < variance < math.inf:
            return
        share = positive if y > 0.0 else 1.0 - positive
        memory = min(self.memory, _YOUNG + rounds)
        second = len(self.memories)
        for k in range(second):
            right, wrong = chances(y * float(errors[k]))
            counts, flips = weight, float(self.flips[k])
            if flips > 0.0:
                clean, flipped = (1.0 - flips) * right * (1.0 - share), flips * wrong * share
                counts *= max(clean / (clean + flipped), _LEAST) if clean + flipped > 0.0 else _LEAST
            curvature = max(right * wrong, _STEEP * wrong, _FLATTEST)
            mean += float(parts[k]) * counts * curvature
            whole += float(parts[k])
            times = counts * curvature * memory / min(_YOUNG + rounds, float(self.memories[k]))
            errors[k] = y * wrong / curvature * times / (1.0 + times * variance)
        mean = max(mean / whole, _NOTHING) if whole > 0.0 else _NOTHING
        self.covariance.shrink(covariance, variance, 1.0 / mean)
        last = len(row) - 1
        pull = 1.0 / min(rounds, self.memory)
        scale_by(average, 1.0 - pull)
        add(average, pull, row)
        assign(away, row)
        add(away, -1.0, average)
        away[last] = 0.0
        long = dot(away, away) + 1.0
        away[last] = 1.0 - dot(away, average)
        for k in range(second, len(each)):
            step = weight * float(self.steps[k - second])
            _, wrong = chances(y * float(errors[k]))
            add(each[k], y * wrong * step / (1.0 + _BENT * step * long), away)
        add_to_rows(each[:second], errors[:second], float(covariance.growth[0]), covariance.along)
        numbers[0], numbers[1] = rounds, positive + (max(y, 0.0) - positive) / min(_RECENT, rounds + 1.0)
        self.covariance.forget(covariance, memory)
        dim = each.shape[1]
        prior, turns = self.variance(rounds, dim), math.ceil(dim / memory)
        restore_prior(self.covariance, each[:second], covariance, prior, turns, rounds, True)

    def express_column(self, state: LogitsState, j: int, moved: float, unit: float) -> None:
        """Change the center and the unit of a column.

        No weight grows: a model that is too sure of its labels learns little from them, and one that is not
        sure enough learns fast.
        """
        own = self.covariance.variance_of_weight(state.covariance, j)
        told = told_in_unit(own, self.variance(float(state.numbers[0]), state.each.shape[1]), unit)
        express_column(state.each, j, moved, min(weight_in_unit(unit, told), 1.0))
        self.covariance.express_column(state.covariance, j, moved, unit, told)
        state.mean[j] = (state.mean[j] - moved) / unit

    def express_target(self, state: LogitsState, moved: float, unit: float) -> None:
        """Nothing: labels have no unit."""
