"""The mean of several forecasters: Hedge with a share, one step a batch (Theorem X of `docs/math.md`, 11)."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import assign, scale_by, sum_abs

RATE, EXCESS, COUNTED, LARGEST, BATCHES, CHANGES, SLOWEST, WORSE = range(8)
_OTHER = 2.0  # a unit of losses that is off by this factor is replaced


class HedgeState(NamedTuple):
    """The parts of all forecasters, those at the start of the batch, and what the theorem needs."""

    parts: np.ndarray  # now: those at the start, times what the losses of the batch say
    start: np.ndarray
    sums: np.ndarray  # of the losses of this batch
    numbers: np.ndarray  # the rate; the proved excess of closed batches and stretches; rounds; the largest
    # range; batches; changes of the rate, and the smallest; what deployed losses exceeded the mean by


@rule
class Hedge:
    """Parts p of forecasters, whose mean is deployed: p falls with the losses of their forecasts.

    All rounds of a batch are predicted with the parts at its start, so a batch is one round of Hedge: a part
    is multiplied by exp(-rate L / unit), L the losses of its forecaster in the batch. At the end of a batch a
    `share` of all parts is divided equally. So a forecaster that was bad for long soon has its part back.

    The unit of losses is given at the start of each batch, and is replaced only if it is off by a factor of
    two: the theorem pays for each change.

    Parameters
    ----------
    rate : float
        Of a loss of one unit.
    share : float

    Guarantee
    ---------
    Over all rounds so far, the sum of the deployed losses exceeds that of each forecaster by at most
    `excess(state) + worse(state)`. For every set of inliers that leaves out at most k rounds, add k times the
    largest range of losses (`docs/math.md`, 11, Theorem X). `worse` is 0 if the loss is convex and the
    deployed forecast is the mean of the others.

    Examples
    --------
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

    def check(self):
        if not 0.0 < self.rate < math.inf:
            raise ValueError(f"rate must be positive: got {self.rate}")
        if not 0.0 < self.share < 1.0:
            raise ValueError(f"share is a part of the weight: expected 0 < share < 1, got {self.share}")

    def init(self, dim):
        """The first state, for `dim` forecasters."""
        even = np.full(dim, 1.0 / dim)
        return HedgeState(even, even.copy(), np.zeros(dim), self.first_numbers())

    def first_numbers(self):
        numbers = np.zeros(8)
        numbers[RATE], numbers[SLOWEST] = self.rate, self.rate
        return numbers

    def valid(self, state):
        fine = (state.parts >= 0.0) & (state.start > 0.0) & (state.start <= 1.0) & np.isfinite(state.sums)
        rates = state.numbers[RATE] > 0.0 and state.numbers[SLOWEST] > 0.0
        return bool(np.all(fine)) and rates and bool(np.all(np.isfinite(state.numbers)))

    def reset(self, state, dim):
        assign(state.parts, np.full(dim, 1.0 / dim))
        assign(state.start, state.parts)
        assign(state.sums, np.zeros(dim))
        assign(state.numbers, self.first_numbers())
        return state

    def collect(self, state, losses, deployed):
        """The state after one more round of the batch: the losses of all forecasters, and of their mean."""
        parts, start, sums, numbers = state
        least, low, high, mean = math.inf, math.inf, -math.inf, 0.0
        for k in range(len(sums)):
            loss = float(losses[k])
            sums[k] += loss
            mean += float(start[k]) * loss
            low, high, least = min(low, loss), max(high, loss), min(least, float(sums[k]))
        numbers[COUNTED] += 1.0
        numbers[LARGEST] = max(float(numbers[LARGEST]), high - low)
        numbers[WORSE] += max(deployed - mean, 0.0)
        rate = float(numbers[RATE])
        for k in range(len(sums)):
            parts[k] = float(start[k]) * math.exp(rate * (least - float(sums[k])))
        scale_by(parts, 1.0 / sum_abs(parts))
        return state

    def after_batch(self, state, unit):
        """The state at the end of a batch, given the unit of losses for the next one.

        A batch without losses changes no weight: a row that is refused says nothing about the forecasters.
        """
        parts, start, sums, numbers = state
        rate, count = float(numbers[RATE]), len(sums)
        if sum_abs(sums) > 0.0:
            numbers[EXCESS] += self.gap(state) - math.log1p(-self.share) / rate
            numbers[BATCHES] += 1.0
            self.write_next_parts(state, parts)
            for k in range(count):
                sums[k] = 0.0
            assign(start, parts)
        new = self.rate / unit if unit > 0.0 else rate
        if new > _OTHER * rate or new < rate / _OTHER:
            numbers[EXCESS] += self.entry(state)
            numbers[CHANGES] += 1.0
            numbers[RATE], numbers[SLOWEST] = new, min(float(numbers[SLOWEST]), new)
        return state

    def write_next_parts(self, state, parts):
        """Write the parts that the forecasters have after this batch."""
        count, share = len(state.sums), self.share if sum_abs(state.sums) > 0.0 else 0.0
        for k in range(count):
            parts[k] = (1.0 - share) * float(state.parts[k]) + share / count

    def gap(self, state):
        """The mixability gap of this batch: its mean loss, less the mix loss."""
        rate, mean, mix, least = float(state.numbers[RATE]), 0.0, 0.0, math.inf
        for k in range(len(state.sums)):
            least = min(least, float(state.sums[k]))
        for k in range(len(state.sums)):
            behind = float(state.sums[k]) - least
            mean += float(state.start[k]) * behind
            mix += float(state.start[k]) * math.exp(-rate * behind)
        return max(mean + math.log(mix) / rate, 0.0)

    def entry(self, state):
        """What it takes to find a forecaster in this stretch of one rate: ln(1 / its first part) / rate."""
        count = float(len(state.sums))
        return math.log(count / self.share if state.numbers[CHANGES] > 0.0 else count) / state.numbers[RATE]

    def excess(self, state, changes=0):
        """The most that the mean loss exceeds that of a forecaster by, over all rounds.

        With `changes`, that of a sequence of forecasters with so many changes, all between batches.
        """
        sought = changes * math.log(len(state.sums) / self.share) / float(state.numbers[SLOWEST])
        return float(state.numbers[EXCESS]) + self.gap(state) + float(self.entry(state)) + sought

    def worse(self, state):
        """What the deployed losses exceeded the mean of the forecasters' by, added up over these rounds."""
        return float(state.numbers[WORSE])

    def certificate(self, state, k, changes=0):
        """`excess` and `worse`, for every set of inliers that leaves out at most k rounds."""
        left_out = min(float(k), float(state.numbers[COUNTED])) * float(state.numbers[LARGEST])
        return self.excess(state, changes) + self.worse(state) + left_out
