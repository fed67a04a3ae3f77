"""Several learners at once: play a weighted mean of their predictions."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.adahedge import AdaHedge, after_losses, step
from holdfast.learners.needs import ANY, FEATURES, Each, Needs, Several, check_hints
from holdfast.losses import Linear, Squared
from holdfast.norms import HUGE, LONG, euclidean
from holdfast.protocols import Learner, Loss, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import ForecastWeights, add, assign, dot, length, prediction_of, spread, target_for

_HEDGE = AdaHedge()
_UNPROVED = Needs("any", ANY, "any", False)


class MixtureState(NamedTuple):
    inner: Each  # the states of the learners
    experts: Any  # the state of AdaHedge: a weight for each learner
    losses: np.ndarray  # to collect the losses of the learners in a round
    shared: float  # the sum of ln(1 / (1 - share)) / eta, as in the proof


@rule
class Mixture:
    """Play sum_k p_k z_k, where z_k is the prediction of learner k, and p follows their losses.

    p is AdaHedge's, and after each round a `share` of it is divided equally among all learners. So a learner
    that was bad for long has its weight back soon after it becomes good. All learners see the same rounds.
    Each is updated with the slope of `loss` at its own prediction and judged by that loss, as if it played
    alone. Learners that scale the target themselves (`Scaled(..., target=True)`) are compared in the units of
    the target. A filter measures rows and targets as the first learner sees them.

    Parameters:
        learners: Such as `(OnlineRidge(), AdaGrad(Box(-10, 10)))`.
        loss: `Linear()` is for games that reveal gradients only: the slope of the round is the slope for all
            learners, and learner k loses slope * z_k. Any other loss needs a game with targets, and should be
            the loss of the game. `OnlineRidge` and `VAW` need `Squared()`. `RobustRidge` reads the target
            itself and goes with any loss.
        share: 0 for streams without changes: then p is that of AdaHedge.

    Guarantee: For convex losses, on the rounds learned from and for every learner k, the mixture's losses
    exceed those of k by at most `mixing_bound(state)` = 2Δ + Σ ln(1 / (1 - share)) / eta. Δ is the sum of
    AdaHedge's mixability gaps; without sharing this is at most sqrt(ln K Σ s²) + 2 max s, s the range of the
    learners' losses in a round. `mixing_bound(state, m)` holds for the best sequence of learners with m
    changes. `bound` adds the smallest proved bound of a learner on its regret against u, in games that have
    what that learner needs, for u in the domains of all learners; it is infinity if no learner has one. With
    `Linear()` all these regrets are linearised ones (`docs/math.md`, 10).

    >>> import holdfast as hf
    >>> mixture = Mixture((hf.OGD(hf.Ball(1.0)), hf.learners.Fixed([2.0])), hf.Absolute())
    >>> state = mixture.init(dim=1)
    >>> for _ in range(20):
    ...     state = mixture.update(state, Round(-1.0, np.ones(1), 2.0))
    >>> state.experts.w.round(3)
    array([0.001, 0.999])
    """

    learners: tuple[Learner, ...]
    loss: Loss = Linear()
    share: float = 0.001

    def check(self: Any) -> None:
        if len(self.learners) == 0:
            raise ValueError("a mixture needs at least one learner: got none")
        if not 0.0 <= self.share < 1.0:
            raise ValueError(f"share is a part of the weight: expected 0 <= share < 1, got {self.share}")
        for learner in self.learners:
            needs = learner.needs()
            if needs is not None and needs.losses == "squared" and self.loss != Squared():
                name = type(learner).__name__
                raise TypeError(
                    f"{name} learns from squared losses, and this mixture has {self.loss!r}: "
                    f"use loss=Squared(), or RobustRidge(...) in place of {name}(...)"
                )

    def reads_rows(self: Any) -> bool:
        return self.loss.needs_target() or self.one_reads_rows(self.learners)

    def needs(self: Any) -> Needs | None:
        """Those of all learners: the first word where they differ, but `FEATURES` if one needs it."""
        every = [learner.needs() for learner in self.learners]
        if None in every:
            return None
        size = FEATURES if any(needs.size == FEATURES for needs in every) else every[0].size
        return Needs(every[0].domain, size, "convex", all(needs.proved for needs in every))

    def check_dim(self: Any, dim: int) -> None:
        for learner in self.learners:
            check_hints(learner)
            learner.check_dim(dim)

    def init(self, dim: int) -> MixtureState:
        count = len(self.learners)
        inner = tuple([learner.init(dim) for learner in self.learners])
        return MixtureState(inner, _HEDGE.init(count), np.zeros(count), 0.0)

    def valid(self, state: MixtureState) -> bool:
        return self.all_valid(self.learners, state.inner)

    def reset(self, state: MixtureState, dim: int) -> MixtureState:
        inner = self.all_reset(self.learners, state.inner, dim)
        assign(state.losses, np.zeros(len(state.losses)))
        return MixtureState(inner, _HEDGE.reset(state.experts, len(state.losses)), state.losses, 0.0)

    def to_lazy(self: Any, state: MixtureState, summed: bool) -> MixtureState:
        pairs = zip(self.learners, state.inner, strict=True)
        return state._replace(inner=tuple(learner.to_lazy(inner, False) for learner, inner in pairs))

    def in_units(self: Any, state: MixtureState, round: Round) -> Round:
        first = self.learners[0].in_units(state.inner[0], round)
        if self.loss.needs_target():
            target = target_for(self.learners[0].predict(state.inner[0]), round.y)
            return Round(round.slope, round.x, round.y, first.row, target)
        return first

    def predict(self, state: MixtureState) -> Weights:
        return ForecastWeights(self, state)

    def forecast(self, state: MixtureState, x: Row) -> float:
        """The prediction for a row."""
        return self.mean_prediction(self.learners, state.inner, state.experts.w, x, 0)

    def blind(self, state: MixtureState) -> Weights:
        """The mean of the weights of all learners."""
        w = np.zeros(length(self.learners[0].predict(state.inner[0])))
        self.add_weights(self.learners, state.inner, state.experts.w, w, 0)
        return w

    def update(self, state: MixtureState, round: Round) -> MixtureState:
        loss: Any = self.loss
        y = round.y if loss.needs_target() else float(round.slope)
        inner = self.all_updated(self.learners, state.inner, y, round, state.losses, 0)
        if len(state.losses) == 1 or not spread(state.losses) < HUGE:
            return MixtureState(inner, state.experts, state.losses, state.shared)
        experts = after_losses(state.experts, state.losses)
        shared = state.shared
        if self.share > 0.0:
            eta = step(experts.gap, math.log(len(experts.w)))
            divide_equally(experts.w, experts.behind, self.share, eta)
            shared -= math.log1p(-self.share) / eta
        return MixtureState(inner, experts, state.losses, shared)

    def mixing_bound(self, state: MixtureState, changes: int = 0) -> float:
        """How much more than the best sequence of learners with so many changes the mixture can lose."""
        gap, count = state.experts.gap, len(self.learners)
        if changes == 0 or count == 1:
            return 2.0 * gap + state.shared
        if self.share == 0.0:
            return math.inf
        return (2.0 + changes * (1.0 - math.log(self.share) / math.log(count))) * gap + state.shared

    def bound(self: Any, state: MixtureState, u: np.ndarray) -> float:
        pairs = zip(self.learners, state.inner, strict=True)
        proved = [each.bound(inner, u) for each, inner in pairs if (each.needs() or _UNPROVED).proved]
        return self.mixing_bound(state) + min(proved, default=math.inf)

    all_reset, all_valid = Several.all_reset, Several.all_valid

    # As in `Several`, each of these handles the first learner and calls itself for the others.

    def mean_prediction(self, learners: Each, states: Each, p: np.ndarray, x: Row, k: int) -> float:
        """The weighted mean of the predictions of these learners."""
        w = learners[0].predict(states[0])
        z = p[k] * prediction_of(w, dot(w, x))
        if len(learners) == 1:
            return z
        return z + self.mean_prediction(learners[1:], states[1:], p, x, k + 1)

    def add_weights(self, learners: Each, states: Each, p: np.ndarray, w: np.ndarray, k: int) -> None:
        """Add the weights of these learners, times p, to w."""
        add(w, p[k], learners[0].predict(states[0]))
        if len(learners) > 1:
            self.add_weights(learners[1:], states[1:], p, w, k + 1)

    def all_updated(
        self: Any, learners: Each, states: Each, y: float, round: Round, losses: np.ndarray, k: int
    ) -> Each:
        """The states after a round, in the units of the first. Writes the loss of each into `losses`."""
        learner, state = learners[0], states[0]
        w = learner.predict(state)
        z = dot(w, round.x)
        target = target_for(w, y) if self.loss.needs_target() else y
        slope, loss = float(self.loss.slope(z, target)), self.loss.value(prediction_of(w, z), y)
        if abs(slope) < math.inf and (not learner.reads_rows() or euclidean(round.row) + abs(slope) < LONG):
            state = learner.update(state, Round(slope, round.x, round.y, round.row, round.target))
        losses[k] = loss  # written last, so that a learner that computes z again reads no changed memory
        if len(learners) == 1:
            return (state,)
        round = learners[1].in_units(states[1], round)
        return (state, *self.all_updated(learners[1:], states[1:], y, round, losses, k + 1))

    def one_reads_rows(self, learners: Each) -> bool:
        """Whether one of them reads rows."""
        if len(learners) == 1:
            return learners[0].reads_rows()
        return learners[0].reads_rows() or self.one_reads_rows(learners[1:])


def divide_equally(w: np.ndarray, behind: np.ndarray, share: float, eta: float) -> None:
    """Divide a share of the weight equally, and set `behind` to the losses with these weights at rate eta."""
    for i in range(len(w)):
        w[i] = (1.0 - share) * float(w[i]) + share / len(w)
    most = float(w.max())
    for i in range(len(w)):
        behind[i] = math.log(most / float(w[i])) / eta
