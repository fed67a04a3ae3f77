"""AdaFTRL on a ball: follow the leader, regularised by how wrong it was (Orabona and Pál, 2018)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.ball import Ball
from holdfast.domains.shifted import Shifted
from holdfast.learners.bounded import placed
from holdfast.learners.needs import EUCLIDEAN, Needs
from holdfast.norms import euclidean, gradient_size
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, scale_by

_LIMIT = 1e300


class AdaFTRLState(NamedTuple):
    """The weights, w = -share * (sum of all gradients), and what their regularisation depends on."""

    w: np.ndarray
    share: float  # infinite until there is a gradient
    gap: float  # Δ / R, the sum of the mixability gaps


@rule
class AdaFTRL:
    """w = argmin <w, sum of gradients> + ‖w‖² / (2 eta) over a ball, eta = R² / (2Δ).

    Δ sums what each round lost beyond its share of that minimum, its mixability gap. It grows where w turns
    out to be wrong, and the regularisation with it, so that the leader is followed while that works. Half of
    the regret is Δ and half the regularisation. Sparse rows cost O(nonzeros).

    Parameters:
        domain (Ball): Of radius R. Around anything but 0 it becomes a `Recentered`.

    Guarantee: Regret at most Δ (1 + ‖u‖² / R²) on the rounds learned from, and 2Δ <= sqrt(2) R sqrt(Σ ‖g‖²) +
    4 R max ‖g‖: half the constant of OGD (`docs/math.md`, 9.1).

    >>> adaftrl = AdaFTRL(Ball(1.0))
    >>> state = adaftrl.init(dim=2)
    >>> for g in ([3.0, 0.0], [-1.0, 0.0]):
    ...     state = adaftrl.update(state, Round(slope=1.0, x=np.array(g)))
    ...     print(adaftrl.predict(state).round(3).tolist(), round(state.gap, 3))
    [-0.5, 0.0] 3.0
    [-0.324, 0.0] 3.083
    """

    domain: Domain

    def check(self) -> Any:
        if not isinstance(self.domain, Ball | Shifted):
            raise TypeError(
                f"AdaFTRL has a formula for balls, Ball(radius): got {self.domain!r}; "
                "SoloFTRL takes any domain"
            )
        return placed(self)

    def needs(self) -> Needs:
        return Needs("a ball", EUCLIDEAN, "convex", True)

    def init(self, dim: int) -> AdaFTRLState:
        return AdaFTRLState(self.domain.center(dim), math.inf, 0.0)

    def reset(self, state: AdaFTRLState, dim: int) -> AdaFTRLState:
        assign(state.w, self.domain.center(dim))
        return AdaFTRLState(state.w, math.inf, 0.0)

    def to_lazy(self: Any, state: AdaFTRLState, summed: bool) -> AdaFTRLState:
        return state._replace(w=self.domain.to_lazy(state.w, summed))

    def predict(self, state: AdaFTRLState) -> Weights:
        return state.w

    def update(self, state: AdaFTRLState, round: Round) -> AdaFTRLState:
        domain: Any = self.domain
        slope, x = round.slope, round.x
        size = gradient_size(slope, x)
        if not size > 0.0:
            return state
        R, w, knee = domain.radius, state.w, 2.0 * state.gap
        product, before = slope * dot(w, x) / R, 0.0
        share = min(state.share, R / size, _LIMIT)  # so that neither part of the sum is too large for a float
        if state.share < math.inf:
            before = euclidean(w) / state.share
            scale_by(w, share / state.share)
        add(w, -share * slope, x)
        after = euclidean(w) / share
        gap = state.gap + mixability_gap(product, size, before, after, knee)
        share_now = min(R / min(max(2.0 * gap, after), 1e308), _LIMIT)
        scale_by(w, share_now / share)
        return AdaFTRLState(w, share_now, gap)

    def bound(self: Any, state: AdaFTRLState, u: np.ndarray) -> float:
        ratio = euclidean(u) / self.domain.radius
        return self.domain.radius * state.gap * (1.0 + ratio * ratio)


def mixability_gap(product: float, size: float, before: float, after: float, knee: float) -> float:
    """<w, g> / R + h(after) - h(before), for the lengths of the sum of gradients before and after g.

    R h(n) is what the best point gains on a sum of length n: h is quadratic up to the knee, R / eta, and then
    linear. Where both lengths are on the same side, what cancels has been left out.
    """
    if before <= knee and after <= knee:
        return size * (size / (2.0 * knee))
    if before >= knee and after >= knee and before > 0.0:
        turn, along = size / (after + before), -product / size
        longer = 2.0 * along * (before / (after + before)) + turn  # (after - before) / size
        return max(size * turn * (1.0 - along * longer), 0.0)
    gained = _huber(after, knee) - _huber(before, knee)
    return min(max(product + gained, 0.0), 2.0 * size)


def _huber(n: float, knee: float) -> float:
    return n * (n / (2.0 * knee)) if n < knee else n - 0.5 * knee
