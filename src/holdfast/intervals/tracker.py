"""Widths of intervals that cover a stated share of the good rounds, whatever the other rounds contain."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.filters.topshare import TopShare
from holdfast.norms import HUGE
from holdfast.protocols import Filter
from holdfast.rule import rarely_called, replaced, rule

FIRST = 32  # near scores: with fewer, the 0.95-quantile is the largest of them
LAST = 512  # scores after which widths only follow
_TINY = 1e-300  # no width is smaller: 0 could not grow
_FLOOR = 1.0 / 64.0  # of the threshold; with slack 8, an eighth of the filter's order statistic
_SEEN, _BLOCK, _NEAR = range(3)  # scores; at which number of them the block ends; near scores in it
MISSED, IGNORED, HELD = range(3)


class TrackerState(NamedTuple):
    """What a tracker remembers. All arrays are changed in place."""

    memory: Any  # that of the filter
    widths: np.ndarray  # of each coverage; infinite before the first
    counts: np.ndarray  # by coverage: rounds missed; those ignored; by how many steps widths were held up
    rounds: np.ndarray  # by coverage: rounds with a width
    factors: np.ndarray  # by coverage: of a width that covers, and of one that misses; they do not change
    numbers: np.ndarray
    first: np.ndarray  # near scores of the block


@rule
class Tracker:
    """Follow the scores of forecasts with a width, so that a share `coverage` of them is at most the width.

    A score is any number that is 0 if a forecast was right and large if it was wrong, such as |y - z|. It is
    *covered* if it is at most the width. Then the width is multiplied by exp(-step alpha), where alpha is 1 -
    coverage; else the score is *missed*, and the width is multiplied by exp(step coverage). So after any
    stretch of rounds the misses are alpha of them, up to how far the logarithm of the width has moved. What
    a score says is one bit, so k bad ones change the count of misses by k, however large they are.

    But misses could come in such numbers that the width grows without end. So a miss counts only if the
    filter keeps the score; others are *ignored*. Then no width exceeds `slack` times the largest good
    score, times exp(step coverage).

    The first width is the order statistic of the first 32 scores that the filter keeps. It is found again
    after 64, 128, 256 and 512 scores, each time from the last half of them, because forecasts get better.
    No width falls below 1/64 of the filter's threshold, so that it is soon large enough again after a quiet
    time.

    Widths of several coverages follow on their own, and are given in order: each is at least those of the
    smaller coverages.

    Parameters:
        coverage: The share of scores to cover, or several shares, increasing, each in (0, 1).
        step: By how much a miss moves the logarithm of a width, about. Larger steps follow faster, and the
            width is less steady.
        filter: Which misses count. `Everything()` counts all.
        least: No width is smaller.

    Guarantee: Theorems I and II (`docs/math.md`, 12), for any scores, any forecasts, and every set of good
    rounds; `bounds.theorem_i` and `bounds.theorem_ii` compute them.

    >>> tracker, rng = Tracker([0.5, 0.9]), np.random.default_rng(0)
    >>> state = tracker.begin()
    >>> for score in abs(rng.standard_normal(5000)):
    ...     state = tracker.follow(state, score)
    >>> tracker.widths(state).round(1).tolist()  # the quantiles are 0.67 and 1.64
    [0.7, 1.7]
    >>> (state.counts[:, MISSED] / state.rounds).round(2).tolist()
    [0.5, 0.1]
    """

    coverage: np.ndarray = np.array([0.9])
    step: float = 0.02
    filter: Filter = TopShare(0.15, slack=8.0, window=1000)
    least: float = 0.0

    def check(self) -> Any:
        coverage = np.atleast_1d(self.coverage)
        inside = (
            coverage.ndim == 1 and len(coverage) > 0 and bool(np.all((coverage > 0.0) & (coverage < 1.0)))
        )
        if not inside or bool(np.any(np.diff(coverage) <= 0.0)):
            raise ValueError(
                "coverage is the share of scores to cover, in (0, 1), or several such shares in increasing "
                f"order: got {self.coverage.tolist()}"
            )
        if not 0.0 < self.step <= 1.0:
            raise ValueError(f"step moves the logarithm of a width: expected 0 < step <= 1, got {self.step}")
        if not 0.0 <= self.least < HUGE:
            raise ValueError(f"least is the smallest width, and cannot be negative: got {self.least}")
        return replaced(self, coverage=coverage)

    def begin(self) -> TrackerState:
        """The state before the first score."""
        levels = len(self.coverage)
        widths, counts = np.full(levels, math.inf), np.zeros((levels, 3))
        factors = np.exp(self.step * np.column_stack([self.coverage - 1.0, self.coverage]))
        numbers, rest = np.array([0.0, float(FIRST), 0.0]), (np.zeros(levels), factors)
        return TrackerState(self.filter.init(1), widths, counts, *rest, numbers, np.zeros(LAST))

    def valid(self: Any, state: TrackerState) -> bool:
        """Whether `follow` can go on from a state, which may be from a damaged file."""
        seen, block, near = state.numbers
        counted = 0.0 <= near <= min(seen, LAST) and FIRST <= block <= 2 * LAST and near < block
        numbers = (state.rounds, state.counts.reshape(-1), state.first)
        finite = all(bool(np.all((each >= 0.0) & (each < HUGE))) for each in numbers)
        fits = len(state.widths) == len(self.coverage) and bool(np.all(state.widths > 0.0))
        same = bool(np.array_equal(state.factors, self.begin().factors))
        return fits and same and finite and bool(counted) and self.filter.valid(state.memory)

    def widths(self, state: TrackerState) -> np.ndarray:
        """The width for each coverage; infinite before there is one."""
        return np.maximum.accumulate(state.widths)

    def follow(self, state: TrackerState, score: float) -> TrackerState:
        """The state after a score. One that is not a number of at least 0 changes nothing."""
        if not 0.0 <= score < HUGE:
            return state
        memory, threshold, near = self.filter.decide(state.memory, score)
        floor = max(_FLOOR * threshold, self.least, _TINY) if threshold < math.inf else max(self.least, _TINY)
        for i in range(len(state.widths)):
            if state.widths[i] < math.inf:
                self.move(state, i, score, near, floor)
        if state.numbers[_BLOCK] <= LAST:
            self.collect(state, score, near)
        rest = (state.widths, state.counts, state.rounds, state.factors, state.numbers, state.first)
        return TrackerState(memory, *rest)

    def move(self, state: TrackerState, i: int, score: float, near: bool, floor: float) -> None:
        """Move one width, and count."""
        width, counts, moved = state.widths[i], state.counts[i], 0.0
        state.rounds[i] += 1.0
        if score <= width:
            moved = width * state.factors[i, 0]
            held = max(moved, min(floor, width))
        else:
            counts[MISSED] += 1.0
            if not near:
                counts[IGNORED] += 1.0
                return
            moved = width * state.factors[i, 1]
            held = max(moved, min(floor, score))
        if held > moved:
            counts[HELD] += math.log(held / moved) / self.step
        state.widths[i] = held

    def collect(self, state: TrackerState, score: float, near: bool) -> None:
        """Store a near score; at the end of a block, find the widths from those of the block."""
        numbers = state.numbers
        numbers[_SEEN] += 1.0
        if near:
            state.first[int(numbers[_NEAR])] = score
            numbers[_NEAR] += 1.0
        if numbers[_SEEN] >= numbers[_BLOCK]:
            self.find_widths(state, int(numbers[_NEAR]))
            numbers[_BLOCK], numbers[_NEAR] = 2.0 * numbers[_BLOCK], 0.0

    @rarely_called
    def find_widths(self, state: TrackerState, count: int) -> int:
        """Set each width to the order statistic of the stored scores, if they are enough."""
        if count < FIRST // 2:
            return 0
        ordered = np.sort(state.first[:count])
        for i in range(len(state.widths)):
            rank = min(math.ceil(self.coverage[i] * (count + 1)), count)
            state.widths[i] = max(ordered[rank - 1], self.least, _TINY)
        return count
