"""The learner for numbers: ridge regressions that forget at different rates, stubborn and agile ones."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.entrywise import add_to_rows, products
from holdfast.losses import Absolute
from holdfast.protocols import Loss
from holdfast.rule import rarely_called, rule
from holdfast.steady.covariances import Full
from holdfast.steady.memories import (
    express_column,
    first_part,
    restore_prior,
    told_in_unit,
    weight_in_unit,
)
from holdfast.steady.residuals import (
    Residuals,
    are_valid_residuals,
    count_residual,
    forget_counts,
    forget_residuals,
    new_residuals,
    rescale_residuals,
)
from holdfast.vectors import assign, scale_by

_YOUNG = 20.0  # rounds: the memory of the covariance in the first round, which grows by 1 with each
_WINDOW = 200.0  # residuals of a block
_LEAST = 1e-3  # units of the target: a smaller residual is usual, or a target without noise would surprise
_LIMIT = 3.0  # usual residuals: beyond, a refused target counts less and less
_MOST = 4.0  # a round counts at most so many times as one with the usual residual
_ELSEWHERE = 4.0  # at 1, rows of a new key are refused if keys differ; at 10 nothing changes
_SLIGHT = 1e-6  # a round that counts less does not age the others
_NOTHING = 1e-300
_SPOILT = 8.0  # usual residuals of a stubborn regression: an agile one with more has followed a burst


def falling(r: float, power: float) -> float:
    """1 up to r = 1, then r ** -power. The usual powers take no logarithm."""
    if r <= 1.0:
        return 1.0
    if power == 1.0:
        return 1.0 / r
    return 1.0 / (r * r) if power == 2.0 else r**-power


class RidgesState(NamedTuple):
    """The weights of all regressions, one covariance, and their residuals. All is changed in place."""

    each: np.ndarray  # a row of weights for each regression
    covariance: Any
    residuals: Residuals
    errors: np.ndarray  # a buffer: forecasts, then steps
    numbers: np.ndarray  # rounds learned from


@rule
class Ridges:
    """Recursive least squares with several memories, and one covariance for all of them.

    A short memory follows changes, a long one has less noise. The covariances of their weights differ mostly
    by a factor, so one is kept. A residual is measured in units of the usual one of its regression.

    The regressions with long memories are *stubborn*: they learn nothing from a round whose target is
    refused. The others are *agile*: they learn from it with a small weight, until such residuals are usual.
    So a burst of wrong targets fools the agile ones, and a change the stubborn ones. When it is over, the
    agile ones go on from a stubborn one.

    Parameters:
        loss: Of which the mean forecast should be small.
        redescends: Whether `limits` and `powers` say how much a residual counts; this is for `Absolute()`. If
            not, a residual e counts |slope(e)| / |e|, relative to the usual residual: then each step is one
            of iteratively reweighted least squares for the loss.
        memories: For each regression the number of rounds after which a round counts about a third.
        limits, powers: A residual r times the limit counts r ** -power; the limit is in usual residuals.
        stubborn: For each regression 1 if it is stubborn, or 0.
        strength: Of the regularisation: the covariance starts as the identity divided by it.
        memory: That of the covariance.
        wrong: The share of residuals that may be wrong.
        covariance (Full or Diagonal): For many columns the diagonal one, whose rounds cost O(columns).

    Guarantee: none of its own. In `Steady`, a fallback has one.
    """

    loss: Loss = Absolute()
    redescends: bool = True
    memories: np.ndarray = (math.inf, 1000.0, 100.0, 20.0)  # type: ignore[assignment]
    limits: np.ndarray = (1.4, 3.0, 3.0, 3.0)  # type: ignore[assignment]
    powers: np.ndarray = (1.0, 2.0, 2.0, 2.0)  # type: ignore[assignment]
    stubborn: np.ndarray = (1.0, 1.0, 0.0, 0.0)  # type: ignore[assignment]
    strength: float = 1.0
    memory: float = 1000.0
    wrong: float = 0.15
    covariance: Any = Full()

    def check(self) -> None:
        shapes = {np.shape(each) for each in (self.memories, self.limits, self.powers, self.stubborn)}
        if len(shapes) != 1 or len(min(shapes)) != 1 or min(shapes) == (0,):
            raise ValueError(
                "memories, limits, powers and stubborn have a number for each regression, at least one: "
                f"got arrays of the shapes {', '.join(map(str, sorted(shapes)))}"
            )
        if not ((self.memories >= 2.0).all() and 2.0 <= self.memory < math.inf):
            raise ValueError(
                "memories count rounds, at least 2, and that of the covariance is finite: "
                f"got {self.memories.tolist()} and {self.memory:g}"
            )
        if not 1e-100 < self.strength < 1e100:
            raise ValueError(f"strength weighs a regulariser, so it must be positive: got {self.strength}")

    def scales_target(self) -> bool:
        """True: the target has a unit, too."""
        return True

    def first_part(self, k: int) -> float:
        """`holdfast.steady.memories.first_part` of a regression."""
        return first_part(float(self.memories[k]))

    def init(self, dim: int) -> RidgesState:
        count = len(self.memories)
        covariance = self.covariance.independent(dim, 1.0 / self.strength)
        arrays = (new_residuals(count), np.zeros(count), np.zeros(1))
        return RidgesState(np.zeros((count, dim)), covariance, *arrays)

    def valid(self, state: RidgesState) -> bool:
        return are_valid_residuals(state.residuals) and bool(state.numbers[0] >= 0.0)

    def reset(self, state: RidgesState, dim: int) -> RidgesState:
        for k in range(len(state.each)):
            assign(state.each[k], np.zeros(dim))
        self.covariance.set_independent(state.covariance, 1.0 / self.strength)
        forget_residuals(state.residuals)
        state.numbers[0] = 0.0
        return state

    def clear_buffers(self, state: RidgesState) -> None:
        """Set all buffers to 0, in place."""
        self.covariance.clear_buffers(state.covariance)
        assign(state.errors, np.zeros(len(state.errors)))

    def to_prior(self, state: RidgesState) -> None:
        """Make the weights as uncertain as at the start. Residuals may be larger elsewhere: the usual ones
        count four times, until others are known.
        """
        forget_counts(state.residuals)
        scale_by(state.residuals.usual, _ELSEWHERE)
        self.covariance.set_independent(state.covariance, 1.0 / self.strength)
        state.numbers[0] = 0.0

    def forecast(self, state: RidgesState, row: np.ndarray) -> np.ndarray:
        """The forecasts of all regressions, in the buffer `errors`."""
        products(state.each, row, state.errors)
        return state.errors

    def distance(self, state: RidgesState, y: float) -> float:
        """How surprising a target is: the smallest residual of a stubborn regression, in usual ones."""
        nearest = math.inf
        for k in range(len(state.errors)):
            if self.stubborn[k] > 0.0:
                error = y - float(state.errors[k])
                nearest = min(nearest, abs(error) / float(state.residuals.usual[k]))
        return nearest

    def is_near(self, state: RidgesState, y: float) -> bool:
        """Whether some regression has forecast the target within two usual residuals."""
        near = False
        for k in range(len(state.errors)):
            near = near or abs(y - float(state.errors[k])) <= 2.0 * float(state.residuals.usual[k])
        return near

    def loss_unit(self, state: RidgesState) -> float:
        """The unit of losses: the smallest usual residual."""
        usual = math.inf
        for k in range(len(state.errors)):
            usual = min(usual, float(state.residuals.usual[k]))
        return usual

    def weight_of(self, error: float, usual: float, k: int, likely: bool) -> float:
        """How much a round counts for a regression."""
        if not likely and self.stubborn[k] > 0.0:
            return 0.0
        r = abs(error) / usual
        if self.redescends:
            return falling(r / float(self.limits[k]), float(self.powers[k]))
        weight = self.loss_weight(error, usual)
        return weight if likely or r <= _LIMIT else weight * (_LIMIT / r) * (_LIMIT / r)

    def loss_weight(self, error: float, usual: float) -> float:
        """|slope(e)| / |e|, over that of the usual residual; at most 4."""
        common = 0.5 * (abs(self.loss.slope(0.0, usual)) + abs(self.loss.slope(0.0, -usual))) / usual
        own = abs(self.loss.slope(0.0, error))
        if not own > 0.0:
            return 0.0 if error != 0.0 else 1.0
        if not common > 0.0:
            common = 1.0 / usual
        return min(own / (abs(error) * common), _MOST)

    def learn(
        self,
        state: RidgesState,
        parts: np.ndarray,
        row: np.ndarray,
        y: float,
        likely: bool,
        first: bool,
        weight: float,
    ) -> None:
        """Learn from a round whose forecasts are in the buffer. `likely`: its target is not refused.

        The covariance counts it as the regressions do on average, by their parts in the mean. Of a run of
        refused targets only the `first` counts in the usual residual of a stubborn regression: so a burst
        does not become usual, but what is refused now and then all the time does.
        """
        each, covariance, residuals, errors, numbers = state
        rounds = float(numbers[0]) + 1.0
        variance, mean, whole = self.covariance.variance_of(covariance, row), 0.0, 0.0
        if not 0.0 < variance < math.inf:
            return
        numbers[0] = rounds
        if likely and self.is_spoilt(residuals.usual):
            self.recover(state, y)
        for k in range(len(each)):
            error, usual = y - float(errors[k]), float(residuals.usual[k])
            counts = weight * self.weight_of(error, usual, k, likely)
            mean += float(parts[k]) * counts
            whole += float(parts[k])
            times = counts * min(rounds, self.memory) / min(rounds, float(self.memories[k]))
            errors[k] = times * error / (1.0 + times * variance)
            if likely or first or not self.stubborn[k] > 0.0:
                count_residual(residuals, k, abs(error), _WINDOW, self.wrong, _LEAST, rounds)
        mean = max(mean / whole, _NOTHING) if whole > 0.0 else _NOTHING
        self.covariance.shrink(covariance, variance, 1.0 / mean)
        add_to_rows(each, errors, float(covariance.growth[0]), covariance.along)
        if mean > _SLIGHT:
            self.covariance.forget(covariance, max(min(self.memory, _YOUNG + rounds) / mean, 2.0))
        restore_prior(self.covariance, each, covariance, 1.0 / self.strength, 1, rounds, False)

    def is_spoilt(self, usual: np.ndarray) -> bool:
        """Whether the usual residual of an agile regression is far above that of a stubborn one."""
        least, most = math.inf, 0.0
        for k in range(len(usual)):
            if self.stubborn[k] > 0.0:
                least = min(least, float(usual[k]))
            else:
                most = max(most, float(usual[k]))
        return most > _SPOILT * least

    @rarely_called
    def recover(self, state: RidgesState, y: float) -> None:
        """Let agile regressions that followed a burst go on from a stubborn one, which did not.

        A stubborn regression has forecast this target, and the usual residual of an agile one is eight times
        as large. After a change it is the other way round.
        """
        best, usual = -1, state.residuals.usual
        for k in range(len(usual)):
            near = abs(y - float(state.errors[k])) <= _LIMIT * float(usual[k])
            if self.stubborn[k] > 0.0 and near and (best < 0 or usual[k] < usual[best]):
                best = k
        for k in range(len(usual)):
            if best >= 0 and not self.stubborn[k] > 0.0 and usual[k] > _SPOILT * usual[best]:
                self.copy_regression(state, best, k)

    def copy_regression(self, state: RidgesState, best: int, k: int) -> None:
        """Let regression k have the weights, the residuals and the forecast of another one."""
        residuals = state.residuals
        assign(state.each[k], state.each[best])
        assign(residuals.counts[k, 0], residuals.counts[best, 0])
        assign(residuals.counts[k, 1], residuals.counts[best, 1])
        assign(residuals.seen[k], residuals.seen[best])
        assign(residuals.places[k], residuals.places[best])
        residuals.usual[k] = residuals.usual[best]
        state.errors[k] = state.errors[best]

    def express_column(self, state: RidgesState, j: int, moved: float, unit: float) -> None:
        """Change the center and the unit of a column."""
        own = self.covariance.variance_of_weight(state.covariance, j)
        told = told_in_unit(own, 1.0 / self.strength, unit)
        express_column(state.each, j, moved, weight_in_unit(unit, told))
        self.covariance.express_column(state.covariance, j, moved, unit, told)

    @rarely_called
    def express_target(self, state: RidgesState, moved: float, unit: float) -> None:
        """Change the center and the unit of the target, both in old units."""
        last = state.each.shape[1] - 1
        for k in range(len(state.each)):
            state.each[k, last] -= moved
            scale_by(state.each[k], 1.0 / unit)
        rescale_residuals(state.residuals, math.frexp(unit)[1] - 1)
