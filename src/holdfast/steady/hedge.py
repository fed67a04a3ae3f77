"""The mean of several forecasters: Hedge with a share, one step a batch (Theorem X of `docs/math.md`, 11)."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.steady.residuals import PLACES, place_of, sum_of_largest
from holdfast.vectors import assign

RATE, EXCESS, COUNTED, LARGEST, BATCHES, CHANGES, SLOWEST, WORSE, CLOSED, BEHIND, MIX = range(11)
_OTHER = 2.0  # a unit of losses that is off by this factor is replaced


class HedgeState(NamedTuple):
    """The parts of all forecasters, those at the start of the batch, and what the theorem needs."""

    parts: np.ndarray  # those of the next batch, if this one ends now
    start: np.ndarray
    sums: np.ndarray  # of the losses of this batch
    numbers: np.ndarray  # the rate; the proved excess of closed batches and stretches; rounds; the largest
    # range; batches; changes of the rate, and the smallest; what deployed losses exceeded the mean by; rounds
    # of closed batches; how far the mean of this batch is behind its best forecaster; the sum of the parts
    ranges: np.ndarray  # counts: the ranges of the losses of a round


@rule
class Hedge:
    """Parts p of forecasters, whose mean is deployed: p falls with the losses of their forecasts.

    All rounds of a batch are predicted with the parts at its start, so a batch is one round of Hedge: a part
    is multiplied by exp(-rate L / unit), L the losses of its forecaster in the batch. At the end of a batch a
    `share` of all parts is divided equally. So a forecaster that was bad for long soon has its part back. A
    batch without a round changes nothing.

    The unit of losses is given at the start of each batch, and is replaced only if it is off by a factor of
    two: the theorem pays for each change.

    Parameters:
        rate: Of a loss of one unit.

    Guarantee: Over all rounds so far, the sum of the deployed losses exceeds that of each forecaster by at
    most `excess(state) + worse(state)`. For every set of inliers that leaves out at most k rounds, add the k
    largest ranges of losses (`docs/math.md`, 11, Theorem X). `worse` is 0 if the loss is convex and the
    deployed forecast is the mean of the others.

    >>> hedge = Hedge()
    >>> state = hedge.init(dim=2)
    >>> for _ in range(100):
    ...     state = hedge.collect(state, np.array([1.0, 0.5]), deployed=0.75)
    ...     state = hedge.after_batch(state, unit=1.0)
    >>> state.parts.round(2).tolist(), round(hedge.excess(state), 1)
    ([0.01, 0.99], 7.2)
    """

    rate: float = 0.1
    share: float = 1e-4

    def check(self) -> None:
        if not 0.0 < self.rate < math.inf:
            raise ValueError(f"rate must be positive: got {self.rate}")
        if not 0.0 < self.share < 1.0:
            raise ValueError(f"share is a part of the weight: expected 0 < share < 1, got {self.share}")

    def init(self, dim: int) -> HedgeState:
        """The first state, for `dim` forecasters."""
        even = np.full(dim, 1.0 / dim)
        return HedgeState(even, even.copy(), np.zeros(dim), self.first_numbers(), np.zeros(PLACES))

    def first_numbers(self) -> np.ndarray:
        numbers = np.zeros(11)
        numbers[RATE], numbers[SLOWEST], numbers[MIX] = self.rate, self.rate, 1.0
        return numbers

    def valid(self, state: HedgeState) -> bool:
        fine = (state.parts >= 0.0) & (state.start > 0.0) & (state.start <= 1.0) & np.isfinite(state.sums)
        rates = state.numbers[RATE] > 0.0 and state.numbers[SLOWEST] > 0.0 and state.numbers[MIX] > 0.0
        return bool(np.all(fine)) and rates and bool(np.all(np.isfinite(state.numbers)))

    def reset(self, state: HedgeState, dim: int) -> HedgeState:
        assign(state.parts, np.full(dim, 1.0 / dim))
        assign(state.start, state.parts)
        assign(state.sums, np.zeros(dim))
        assign(state.numbers, self.first_numbers())
        assign(state.ranges, np.zeros(PLACES))
        return state

    def start_from(self, state: HedgeState, first: np.ndarray) -> HedgeState:
        """A new start: the parts are in proportion to these numbers.

        A forecaster with a part of p at first is found for ln(1 / p) / rate. `entry` is for equal parts; what
        the smallest of these costs more is proved excess from the beginning.
        """
        count, total, least = len(first), 0.0, math.inf
        for k in range(count):
            total, least = total + float(first[k]), min(least, float(first[k]))
        self.reset(state, count)
        for k in range(count):
            state.parts[k] = state.start[k] = float(first[k]) / total
        state.numbers[EXCESS] = math.log(total / (count * least)) / self.rate
        return state

    def collect(self, state: HedgeState, losses: np.ndarray, deployed: float) -> HedgeState:
        """The state after one more round of the batch: the losses of all forecasters, and of their mean."""
        parts, start, sums, numbers, ranges = state
        least, low, high, mean = math.inf, math.inf, -math.inf, 0.0
        for k in range(len(sums)):
            loss = float(losses[k])
            sums[k] += loss
            mean += float(start[k]) * loss
            low, high, least = min(low, loss), max(high, loss), min(least, float(sums[k]))
        numbers[COUNTED] += 1.0
        numbers[LARGEST] = max(float(numbers[LARGEST]), high - low)
        ranges[place_of(high - low)] += 1.0
        numbers[WORSE] += max(deployed - mean, 0.0)
        rate, count, behind, mix = float(numbers[RATE]), len(sums), 0.0, 0.0
        for k in range(count):
            own = float(sums[k]) - least
            part = float(start[k]) * math.exp(-rate * own)
            parts[k], behind, mix = part, behind + float(start[k]) * own, mix + part
        numbers[BEHIND], numbers[MIX] = behind, mix
        for k in range(count):
            parts[k] = (1.0 - self.share) / mix * float(parts[k]) + self.share / count
        return state

    def after_batch(self, state: HedgeState, unit: float) -> HedgeState:
        """The state at the end of a batch, given the unit of losses for the next one."""
        parts, start, sums, numbers, _ = state
        if numbers[CLOSED] == numbers[COUNTED]:
            return state
        rate = float(numbers[RATE])
        numbers[EXCESS] += self.gap(state) - math.log1p(-self.share) / rate
        numbers[BATCHES] += 1.0
        numbers[CLOSED], numbers[BEHIND], numbers[MIX] = numbers[COUNTED], 0.0, 1.0
        for k in range(len(sums)):
            start[k], sums[k] = parts[k], 0.0
        new = self.rate / unit if unit > 0.0 else rate
        if new > _OTHER * rate or new < rate / _OTHER:
            numbers[EXCESS] += self.entry(state)
            numbers[CHANGES] += 1.0
            numbers[RATE], numbers[SLOWEST] = new, min(float(numbers[SLOWEST]), new)
        return state

    def gap(self, state: HedgeState) -> float:
        """The mixability gap of this batch: its mean loss, less the mix loss."""
        numbers = state.numbers
        return max(float(numbers[BEHIND]) + math.log(float(numbers[MIX])) / float(numbers[RATE]), 0.0)

    def entry(self, state: HedgeState) -> float:
        """What it takes to find a forecaster in this stretch of one rate: ln(1 / its first part) / rate."""
        count = float(len(state.sums))
        return math.log(count / self.share if state.numbers[CHANGES] > 0.0 else count) / state.numbers[RATE]

    def excess(self, state: HedgeState, changes: int = 0) -> float:
        """The most that the mean loss exceeds that of a forecaster by, over all rounds.

        With `changes`, that of a sequence of forecasters with so many changes, all between batches.
        """
        sought = changes * math.log(len(state.sums) / self.share) / float(state.numbers[SLOWEST])
        return float(state.numbers[EXCESS]) + self.gap(state) + float(self.entry(state)) + sought

    def worse(self, state: HedgeState) -> float:
        """What the deployed losses exceeded the mean of the forecasters' by, added up over these rounds."""
        return float(state.numbers[WORSE])

    def certificate(self, state: HedgeState, k: int, changes: int = 0) -> float:
        """`excess` and `worse`, for every set of inliers that leaves out at most k rounds."""
        left_out = sum_of_largest(state.ranges, k, float(state.numbers[LARGEST]))
        return self.excess(state, changes) + self.worse(state) + left_out
