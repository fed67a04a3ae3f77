"""The learner for labels: logistic regressions that forget at different rates and doubt labels."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.steady.covariances import Full
from holdfast.steady.memories import express_column, restore_prior, told_in_unit
from holdfast.vectors import add, assign, dot

_YOUNG = 20.0  # rounds: the memory of the covariance in the first round, which grows by 1 with each
_FLATTEST = 1e-4  # no round counts with less curvature
_STEEP = 0.35  # times the error: a round that is mispredicted counts with at least this curvature
_LEAST = 1e-6  # no label is doubted more
_RECENT = 1000.0  # rounds, of the share of the label +1
_NOTHING = 1e-300


class LogitsState(NamedTuple):
    """The weights of all regressions, and one covariance for them."""

    each: np.ndarray
    covariance: Any
    errors: np.ndarray  # a buffer: margins, then steps
    rounds: float
    positive: float  # the recent share of the label +1


@rule
class Logits:
    """Newton steps of logistic regression with several memories, and one covariance for all of them.

    As `Ridges`. In place of refused targets, labels are doubted: a round counts with the probability that
    its label is right, if a share `flips` of the labels is wrong.

    Parameters
    ----------
    memories, flips
        For each regression, the number of rounds after which a round counts about a third, and the share of
        wrong labels that it counts with.
    prior
        The largest variance of the prior of a weight. It is also at most the memory over the number of
        weights: with few rounds for each weight, weights stay small.
    memory, covariance
        As in `Ridges`.

    Guarantee: none of its own. In `Steady`, a fallback has one.
    """

    memories: np.ndarray = (math.inf, math.inf, 1000.0, 100.0)  # type: ignore[assignment]
    flips: np.ndarray = (0.0, 0.05, 0.05, 0.05)  # type: ignore[assignment]
    prior: float = 1.0
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
        if not 1e-100 < self.prior < 1e100:
            raise ValueError(f"prior is a variance, so it must be positive: got {self.prior}")

    def scales_target(self) -> bool:
        """False: labels are as they are."""
        return False

    def variance(self, rounds: float, dim: int) -> float:
        """That of the prior of each weight after so many rounds."""
        return min(self.prior, min(self.memory, _YOUNG + rounds) / dim)

    def init(self, dim: int) -> LogitsState:
        count = len(self.memories)
        covariance = self.covariance.independent(dim, self.variance(0.0, dim))
        return LogitsState(np.zeros((count, dim)), covariance, np.zeros(count), 0.0, 0.5)

    def valid(self, state: LogitsState) -> bool:
        return state.rounds >= 0.0 and 0.0 <= state.positive <= 1.0

    def reset(self, state: LogitsState, dim: int) -> LogitsState:
        for k in range(len(state.each)):
            assign(state.each[k], np.zeros(dim))
        covariance = self.covariance.set_independent(state.covariance, self.variance(0.0, dim))
        return LogitsState(state.each, covariance, state.errors, 0.0, 0.5)

    def clear_buffers(self, state: LogitsState) -> None:
        """Set all buffers to 0, in place."""
        self.covariance.clear_buffers(state.covariance)
        assign(state.errors, np.zeros(len(state.errors)))

    def to_prior(self, state: LogitsState) -> LogitsState:
        """The same weights, as uncertain as at the start."""
        each, covariance, errors, _, positive = state
        covariance = self.covariance.set_independent(covariance, self.variance(0.0, each.shape[1]))
        return LogitsState(each, covariance, errors, 0.0, positive)

    def distance(self, state: LogitsState, row: np.ndarray, y: float) -> float:
        """0, labels are not refused. Leaves all margins in the buffer `errors`."""
        for k in range(len(state.each)):
            state.errors[k] = dot(state.each[k], row)
        return 0.0

    def is_near(self, state: LogitsState) -> bool:
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
    ) -> LogitsState:
        """The state after a round whose margins are in the buffer, with the label y, -1 or +1."""
        each, covariance, errors, rounds, positive = state
        rounds += 1.0
        variance, mean, whole = self.covariance.variance_of(covariance, row), 0.0, 0.0
        if not 0.0 < variance < math.inf:
            return state
        share = positive if y > 0.0 else 1.0 - positive
        memory = min(self.memory, _YOUNG + rounds)
        for k in range(len(each)):
            z = y * float(errors[k])
            e = math.exp(-abs(z))
            right, wrong = (1.0 if z >= 0.0 else e) / (1.0 + e), (e if z >= 0.0 else 1.0) / (1.0 + e)
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
        for k in range(len(each)):
            add(each[k], covariance.growth * float(errors[k]), covariance.along)
        positive += (max(y, 0.0) - positive) / min(_RECENT, rounds + 1.0)
        covariance = self.covariance.forget(covariance, memory)
        dim = each.shape[1]
        prior, turns = self.variance(rounds, dim), math.ceil(dim / memory)
        restore_prior(self.covariance, each, covariance, prior, turns, rounds, True)
        return LogitsState(each, covariance, errors, rounds, positive)

    def express_column(self, state: LogitsState, j: int, moved: float, unit: float) -> LogitsState:
        """The state in another center and unit of a column.

        No weight grows: a model that is too sure of its labels learns little from them, and one that is not
        sure enough learns fast.
        """
        own = self.covariance.variance_of_weight(state.covariance, j)
        told = told_in_unit(own, self.variance(state.rounds, state.each.shape[1]), unit)
        express_column(state.each, j, moved, min(unit * told, 1.0))
        covariance = self.covariance.express_column(state.covariance, j, moved, unit, told)
        return LogitsState(state.each, covariance, state.errors, state.rounds, state.positive)

    def express_target(self, state: LogitsState, moved: float, unit: float) -> LogitsState:
        """The same state: labels have no unit."""
        return state
