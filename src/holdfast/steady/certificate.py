"""What the rounds so far prove about the default, whichever of them were wrong (`docs/math.md`, 11)."""

__all__ = ["DefaultCertificate", "default_certificate"]

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.filters import Everything, TopK, TopShare
from holdfast.protocols import Filter
from holdfast.steady.epochs import FARTHEST, JUDGED, LOST, UNJUDGED, WIDEST
from holdfast.steady.forecasts import start_unit, target_unit
from holdfast.steady.hedge import COUNTED
from holdfast.steady.residuals import sum_of_largest
from holdfast.steady.state import ROUNDS, SteadyState


@dataclass(frozen=True)
class DefaultCertificate:
    """Two bounds that hold for every set of at most k rounds that are left out.

    A round is *judged* if it had a forecast and the gate let its row through. Sums are in units of the
    target; for labels they are log losses.

    On the judged rounds since the last start, but those left out: the loss of the default exceeds that of its
    fallback by at most `over_fallback`.

    On the judged rounds since units changed last, but those left out: the loss of the fallback exceeds that
    of every linear model of the squashed columns by at most `over_models`, if its weights, in these units,
    are within `radius` of those that the fallback started from.
    """

    k: int
    over_fallback: float
    over_models: float
    radius: float
    rounds: int  # judged ones since the last start
    recent: int  # those of them since units changed last
    others: int  # readable rounds that are not judged: the first ones, and refused rows
    labels: bool

    @property
    def bound(self) -> float:
        """`over_fallback`, the bound for all judged rounds."""
        return self.over_fallback

    def __str__(self) -> str:
        each = self.over_fallback / max(self.rounds, 1), self.over_models / max(self.recent, 1)
        sentences = [
            f"Leave out any {self.k:,} of the {self.rounds:,} rounds that were judged since the last start. "
            f"On the others the losses add up to at most {self.over_fallback:.4g} more than those of the "
            f"fallback ({each[0]:.3g} a round).",
            f"In the {self.recent:,} of them since units changed last, the losses of the fallback add up to "
            f"at most {self.over_models:.4g} more than those of any linear model of the squashed columns "
            f"with weights within {self.radius:g} of those that it started from ({each[1]:.3g} a round).",
            f"{self.others:,} other rounds, the first ones and refused rows, are not part of it.",
        ]
        if self.labels:
            sentences.append("Margins beyond 3 count as 3, but for those of linear models.")
        return " ".join([*sentences, "This assumes nothing about the rounds."])


def default_certificate(player: Any, state: SteadyState, k: int, radius: float = 1.0) -> DefaultCertificate:
    """The certificate of a `Steady` player, for every set of at most k rounds.

    Parameters:
        player (Steady): Its loss must be convex, with slopes that are bounded: there is no theorem for
            `Squared`.
        state: Its state.
        k: How many of the judged rounds may be left out.
        radius: How far the weights of a linear model may be from those that the fallback started from.

    >>> import holdfast as hf
    >>> from holdfast.steady import Steady
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 2))
    >>> y = X @ [1.0, 2.0] + rng.standard_normal(1000)
    >>> record = hf.play(Steady(), hf.Replay(X, y, hf.Absolute()))
    >>> proof = default_certificate(Steady(), record.state[0], k=10, radius=0.5)
    >>> proof.rounds, proof.others, 0.0 < proof.over_fallback < 500.0
    (968, 32, True)
    """
    _require_theorem(player)
    if k < 0:
        raise ValueError(f"k counts rounds that are left out, so it cannot be negative: got {k}")
    if not 0.0 < radius < math.inf:
        raise ValueError(f"radius is a distance of weights, so it must be positive: got {radius}")
    rounds, recent = int(state.hedge.numbers[COUNTED]), int(state.learned.numbers[JUDGED])
    unit = start_unit(player, state)
    over_fallback = unit * player.hedge.certificate(state.hedge, k) if rounds > 0 else 0.0
    over_models = _over_models(player, state, k, radius) if recent > 0 else 0.0
    counts = (rounds, recent, int(state.numbers[ROUNDS]) - rounds)
    return DefaultCertificate(
        int(k), over_fallback, over_models, float(radius), *counts, not player.learner.scales_target()
    )


def _require_theorem(player: Any) -> None:
    slopes, fallback = player.loss.lipschitz(), player.fallback
    if not slopes < math.inf:
        raise ValueError(
            f"there is no theorem for {player.loss!r}: its slopes have no limit, so one wrong round may cost "
            "any amount. Use Absolute() or Huber()"
        )
    if player.weighted:
        raise ValueError("there is no theorem for rounds with weights")
    if not (fallback.steepest >= slopes and fallback.largest >= player.most):
        raise ValueError(
            f"the fallback cuts gradients: it needs steepest >= {slopes:g} and largest >= {player.most:g}, "
            f"got {fallback.steepest:g} and {fallback.largest:g}"
        )


def _over_models(player: Any, state: SteadyState, k: int, radius: float) -> float:
    """Theorem P for the worst linear model, with what was lost by clipping and by waiting for a batch."""
    numbers, fallback = state.learned.numbers, player.fallback
    factor = target_unit(player, state.units)[1]
    pull, around = state.fallback.sums, state.fallback.around
    most = np.clip(around + np.copysign(radius, pull), -fallback.box, fallback.box)
    left_out = min(k, float(numbers[JUDGED])) + float(numbers[UNJUDGED])
    apart = sum_of_largest(state.learned.apart, left_out, float(numbers[FARTHEST]))
    apart += radius * sum_of_largest(state.learned.widths, left_out, float(numbers[WIDEST]))
    regret = fallback.hindsight(state.fallback, most) + player.loss.lipschitz() * apart
    return regret / factor + start_unit(player, state) * float(numbers[LOST])


def left_out_at_most(gate: Filter, rounds: int) -> int | None:
    """How many of so many rounds the setting of a gate allows to be wrong; None if it says nothing.

    For a share it is the mean and three standard deviations.

    >>> left_out_at_most(TopK(5), 1000), left_out_at_most(TopShare(0.1), 1000)
    (5, 130)
    """
    if isinstance(gate, TopK):
        return gate.k
    if isinstance(gate, Everything):
        return 0
    if isinstance(gate, TopShare):
        return math.ceil(gate.share * rounds + 3.0 * math.sqrt(gate.share * rounds))
    return None
