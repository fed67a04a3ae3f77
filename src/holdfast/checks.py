"""The guard: a learner behind checks of any number, each with a measure and a filter."""

__all__ = ["Check", "Guarded", "LabelCheck", "usual_checks"]

import copy
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.filters.topshare import TopShare
from holdfast.game import Filtered
from holdfast.learners.needs import Each, Several, check_hints, refuse_hidden_rows
from holdfast.measures import Features, Gradient, Target
from holdfast.norms import HUGE, L2, LONG
from holdfast.protocols import Filter, Learner, Measure, Norm
from holdfast.rounds import Round, Verdict
from holdfast.rule import rule
from holdfast.vectors import length, place_of_largest

# A rare gradient often belongs to something that is not learned yet, so that share is smaller.
FEATURES = TARGET = TopShare(0.1, slack=4.5)
GRADIENT = TopShare(0.01)
_GRADIENT = Gradient()


def first_refusal(kept: Sequence[bool], thresholds: Sequence[float]) -> int:
    """The place of the first check that refuses a round, -1 if none does.

    A check whose threshold is 0 had nothing to compare with, so it counts only if there is no other.
    """
    found = -1
    for k in range(len(kept)):
        if not kept[k] and (found < 0 or (thresholds[k] > 0.0 and not thresholds[found] > 0.0)):
            found = k
    return found


@rule
class Check:
    """A measure of a round, and the filter that judges its sizes. Its name is that of the measure.

    Parameters:
        on (Features, Target, Gradient, Range or LossForm): What is measured, in the units of the learner.
        filter: It remembers the size of every round that can be measured.
    """

    on: Measure
    filter: Filter

    def init(self, dim: int) -> Any:
        return self.filter.init(dim)

    def valid(self: Any, state: Any) -> bool:
        return self.filter.valid(state)

    def reset(self: Any, state: Any, dim: int) -> Any:
        return self.filter.reset(state, dim)

    def judge(self, state: Any, y: float, size: float) -> tuple[Any, float, bool]:
        """What the filter decides about a round with this size and target."""
        return self.filter.decide(state, size)

    def ends_epoch(self: Any, state: Any, y: float) -> bool:
        """Whether the filter ended an epoch with a round that had this target."""
        return self.filter.restarts(state)


class LabelMemories(NamedTuple):
    """What the filter of a `LabelCheck` remembers of each label."""

    positive: Any
    negative: Any


@rule
class LabelCheck:
    """A check with a memory for each of the labels -1 and +1.

    In one memory, the mistakes on a label rarer than the share of the filter are taken for outliers. With
    two, the share or number of outliers is counted among the rounds of each label. If all outliers have one
    label, they are a larger share of that label.

    Parameters:
        on, filter: As in `Check`.
    """

    on: Measure
    filter: Filter

    def init(self, dim: int) -> LabelMemories:
        return LabelMemories(self.filter.init(dim), self.filter.init(dim))

    def valid(self: Any, state: LabelMemories) -> bool:
        return self.filter.valid(state.positive) and self.filter.valid(state.negative)

    def reset(self: Any, state: LabelMemories, dim: int) -> LabelMemories:
        return LabelMemories(self.filter.reset(state.positive, dim), self.filter.reset(state.negative, dim))

    def judge(self, state: LabelMemories, y: float, size: float) -> tuple[LabelMemories, float, bool]:
        """As in `Check`, with the memory of the label y."""
        apart = y < 0.0
        own, threshold, kept = self.filter.decide(state.negative if apart else state.positive, size)
        after = LabelMemories(state.positive, own) if apart else LabelMemories(own, state.negative)
        return after, threshold, kept

    def ends_epoch(self: Any, state: LabelMemories, y: float) -> bool:
        """As in `Check`, for the memory of the label y."""
        return self.filter.restarts(state.negative if y < 0.0 else state.positive)


def usual_checks(
    features: Filter = FEATURES,
    target: Filter = TARGET,
    gradient: Filter = GRADIENT,
    by_label: bool = False,
    on: Measure = _GRADIENT,
) -> tuple[Any, ...]:
    """Checks of the features, of the target and of the gradient, or of another measure `on`.

    By default they withstand 10 %, 10 % and 1 % of outliers. `by_label`: the last check has a memory for each
    label.

    >>> [check.on.name() for check in usual_checks()]
    ['features', 'target', 'gradient']
    """
    last = LabelCheck(on, gradient) if by_label else Check(on, gradient)
    return Check(Features(), features), Check(Target(), target), last


class GuardedState(NamedTuple):
    learner: Any
    memories: Each  # the state of each check
    restart: bool  # whether a filter ended an epoch with the last measured round


class Decisions(NamedTuple):
    """What checks have decided about a round."""

    memories: Each
    thresholds: tuple[float, ...]
    keeps: tuple[bool, ...]
    restart: bool
    by_row: bool  # whether a measure of the row alone refused it


@rule
class Guarded:
    """A learner behind checks: of the size of its features, of its target, of its gradient, or of others.

    A huge row that is classified correctly has a gradient near 0, and a huge target can have an ordinary
    gradient. Both would ruin a running scale. Each check measures its size before the round, in the units of
    the learner. Its filter remembers the size of every round; a round is learned from only if all checks keep
    it. A round with a size or a gradient that is not finite is skipped, and no filter remembers it.

    Parameters:
        learner: Such as `Scaled(AdaGrad(Box(-10, 10), rate=0.01))`. Where it does not scale its target, a
            check of the target sees zeros.
        checks (Check or LabelCheck, at least one): In this order, and each with a measure of another name. By
            default those of `usual_checks`.
        norm: Features and gradients are measured in its dual.

    Guarantee: `docs/math.md`, Theorem H, for checks of features and gradients, a learner without running
    scales, `TopK` or `TopShare` filters, and losses with Lipschitz constant L; `bounds.theorem_h` computes
    it. Let A and G be the largest feature and gradient size of an inlier, k1 and k the budgets of the two
    filters and c1 and c their slacks. If at any time at most k1 outliers have features above A, and at most k
    gradients above G, then with m outliers in all the robust regret is at most B + c D G m + c / (c - 1) D G
    k + c1 / (c1 - 1) D L A k1. With a `LabelCheck` the condition on gradients must hold among the rounds of
    each label, with its own G, and the third term is there for each. With scales, in their units. With
    `Quantile` filters there is none.

    >>> import holdfast as hf
    >>> checks = hf.Check(hf.Features(), hf.TopK(20)), hf.LabelCheck(hf.Gradient(), hf.TopShare(0.01))
    >>> guarded = hf.Guarded(hf.Scaled(hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.01)), checks)
    >>> player = hf.Player(guarded, dim=1)
    >>> kept = [player.learn([x % 7], 1.0 if x % 7 > 3 else -1.0, hf.Hinge()).kept for x in range(1000)]
    >>> verdict = player.learn([1e6], 1.0, hf.Hinge())
    >>> verdict.kept, guarded.check_names()[verdict.refused_by], round(verdict.sizes[0])
    (False, 'features', 8)
    """

    learner: Learner
    checks: tuple[Check | LabelCheck, ...] = usual_checks()
    norm: Norm = L2()

    def check(self) -> None:
        if len(self.checks) == 0:
            raise ValueError("a guard needs a check, such as Check(Features(), TopK(20)): got none")
        for one in self.checks:
            if not isinstance(one, Check | LabelCheck):
                raise TypeError(f"checks must be Check(on, filter) or LabelCheck(...): got {one!r}")
        names = [one.on.name() for one in self.checks]  # type: ignore[attr-defined]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"two checks measure {name!r}, so a reason could be either: give one of them a measure "
                    "with another name()"
                )

    def check_names(self: Any) -> tuple[str, ...]:
        return tuple(one.on.name() for one in self.checks)

    def check_dim(self: Any, dim: int) -> None:
        check_hints(self.learner)
        for one in self.checks:
            one.on.check_learner(self.learner)
        skipping = [one for one in self.checks if not one.filter.keeps_all()]
        by_rows = any(one.on.reads_rows() for one in skipping)
        refuse_hidden_rows(self.learner, len(skipping) > 0 and not by_rows)
        self.learner.check_dim(dim)
        self.norm.check_dim(dim)

    def init(self, dim: int) -> GuardedState:
        return GuardedState(self.learner.init(dim), tuple(one.init(dim) for one in self.checks), False)

    def valid(self: Any, state: GuardedState) -> bool:
        return self.learner.valid(state.learner) and self.all_valid(self.checks, state.memories)

    def reset(self: Any, state: GuardedState, dim: int) -> GuardedState:
        memories = self.all_reset(self.checks, state.memories, dim)
        return GuardedState(self.learner.reset(state.learner, dim), memories, False)

    to_lazy, predict, current_weights = Filtered.to_lazy, Filtered.predict, Filtered.current_weights

    def active_learner(self: Any, state: GuardedState) -> Any:
        """The state of the learner for this round: the first one again if an epoch ended with the last one.

        The label of this round is not known yet, so the restart cannot wait for the label whose epoch ended.
        """
        if state.restart:
            return self.learner.reset(state.learner, length(self.learner.predict(state.learner)))
        return state.learner

    def observe(self: Any, state: GuardedState, round: Round) -> tuple[GuardedState, Verdict]:
        learner = self.active_learner(state)
        round = self.learner.in_units(learner, round)
        sizes, readable = self.measured(learner, round)
        if not readable:
            verdict = Verdict(False, -1, self.unreadable(sizes), self.unknown(sizes), -1)
            return GuardedState(learner, state.memories, False), verdict
        decided = self.all_decided(self.checks, state.memories, round.y, sizes)
        refused_by = first_refusal(decided.keeps, decided.thresholds)
        if refused_by < 0:
            learner = self.learner.update(learner, round)
        column = place_of_largest(round.row) if decided.by_row else -1
        verdict = Verdict(refused_by < 0, refused_by, sizes, decided.thresholds, column)
        return GuardedState(learner, decided.memories, decided.restart), verdict

    def judge_again(self: Any, state: GuardedState, round: Round) -> Verdict:
        """The verdict on a round whose sizes the filters remember already. Nothing is changed.

        They are asked for their thresholds with a size of 0, which is never among the largest.
        """
        sizes, readable = self.measured(state.learner, round)
        memories = copy.deepcopy(state.memories)
        thresholds = self.all_decided(self.checks, memories, round.y, (0.0,) * len(sizes)).thresholds
        keeps = [size <= threshold for size, threshold in zip(sizes, thresholds, strict=True)]
        of_row = any(
            not kept and check.on.is_of_row() for kept, check in zip(keeps, self.checks, strict=True)
        )
        column = place_of_largest(round.row) if of_row else -1
        kept, refused_by = readable and all(keeps), first_refusal(keeps, thresholds)
        return Verdict(kept, refused_by, sizes, thresholds, column)

    def measured(self: Any, learner: Any, round: Round) -> tuple[tuple[float, ...], bool]:
        """What each check measures in a round in the units of the learner, and whether it can be learned."""
        norm, row, slope = self.norm.dual(), round.row, round.slope
        size = norm.of(row)
        sizes = self.all_sizes(self.checks, learner, norm, round, size)
        entry, limit = norm.entry_bound(row, size), LONG if self.learner.reads_rows() else math.inf
        finite = size < math.inf and are_finite(sizes) and entry < HUGE and abs(slope) * entry < HUGE
        return sizes, finite and entry + abs(slope) < limit and abs(round.target) < limit

    all_reset, all_valid = Several.all_reset, Several.all_valid

    # As in `Several`, each of these handles the first check and calls itself for the others.

    def all_sizes(
        self, checks: Each, learner: Any, norm: Any, round: Round, size: float
    ) -> tuple[float, ...]:
        """What each check measures; `size` is that of the row."""
        first = float(checks[0].on.size_of(self.learner, learner, norm, round, size))
        if len(checks) == 1:
            return (first,)
        return (first, *self.all_sizes(checks[1:], learner, norm, round, size))

    def unreadable(self, sizes: tuple[float, ...]) -> tuple[float, ...]:
        """The sizes of a round that is not readable: the last one is infinite or NaN."""
        if len(sizes) == 1:
            return (sizes[0] + math.inf,)
        return (sizes[0], *self.unreadable(sizes[1:]))

    def unknown(self, sizes: tuple[float, ...]) -> tuple[float, ...]:
        """As many NaNs."""
        if len(sizes) == 1:
            return (math.nan,)
        return (math.nan, *self.unknown(sizes[1:]))

    def all_decided(self, checks: Each, memories: Each, y: float, sizes: tuple[float, ...]) -> Decisions:
        """The decisions of the checks on a round with these sizes."""
        check = checks[0]
        memory, threshold, kept = check.judge(memories[0], y, sizes[0])
        restart, by_row = check.ends_epoch(memory, y), (not kept) and check.on.is_of_row()
        if len(checks) == 1:
            return Decisions((memory,), (float(threshold),), (bool(kept),), restart, by_row)
        rest = self.all_decided(checks[1:], memories[1:], y, sizes[1:])
        thresholds, keeps = (float(threshold), *rest.thresholds), (bool(kept), *rest.keeps)
        all_memories = (memory, *rest.memories)
        return Decisions(all_memories, thresholds, keeps, restart or rest.restart, by_row or rest.by_row)


def are_finite(sizes: tuple[float, ...]) -> bool:
    """Whether all sizes are below infinity; NaN is not."""
    for k in range(len(sizes)):
        if not sizes[k] < math.inf:
            return False
    return True
