"""Diagonal MetaGrad: one for each weight (van Erven, Koolen and van der Hoeven, 2021)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.learners.metagrad import check_etas, hints_fit, left_out
from holdfast.learners.needs import EACH_WEIGHT, Needs
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import assign, place, values_of

_SUM, _SUM_OF_SQUARES, _PRODUCTS, _CROSS, _SQUARES, _HINT, _FIRST, _LOST, _LEFT, _PAST, _REACH = range(11)
_PLACE, _CURVATURE, _LOG, _PAID = range(4)


class DiagonalMetaGradState(NamedTuple):
    """The numbers of each weight; all but the hints and what was clipped in units of its first hint."""

    w: np.ndarray
    center: np.ndarray
    sums: np.ndarray  # by weight: sums of g and of z = (w - center) g, of g², z² and zg; hints; ...
    each: np.ndarray  # by weight and eta: position, curvature, log weight, and the sum in its bound


@rule
class DiagonalMetaGrad:
    """`MetaGrad` in one dimension for every weight, each in its own interval and with its own hints.

    It needs no `Clipped`: every weight clips its gradients at its largest one before. A round costs
    O(etas dim), sparse rows O(etas nonzeros).

    Parameters:
        domain (Box): Where weights may lie.
        etas: As for `MetaGrad`.

    Guarantee: Regret at most the sum over weights of what `MetaGrad` guarantees in one dimension, and what
    was clipped (`docs/math.md`, 9.12).

    >>> from holdfast.domains import Box
    >>> metagrad = DiagonalMetaGrad(Box(-1.0, 1.0))
    >>> state = metagrad.init(dim=2)
    >>> for g in [1.0] * 20:
    ...     state = metagrad.update(state, Round(slope=g, x=np.array([1.0, 0.0])))
    >>> metagrad.predict(state).round(3)
    array([-0.994,  0.   ])
    """

    domain: Domain
    etas: int = 20

    def check(self) -> None:
        if not (hasattr(self.domain, "low") and hasattr(self.domain, "high")):
            raise TypeError(
                f"DiagonalMetaGrad moves each weight in an interval, Box(low, high): got {self.domain!r}"
            )
        check_etas(self.etas)

    def needs(self) -> Needs:
        return Needs("box", EACH_WEIGHT, "convex", True)

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self, dim: int) -> DiagonalMetaGradState:
        domain: Any = self.domain
        center, sums = domain.center(dim), np.zeros((dim, 11))
        low, high = np.zeros(dim) + domain.low, np.zeros(dim) + domain.high
        sums[:, _REACH] = 0.5 * (high - low)
        state = DiagonalMetaGradState(center.copy(), center, sums, np.zeros((dim, self.etas, 4)))
        return self.reset(state, dim)

    def valid(self, state: DiagonalMetaGradState) -> bool:
        for i in range(len(state.sums)):
            if not hints_fit(float(state.sums[i, _FIRST]), float(state.sums[i, _HINT]), self.etas):
                return False
        return True

    def reset(self, state: DiagonalMetaGradState, dim: int) -> DiagonalMetaGradState:
        assign(state.w, state.center)
        for i in range(dim):
            for k in range(_REACH):
                state.sums[i, k] = 0.0
            self.restart(state.sums[i], state.each[i])
        return state

    def restart(self, sums: np.ndarray, each: np.ndarray) -> None:
        """Forget all of a weight but its hints and what they cost."""
        for k in range(_HINT):
            sums[k] = 0.0
        for j in range(self.etas):
            each[j, _PLACE], each[j, _LOG], each[j, _PAID] = 0.0, 0.0, 0.0
            each[j, _CURVATURE] = 1.0  # in units of the reach

    def predict(self, state: DiagonalMetaGradState) -> Weights:
        return state.w

    def update(self, state: DiagonalMetaGradState, round: Round) -> DiagonalMetaGradState:
        slope, x = round.slope, round.x
        values = values_of(x)
        for j in range(len(values)):
            i, g = place(x, j), float(slope) * float(values[j])
            if 0.0 < abs(g) < math.inf and state.sums[i, _REACH] > 0.0:
                position = self.moved(state.sums[i], state.each[i], g)
                reach = float(state.sums[i, _REACH])
                state.w[i] = float(state.center[i]) + reach * position
        return state

    def moved(self, sums: np.ndarray, each: np.ndarray, g: float) -> float:
        """The position of a weight after a gradient, in units of its reach from the center."""
        hint, position = float(sums[_HINT]), self.mean(sums, each)
        share = hint / abs(g) if abs(g) > hint else 1.0
        if share < 1.0:
            sums[_LOST] += (1.0 - share) * g * position
            sums[_LEFT] += (1.0 - share) * g
        if share > 0.0:
            self.learn(sums, each, share * g / float(sums[_FIRST]), position)
        if abs(g) > hint:
            sums[_HINT] = abs(g)
            if not abs(g) <= float(sums[_FIRST]) * 2.0 ** (self.etas - 1):  # no eta is left
                worst = float(sums[_PRODUCTS]) + abs(float(sums[_SUM]))
                sums[_PAST] += float(sums[_FIRST]) * max(worst, 0.0)
                sums[_FIRST] = abs(g)
                self.restart(sums, each)
        return self.mean(sums, each)

    def learn(self, sums: np.ndarray, each: np.ndarray, g: float, position: float) -> None:
        """Update the weights of every eta in use, after a gradient of one weight."""
        for j in range(left_out(float(sums[_FIRST]), float(sums[_HINT])), self.etas):
            eta, p = 0.25 / 2.0**j, float(each[j, _PLACE])
            y = eta * g * (p - position)
            q, A = eta * (1.0 + 2.0 * y) * g, float(each[j, _CURVATURE]) + 2.0 * (eta * g) * (eta * g)
            each[j, _LOG] -= y + y * y
            each[j, _PAID] += 0.5 * q * q / A
            each[j, _PLACE], each[j, _CURVATURE] = min(max(p - q / A, -1.0), 1.0), A
        z = position * g
        sums[_SUM] += g
        sums[_SUM_OF_SQUARES] += g * g
        sums[_PRODUCTS] += z
        sums[_CROSS] += z * g
        sums[_SQUARES] += z * z

    def mean(self, sums: np.ndarray, each: np.ndarray) -> float:
        """The position of one weight: the mean over all eta in use."""
        first, most, s, p = left_out(float(sums[_FIRST]), float(sums[_HINT])), -math.inf, 0.0, 0.0
        for j in range(first, self.etas):
            most = max(most, float(each[j, _LOG]))
        for j in range(first, self.etas):
            weight = math.exp(float(each[j, _LOG]) - most) / (2.0**j * (j + 1.0) * (j + 2.0))
            s, p = s + weight, p + weight * float(each[j, _PLACE])
        return p / s

    def bound(self, state: DiagonalMetaGradState, u: np.ndarray) -> float:
        return sum(
            self.bound_of(f, each, (v - c) / f[_REACH])
            for f, each, v, c in zip(state.sums, state.each, np.asarray(u, float), state.center, strict=True)
            if f[_REACH] > 0.0
        )

    def bound_of(self, sums: np.ndarray, each: np.ndarray, u: float) -> float:
        """The bound of one weight against u, in units of its reach from the center."""
        f, most = sums.tolist(), math.inf
        V = max(f[_SQUARES] - 2.0 * u * f[_CROSS] + u * u * f[_SUM_OF_SQUARES], 0.0)
        for j in range(left_out(f[_FIRST], f[_HINT]), self.etas):
            needed = math.log((j + 1.0) * (j + 2.0)) + float(each[j, _PAID]) + 0.5 * u * u
            most = min(most, 0.25 / 2.0**j * V + 4.0 * 2.0**j * needed)
        return f[_REACH] * (most * f[_FIRST] + f[_PAST] + f[_LOST] - f[_LEFT] * u)
