"""A game, round by round: predict, reveal, measure, decide, and learn or not (section 2 of the paper)."""

__all__ = ["Decision", "Features", "Filtered", "Gradient", "LossForm", "Range"]

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import check_hints, refuse_hidden_rows, refuse_ranges
from holdfast.norms import HUGE, L2, LONG, euclidean
from holdfast.protocols import Filter, Learner, Measure, Norm
from holdfast.rule import rule
from holdfast.vectors import add, add_to_sum, dot, length, prediction_of, spread


class Decision(NamedTuple):
    """Whether a round was kept, and why. If the size was not finite, no filter decided: threshold is NaN."""

    kept: bool
    size: float
    threshold: float

    def others(self):
        """As `GuardedDecision.others`: NaN and -1, because there are no other filters here."""
        return math.nan, math.nan, math.nan, math.nan, -1


def unmeasured(size):
    """The decision on a round whose size, gradient, row or target is not finite.

    No filter remembers it and no learner learns from it. Its size is infinite or NaN.
    """
    return Decision(False, size + math.inf, math.nan)


@rule
class Gradient:
    """Judge a round by the size of its gradient, as sections 3 and 4 of the paper do.

    If the slope is 0, the gradient is 0 and x is not read.
    """

    def size_of_transformed(self, learner, state, norm, slope, x, row, size):
        return abs(slope) * size


@rule
class Features:
    """Judge a round by the size of its features alone (the Proposition)."""

    def reads_rows(self):
        return True

    def size_of_transformed(self, learner, state, norm, slope, x, row, size):
        return size


@rule
class Range:
    """Judge a round by how far apart the losses of the experts are, for learners on the simplex.

    Adding a number to all losses changes neither the regret nor this size; the diameter for it is 1. But
    such a number ruins a learner that adapts to Euclidean sizes. So only learners whose bound depends on
    ranges (`needs().size`) are allowed: `AdaHedge`, `EG` and `Squint`.
    """

    def check_learner(self, learner):
        refuse_ranges(learner)

    def measure(self, norm, slope, x):
        return abs(slope) * spread(x) if slope != 0.0 else 0.0


@rule
class LossForm:
    """Judge a round by the most that its squared loss can differ from that of any u with ‖u‖ <= reach.

    For `VAW` and `OnlineRidge`, whose regret is a difference of losses: with prediction z and target y it is
    at most (|z| + r) (|z| / 2 + r / 2 + |y|) a round, r = reach ‖x‖. The diameter for it is 1.

    Parameters
    ----------
    reach : float
        The length of the longest u to compare with.
    """

    reach: float

    def check(self):
        if not 0.0 < self.reach < math.inf:
            raise ValueError(f"reach is the length of a comparator, so it must be positive: got {self.reach}")

    def reads_rows(self):
        return True

    def size_of_transformed(self, learner, state, norm, slope, x, row, size):
        z, r = dot(learner.predict(state), x), self.reach * size
        return (abs(z) + r) * (0.5 * abs(z) + 0.5 * r + abs(z - slope))


class FilteredState(NamedTuple):
    """The states of ALG and FILTER."""

    learner: Any
    memory: Any
    y: float  # the target of this round


@rule
class Filtered:
    """A learner that sees only the rounds its filter keeps: FILTER and ALG of section 3.

    Parameters
    ----------
    learner : a learner
        ALG, such as `OGD(Ball(1.0))`.
    filter : a filter
        FILTER, such as `TopK(50)`.
    norm : a norm
        The norm on the domain; sizes are measured in its dual.
    on : Gradient, Features, Range or LossForm
        The size by which the filter judges a round. A round whose gradient is not finite is always skipped,
        and not remembered. Beyond 2^1000 (1e301) gradients and rows count as infinite.

    Examples
    --------
    >>> from holdfast import Ball, OGD, TopK
    >>> player = Filtered(OGD(Ball(1.0)), TopK(1))
    >>> state = player.init(dim=1)
    >>> for g in (1.0, 1.0, 1e9):
    ...     state, decision = player.observe(state, g, np.ones(1))
    >>> decision
    Decision(kept=False, size=1000000000.0, threshold=2.0)
    """

    learner: Learner
    filter: Filter
    norm: Norm = L2()
    on: Measure = Gradient()

    def check_dim(self, dim):
        check_hints(self.learner)
        self.on.check_learner(self.learner)
        refuse_hidden_rows(self.learner, not (self.filter.keeps_all() or self.on.reads_rows()))
        self.learner.check_dim(dim)
        self.norm.check_dim(dim)

    def init(self, dim):
        return FilteredState(self.learner.init(dim), self.filter.init(dim), 0.0)

    def predict(self, state):
        return self.learner.predict(self.active_learner(state))

    def current_weights(self, state):
        """The weights after the last round, also if the learner restarts before the next one."""
        return self.learner.predict(state.learner)

    def observe(self, state, slope, x):
        if slope == 0.0:  # the same result; the literal 0.0 lets LLVM specialise a cheap path
            return self.judge_round(state, 0.0, x)
        return self.judge_round(state, slope, x)

    def judge_round(self, state, slope, x):
        """The next state, and the decision."""
        norm = self.norm.dual()
        is_read = slope != 0.0 or self.on.reads_rows()
        length = norm.of(x) if is_read else 0.0
        entry = norm.entry_bound(x, length) if is_read else 0.0
        size = self.on.size_of_transformed(self.learner, state.learner, norm, slope, x, x, length)
        if not (size < math.inf and entry < HUGE and abs(slope) * entry < HUGE):
            return state, unmeasured(size)
        learner = self.active_learner(state)
        row = self.learner.transform_row(learner, x)
        if self.learner.reads_rows() and not self.read_size(learner, slope, row) < LONG:
            return state, unmeasured(size)
        memory, threshold, kept = self.filter.decide(state.memory, size)
        if kept:
            learner = self.learner.update_transformed(learner, slope, x, row)
        return FilteredState(learner, memory, state.y), Decision(kept, size, threshold)

    def read_size(self, learner, slope, row):
        """At least the size of row, slope and target, as the learner reads them; NaN if one of them is."""
        return euclidean(row) + abs(slope) + abs(self.learner.transform_target(learner))

    def active_learner(self, state):
        """The state of the learner for this round: the first one again, if the filter demands a restart."""
        if self.filter.restarts(state.memory):
            first = self.learner.reset(state.learner, length(self.learner.predict(state.learner)))
            return self.learner.set_target(first, state.y)
        return state.learner

    def set_target(self, state, y):
        return FilteredState(self.learner.set_target(state.learner, y), state.memory, y)

    def valid(self, state):
        return self.learner.valid(state.learner) and self.filter.valid(state.memory)

    def reset(self, state, dim):
        return FilteredState(
            self.learner.reset(state.learner, dim), self.filter.reset(state.memory, dim), 0.0
        )

    def to_lazy(self, state, summed):
        return state._replace(learner=self.learner.to_lazy(state.learner, summed))


class Columns(NamedTuple):
    """Arrays with an entry for each round. Those that were not asked for are empty."""

    losses: np.ndarray
    sizes: np.ndarray
    thresholds: np.ndarray
    kept: np.ndarray
    products: np.ndarray
    predictions: np.ndarray
    gradients: np.ndarray
    iterates: np.ndarray
    feature_sizes: np.ndarray
    feature_thresholds: np.ndarray
    target_sizes: np.ndarray
    target_thresholds: np.ndarray
    farthest: np.ndarray

    def revealed(self, i, w, loss, slope, x):
        if len(self.losses) > 0:
            self.losses[i] = loss
        if len(self.products) > 0:
            self.products[i] = slope * dot(w, x)
        if len(self.predictions) > 0:
            self.predictions[i] = prediction_of(w, dot(w, x))
        if len(self.gradients) > 0:
            add(self.gradients[i], slope, x)
        if len(self.iterates) > 0:
            add(self.iterates[i], 1.0, w)

    def decided(self, i, decision):
        if len(self.sizes) > 0:
            self.sizes[i] = decision.size
        if len(self.thresholds) > 0:
            self.thresholds[i] = decision.threshold
        if len(self.kept) > 0:
            self.kept[i] = decision.kept
        if len(self.feature_sizes) > 0:
            a, b, c, d, column = decision.others()
            self.feature_sizes[i], self.feature_thresholds[i] = a, b
            self.target_sizes[i], self.target_thresholds[i] = c, d
            self.farthest[i] = column


class Counts(NamedTuple):
    """The numbers of rounds: all, kept, without a finite size; and the sum of the weights w_t."""

    rounds: int
    kept: int
    unmeasured: int
    summed: np.ndarray

    def predicted(self, w):
        add_to_sum(self.summed, w)

    def decided(self, i, decision):
        kept = self.kept + (1 if decision.kept else 0)
        unmeasured = self.unmeasured + (0 if decision.size < math.inf else 1)
        return Counts(i, kept, unmeasured, self.summed)


def play_rounds(player, adversary, state, hidden, tally, columns, first, last):
    """Play rounds first, ..., last - 1 of the adversary: the only loop, interpreted and compiled."""
    for t in range(first, last):
        state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t - first)
    return state, hidden, tally


def play_round(player, adversary, state, hidden, tally, columns, t, row):
    """Play round t, and record it in this row of the columns."""
    w = player.predict(state)
    y = adversary.target_at(t)  # read before any array is written, so that the compiler reads it once
    hidden, loss, slope, x = adversary.reveal(hidden, t, w)
    columns.revealed(row, w, loss, slope, x)  # directly after reveal, so that an unused loss is not computed
    tally.predicted(w)  # before observe, which may write into w
    state, decision = player.observe(player.set_target(state, y), slope, x)
    tally = tally.decided(tally.rounds + 1, decision)
    columns.decided(row, decision)
    return state, hidden, tally
