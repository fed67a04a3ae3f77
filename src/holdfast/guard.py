"""The guard: a learner behind filters on its features, its target and its gradient."""

__all__ = ["Guarded"]

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.filters.topshare import TopShare
from holdfast.game import Gradient
from holdfast.learners.needs import check_hints, refuse_hidden_rows
from holdfast.norms import HUGE, L2, LONG
from holdfast.protocols import Filter, Learner, Measure, Norm, Weights
from holdfast.rounds import Round, Verdict
from holdfast.rule import rule
from holdfast.vectors import length, place_of_largest


class GuardedState(NamedTuple):
    """The state of a guarded learner."""

    learner: Any
    features: Any
    target: Any
    gradient: Any
    negative: Any  # the gradient filter of the label -1, if `labels`
    restart: bool  # whether a filter ended an epoch with the last measured round


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
class Guarded:
    """A learner behind three filters: on the size of its features, of its target, and of its gradient.

    A huge row that is classified correctly has a gradient near 0, and a huge target can have an ordinary
    gradient. Both would ruin a running scale. Each size is measured before the round, in the units of the
    learner. Each filter remembers its size of every round; a round is learned from only if all three keep it.
    A round with a size or a gradient that is not finite is skipped, and no filter remembers it.

    Parameters
    ----------
    learner : a learner
        Such as `Scaled(AdaGrad(Box(-10, 10), rate=0.01))`. Where it does not scale its target, the target
        filter sees zeros.
    features, target, gradient : filters
        By default they withstand 10 %, 10 % and 1 % of outliers. A rare gradient often belongs to something
        that is not learned yet, so that share is smaller.
    labels : bool
        Whether targets are labels, -1 and +1. Then each label has its own memory of gradients. Otherwise the
        mistakes on a label rarer than 1 % are taken for outliers. The share or number of outliers that
        `gradient` withstands is then counted among the rounds of each label, not among all rounds. If all
        outliers have one label, they are a larger share of that label.
    norm : a norm
        Features and gradients are measured in its dual.
    on : Gradient, Range or LossForm
        The size for the gradient filter, as in `Filtered`, in the units of the learner.

    Guarantee
    ---------
    `docs/math.md`, Theorem H, for a learner without running scales, `TopK` or `TopShare` filters, and losses
    with Lipschitz constant L; `bounds.theorem_h` computes it. Let A and G be the largest feature and gradient
    size of an inlier, k1 and k the budgets of the two filters and c1 and c their slacks. If at any time at
    most k1 outliers have features above A, and at most k gradients above G, then with m outliers in all the
    robust regret is at most B + c D G m + c / (c - 1) D G k + c1 / (c1 - 1) D L A k1. With labels=True the
    condition on gradients must hold among the rounds of each label, with its own G, and the third term is
    there for each. With scales, in their units. With `Quantile` filters there is none.

    Examples
    --------
    >>> import holdfast as hf
    >>> guarded = hf.Guarded(hf.Scaled(hf.AdaGrad(hf.Box(-10.0, 10.0), rate=0.01)), labels=True)
    >>> player = hf.Player(guarded, dim=1)
    >>> kept = [player.learn([x % 7], 1.0 if x % 7 > 3 else -1.0, hf.Hinge()).kept for x in range(1000)]
    >>> verdict = player.learn([1e6], 1.0, hf.Hinge())
    >>> verdict.kept, guarded.checks()[verdict.refused_by], round(verdict.sizes[0])
    (False, 'features', 8)
    """

    learner: Learner
    features: Filter = TopShare(0.1, slack=4.5)
    target: Filter = TopShare(0.1, slack=4.5)
    gradient: Filter = TopShare(0.01)
    labels: bool = False
    norm: Norm = L2()
    on: Measure = Gradient()

    def checks(self: Any) -> tuple[str, ...]:
        return ("features", "target", self.on.name())

    def check_dim(self: Any, dim: int) -> None:
        check_hints(self.learner)
        self.on.check_learner(self.learner)
        skips_some = not all(one.keeps_all() for one in (self.features, self.target, self.gradient))
        by_rows = (not self.features.keeps_all()) or (self.on.reads_rows() and not self.gradient.keeps_all())
        refuse_hidden_rows(self.learner, skips_some and not by_rows)
        self.learner.check_dim(dim)
        self.norm.check_dim(dim)

    def init(self, dim: int) -> GuardedState:
        memories = (self.features.init(dim), self.target.init(dim), self.gradient.init(dim))
        return GuardedState(self.learner.init(dim), *memories, self.gradient.init(dim), False)

    def valid(self: Any, state: GuardedState) -> bool:
        return (
            self.learner.valid(state.learner)
            and self.features.valid(state.features)
            and self.target.valid(state.target)
            and self.gradient.valid(state.gradient)
            and self.gradient.valid(state.negative)
        )

    def reset(self: Any, state: GuardedState, dim: int) -> GuardedState:
        return GuardedState(
            self.learner.reset(state.learner, dim),
            self.features.reset(state.features, dim),
            self.target.reset(state.target, dim),
            self.gradient.reset(state.gradient, dim),
            self.gradient.reset(state.negative, dim),
            False,
        )

    def to_lazy(self: Any, state: GuardedState, summed: bool) -> GuardedState:
        return state._replace(learner=self.learner.to_lazy(state.learner, summed))

    def predict(self, state: GuardedState) -> Weights:
        return self.learner.predict(self.active_learner(state))

    def current_weights(self, state: GuardedState) -> Weights:
        return self.learner.predict(state.learner)

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
        norm, row, slope = self.norm.dual(), round.row, round.slope
        size, distance = norm.of(row), abs(round.target)
        steepness = self.on.size_of(self.learner, learner, norm, round, size)
        entry, limit = norm.entry_bound(row, size), LONG if self.learner.reads_rows() else math.inf
        finite = size < math.inf and steepness < math.inf and entry < HUGE and abs(slope) * entry < HUGE
        if not (finite and entry + abs(slope) < limit and distance < limit):
            sizes = (size, distance, steepness + math.inf)
            memories = (state.features, state.target, state.gradient, state.negative)
            verdict = Verdict(False, -1, sizes, (math.nan, math.nan, math.nan), -1)
            return GuardedState(learner, *memories, False), verdict
        features, feature_threshold, near = self.features.decide(state.features, size)
        target, target_threshold, likely = self.target.decide(state.target, distance)
        apart = self.labels and round.y < 0.0
        own = state.negative if apart else state.gradient
        own, threshold, gentle = self.gradient.decide(own, steepness)
        gradient, negative = (state.gradient, own) if apart else (own, state.negative)
        kept = near and likely and gentle
        if kept:
            learner = self.learner.update(learner, round)
        thresholds = (feature_threshold, target_threshold, threshold)
        refused_by = first_refusal((near, likely, gentle), thresholds)
        column = -1 if near else place_of_largest(row)
        verdict = Verdict(kept, refused_by, (size, distance, steepness), thresholds, column)
        restart = (
            self.features.restarts(features) or self.target.restarts(target) or self.gradient.restarts(own)
        )
        return GuardedState(learner, features, target, gradient, negative, restart), verdict
