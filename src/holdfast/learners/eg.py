"""Exponentiated gradient, for portfolios (Helmbold, Schapire, Singer and Warmuth, 1998)."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.simplex import Simplex
from holdfast.learners.adahedge import information, mixability_gap, weigh
from holdfast.learners.needs import RANGE, Needs
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign


class EGState(NamedTuple):
    """The weights, and the sums of gradients that they follow from."""

    w: np.ndarray
    behind: np.ndarray  # the gradients so far, less the least entry
    paid: float  # the sum of the mixability gaps


@rule
class LogWealth:
    """-ln z: what a day with price relatives x costs a portfolio w, z = <w, x>, in the growth of its wealth.

    The target is not used. Where z is not positive the loss is infinite, and the round is not learned from.

    >>> LogWealth().value(2.0, 0.0), LogWealth().slope(2.0, 0.0)
    (-0.6931471805599453, -0.5)
    """

    def value(self, z: float, y: float) -> float:
        return -math.log(z) if z > 0.0 else math.inf + 0.0 * z

    def slope(self, z: float, y: float) -> float:
        return -1.0 / z if z > 0.0 else -math.inf + 0.0 * z


@rule
class EG:
    """w_i <- w_i exp(-eta g_i), then divided by their sum.

    For portfolios the loss of a day with price relatives x is -ln<w, x>, `LogWealth`, whose gradient is
    -x / <w, x>. `AdaHedge` learns from the same gradients and needs no eta.

    Parameters:
        rate: eta, the step. Over T days in which gradients have a range up to s, sqrt(8 ln K / T) / s is
            best.
        domain (Simplex): There is no version of it for other domains.

    Guarantee: Regret against u at most KL(u, uniform) / eta + the sum of the mixability gaps on the rounds
    learned from, at most ln K / eta + eta Σ s² / 8, s being the range of a gradient (`docs/math.md`, 9.9).

    >>> eg = EG(rate=0.5)
    >>> state = eg.init(dim=2)
    >>> for x in ([1.0, 2.0], [1.0, 0.5], [1.0, 2.0]):
    ...     x = np.array(x)
    ...     state = eg.update(state, Round(slope=-1.0 / float(eg.predict(state) @ x), x=x))
    >>> eg.predict(state).round(3).tolist()
    [0.422, 0.578]
    """

    rate: float
    domain: Domain = Simplex()

    def check(self) -> None:
        if not 0.0 < self.rate < math.inf:
            raise ValueError(f"rate is a step, so it must be positive: got {self.rate}")
        if not isinstance(self.domain, Simplex):
            raise TypeError(f"EG divides money among assets, on a Simplex(): got {self.domain!r}")

    def needs(self) -> Needs:
        return Needs("simplex", RANGE, "convex", True)

    def init(self, dim: int) -> EGState:
        return EGState(self.domain.center(dim), np.zeros(dim), 0.0)

    def reset(self, state: EGState, dim: int) -> EGState:
        assign(state.w, self.domain.center(dim))
        assign(state.behind, np.zeros(dim))
        return EGState(state.w, state.behind, 0.0)

    def predict(self, state: EGState) -> Weights:
        return state.w

    def update(self, state: EGState, round: Round) -> EGState:
        slope, x = round.slope, round.x
        if slope == 0.0:
            return state
        w, behind, g = state.w, state.behind, np.zeros(len(state.w))
        add(g, slope, x)
        g -= g.min()
        paid = state.paid + mixability_gap(w, behind, g, self.rate)
        add(behind, 1.0, g)
        behind -= behind.min()
        weigh(w, behind, self.rate)
        return EGState(w, behind, paid)

    def bound(self, state: EGState, u: np.ndarray) -> float:
        return information(u) / self.rate + state.paid
