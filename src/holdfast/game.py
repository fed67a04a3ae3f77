"""A game, round by round: predict, reveal, measure, decide, and learn or not (section 2 of the paper)."""

__all__ = ["Filtered"]

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.needs import check_hints, refuse_hidden_rows
from holdfast.measures import Gradient, Target
from holdfast.norms import HUGE, L2, LONG, euclidean
from holdfast.protocols import Filter, Learner, Measure, Norm, Row, Weights
from holdfast.rounds import Round, Verdict
from holdfast.rule import rule
from holdfast.vectors import add, add_to_sum, dot, length, prediction_of


def unmeasured(size: float) -> Verdict:
    """The verdict on a round whose size, gradient, row or target is not finite.

    No filter remembers it and no learner learns from it. Its size is infinite or NaN.
    """
    return Verdict(False, -1, (size + math.inf,), (math.nan,), -1)


class FilteredState(NamedTuple):
    learner: Any
    memory: Any


@rule
class Filtered:
    """A learner that sees only the rounds its filter keeps: FILTER and ALG of section 3.

    Parameters:
        learner: ALG, such as `OGD(Ball(1.0))`.
        filter: FILTER, such as `TopK(50)`.
        norm: The norm on the domain; sizes are measured in its dual.
        on (Gradient, Features, Range or LossForm): The size by which the filter judges a round. A round whose
            gradient is not finite is always skipped, and not remembered. Beyond 2^1000 (1e301) gradients and
            rows count as infinite.

    >>> from holdfast import Ball, OGD, TopK
    >>> player = Filtered(OGD(Ball(1.0)), TopK(1))
    >>> state = player.init(dim=1)
    >>> for g in (1.0, 1.0, 1e9):
    ...     state, verdict = player.observe(state, Round(g, np.ones(1)))
    >>> verdict.kept, verdict.sizes, verdict.thresholds
    (False, (1000000000.0,), (2.0,))
    """

    learner: Learner
    filter: Filter
    norm: Norm = L2()
    on: Measure = Gradient()

    def check(self) -> None:
        if isinstance(self.on, Target):
            raise TypeError(
                "Target() is measured in the units of a learner, which Filtered does not use: "
                "write Guarded(learner, (Check(Target(), filter),))"
            )

    def check_names(self: Any) -> tuple[str, ...]:
        return (self.on.name(),)

    def check_dim(self: Any, dim: int) -> None:
        check_hints(self.learner)
        self.on.check_learner(self.learner)
        refuse_hidden_rows(self.learner, not (self.filter.keeps_all() or self.on.reads_rows()))
        self.learner.check_dim(dim)
        self.norm.check_dim(dim)

    def init(self, dim: int) -> FilteredState:
        return FilteredState(self.learner.init(dim), self.filter.init(dim))

    def predict(self: Any, state: Any) -> Weights:
        return self.learner.predict(self.active_learner(state))

    def current_weights(self: Any, state: Any) -> Weights:
        """The weights after the last round, also if the learner restarts before the next one."""
        return self.learner.predict(state.learner)

    def observe(self, state: FilteredState, round: Round) -> tuple[FilteredState, Verdict]:
        if round.slope == 0.0:  # the same result; the literal 0.0 lets LLVM specialise a cheap path
            return self.judge_round(state, Round(0.0, round.x, round.y, round.x, 0.0))
        return self.judge_round(state, Round(round.slope, round.x, round.y, round.x, 0.0))

    def judge_round(self: Any, state: FilteredState, round: Round) -> tuple[FilteredState, Verdict]:
        """The next state, and the verdict."""
        norm, slope, x = self.norm.dual(), round.slope, round.x
        is_read = slope != 0.0 or self.on.reads_rows()
        length = norm.of(x) if is_read else 0.0
        entry = norm.entry_bound(x, length) if is_read else 0.0
        size = self.on.size_of(self.learner, state.learner, norm, round, length)
        if not (size < math.inf and entry < HUGE and abs(slope) * entry < HUGE):
            return state, unmeasured(size)
        learner = self.active_learner(state)
        round = self.learner.in_units(learner, round)
        if self.learner.reads_rows() and not read_size(round) < LONG:
            return state, unmeasured(size)
        memory, threshold, kept = self.filter.decide(state.memory, size)
        if kept:
            learner = self.learner.update(learner, round)
        return FilteredState(learner, memory), Verdict(kept, -1 if kept else 0, (size,), (threshold,), -1)

    def active_learner(self: Any, state: FilteredState) -> Any:
        """The state of the learner for this round: the first one again, if the filter demands a restart."""
        if self.filter.restarts(state.memory):
            return self.learner.reset(state.learner, length(self.learner.predict(state.learner)))
        return state.learner

    def valid(self: Any, state: FilteredState) -> bool:
        return self.learner.valid(state.learner) and self.filter.valid(state.memory)

    def reset(self: Any, state: FilteredState, dim: int) -> FilteredState:
        return FilteredState(self.learner.reset(state.learner, dim), self.filter.reset(state.memory, dim))

    def to_lazy(self: Any, state: Any, summed: bool) -> Any:
        return state._replace(learner=self.learner.to_lazy(state.learner, summed))


def read_size(round: Round) -> float:
    """At least the size of row, slope and target, as a learner reads them; NaN if one of them is."""
    return euclidean(round.row) + abs(round.slope) + abs(round.target)


class Columns(NamedTuple):
    """Arrays with an entry for each round. Those that were not asked for are empty."""

    losses: np.ndarray
    sizes: np.ndarray  # by round and check
    thresholds: np.ndarray  # by round and check
    kept: np.ndarray
    refused_by: np.ndarray
    farthest: np.ndarray
    products: np.ndarray
    predictions: np.ndarray
    gradients: np.ndarray
    iterates: np.ndarray

    def revealed(self, i: int, w: Weights, loss: float, slope: float, x: Row) -> None:
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

    def decided(self, i: int, verdict: Verdict) -> None:
        if len(self.sizes) > 0:
            for k in range(len(verdict.sizes)):
                self.sizes[i, k] = verdict.sizes[k]
        if len(self.thresholds) > 0:
            for k in range(len(verdict.thresholds)):
                self.thresholds[i, k] = verdict.thresholds[k]
        if len(self.kept) > 0:
            self.kept[i] = verdict.kept
        if len(self.refused_by) > 0:
            self.refused_by[i] = verdict.refused_by
        if len(self.farthest) > 0:
            self.farthest[i] = verdict.column


class Counts(NamedTuple):
    """The numbers of rounds: all, kept, without a finite size; and the sum of the weights w_t."""

    rounds: int
    kept: int
    unmeasured: int
    summed: np.ndarray

    def predicted(self, w: Weights) -> None:
        add_to_sum(self.summed, w)

    def decided(self, i: int, verdict: Verdict) -> "Counts":
        kept = self.kept + (1 if verdict.kept else 0)
        unmeasured = self.unmeasured + (0 if verdict.kept or verdict.refused_by >= 0 else 1)
        return Counts(i, kept, unmeasured, self.summed)


def play_rounds(
    player: Any,
    adversary: Any,
    state: Any,
    hidden: Any,
    tally: Counts,
    columns: Columns,
    first: int,
    last: int,
) -> tuple[Any, Any, Counts]:
    """Play rounds first, ..., last - 1 of the adversary: the only loop, interpreted and compiled."""
    for t in range(first, last):
        state, hidden, tally = play_round(player, adversary, state, hidden, tally, columns, t, t - first)
    return state, hidden, tally


def play_round(
    player: Any, adversary: Any, state: Any, hidden: Any, tally: Counts, columns: Columns, t: int, row: int
) -> tuple[Any, Any, Counts]:
    """Play round t, and record it in this row of the columns."""
    w = player.predict(state)
    y = adversary.target_at(t)  # read before any array is written, so that the compiler reads it once
    hidden, loss, slope, x = adversary.reveal(hidden, t, w)
    columns.revealed(row, w, loss, slope, x)  # directly after reveal, so that an unused loss is not computed
    tally.predicted(w)  # before observe, which may write into w
    state, verdict = player.observe(state, Round(slope, x, y, x, 0.0))
    tally = tally.decided(tally.rounds + 1, verdict)
    columns.decided(row, verdict)
    return state, hidden, tally
