"""Squint: experts, and a step for each that fits it (Koolen and van Erven, 2015; Mhammedi et al., 2019)."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.simplex import Simplex
from holdfast.learners.adahedge import information
from holdfast.learners.metagrad import check_etas, hints_fit, left_out
from holdfast.learners.needs import RANGE, Needs
from holdfast.norms import TINY
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, scale_by, spread, sum_abs


class SquintState(NamedTuple):
    """The weights, and regrets against each expert; all but `past` in units of the first hint."""

    w: np.ndarray
    regrets: np.ndarray  # against each expert
    squares: np.ndarray  # of what each round added to them
    hint: float
    first: float  # hint since the last restart
    past: float  # the most that the rounds before may have cost


@rule
class Squint:
    """w_i proportional to the mean over eta of eta exp(eta R_i - eta² V_i), R_i the regret against expert i.

    V_i sums the squares of what each round added to R_i, so that an expert that is rarely surpassed is
    followed fast, and easy data cost little. The eta are 1 / (2h), 1 / (4h), ... for the first hint h, with
    weights 1 / ((j + 1) (j + 2)); those above half the inverse of a later hint are left out. `Clipped` gives
    the hints. A round costs O(experts * etas).

    Parameters:
        etas: How many. If the range of the losses grows by more than 2^(etas - 1), it starts from scratch.
        domain (Simplex): There is no version of it for other domains.

    Guarantee: Regret against expert i at most min over eta of eta V_i + ln(K / weight of eta) / eta, on the
    rounds learned from; against a mixture u with V and KL in place of the logarithm of K (`docs/math.md`,
    9.10).

    >>> from holdfast.learners import Clipped
    >>> squint = Clipped(Squint())
    >>> state = squint.init(dim=2)
    >>> for losses in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]):
    ...     state = squint.update(state, Round(slope=1.0, x=np.array(losses)))
    >>> squint.predict(state).round(3).tolist()
    [0.404, 0.596]
    """

    etas: int = 30
    domain: Domain = Simplex()

    def check(self) -> None:
        check_etas(self.etas)
        if not isinstance(self.domain, Simplex):
            raise TypeError(f"Squint divides weight among experts, on a Simplex(): got {self.domain!r}")

    def needs(self) -> Needs:
        return Needs("simplex", RANGE, "convex", True)

    def needs_hints(self) -> bool:
        return True

    def gauge(self, slope: float, x: Row) -> float:
        width = spread(x) if slope != 0.0 else 0.0
        return abs(slope) * width if width > TINY else 0.0  # what is divided by less may be no float

    def init(self, dim: int) -> SquintState:
        return SquintState(self.domain.center(dim), np.zeros(dim), np.zeros(dim), 0.0, 0.0, 0.0)

    def valid(self, state: SquintState) -> bool:
        return hints_fit(state.first, state.hint, self.etas)

    def reset(self, state: SquintState, dim: int) -> SquintState:
        assign(state.w, self.domain.center(dim))
        assign(state.regrets, np.zeros(dim))
        assign(state.squares, np.zeros(dim))
        return SquintState(state.w, state.regrets, state.squares, 0.0, 0.0, 0.0)

    def predict(self, state: SquintState) -> Weights:
        return state.w

    def update(self, state: SquintState, round: Round) -> SquintState:
        slope, x = round.slope, round.x
        if not state.hint > 0.0:
            return state
        g = np.zeros(len(state.w))
        add(g, slope / state.first, x)
        g -= g.min()
        g -= dot(state.w, g)
        add(state.regrets, -1.0, g)
        add(state.squares, 1.0, g * g)
        return self.weighed(state)

    def set_hint(self, state: SquintState, hint: float) -> SquintState:
        if not hint > state.hint:
            return state
        first, past = state.first, state.past
        if not hint <= first * 2.0 ** (self.etas - 1):  # no eta is left
            past += first * max(state.regrets.max(), 0.0)
            first = hint
            assign(state.regrets, np.zeros(len(state.w)))
            assign(state.squares, np.zeros(len(state.w)))
        return self.weighed(SquintState(state.w, state.regrets, state.squares, hint, first, past))

    def weighed(self, state: SquintState) -> SquintState:
        """The state with the weights that follow from its sums."""
        w, R, V, most = state.w, state.regrets, state.squares, -math.inf
        first = left_out(state.first, state.hint)
        for i in range(len(w)):
            for j in range(first, self.etas):
                eta = 0.5 / 2.0**j
                most = max(most, eta * (float(R[i]) - eta * float(V[i])))
        for i in range(len(w)):
            s = 0.0
            for j in range(first, self.etas):
                eta = 0.5 / 2.0**j
                weight = eta / ((j + 1.0) * (j + 2.0))
                s += weight * math.exp(eta * (float(R[i]) - eta * float(V[i])) - most)
            w[i] = s
        scale_by(w, 1.0 / sum_abs(w))
        return state

    def bound(self, state: SquintState, u: np.ndarray) -> float:
        R, u = math.inf, np.asarray(u, float)
        for j in range(left_out(state.first, state.hint), self.etas):
            eta = 0.5 / 2.0**j
            R = min(R, eta * dot(u, state.squares) + (information(u) + math.log((j + 1) * (j + 2))) / eta)
        return R * state.first + state.past
