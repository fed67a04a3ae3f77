"""MetaGrad: many online Newton steps, and the one that fits (van Erven, Koolen and van der Hoeven, 2021)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.ball import Ball
from holdfast.domains.shifted import Shifted
from holdfast.learners.bounded import placed
from holdfast.learners.cholesky import nearest, rotate_in, solved_above, solved_below
from holdfast.learners.needs import EUCLIDEAN, Needs
from holdfast.norms import euclidean, gradient_size
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, scale_by


class MetaGradState(NamedTuple):
    """All online Newton steps, in units of the first hint; row j of an array is for the j-th eta."""

    w: np.ndarray
    each: np.ndarray  # the weights of each
    roots: np.ndarray  # of A, a factor each
    logs: np.ndarray  # less the surrogate losses of each
    paid: np.ndarray  # half the sum of q'A⁻¹q, q the gradients of these
    total: np.ndarray  # of the gradients, and then of <w, g> g and gg', in rows: what V needs
    hint: float
    first: float  # hint since the last restart
    products: float  # the sum of <w, g>
    squares: float  # of those
    past: float  # the most that the rounds before may have cost


@rule
class MetaGrad:
    """A mean of online Newton steps on surrogates eta <w_j - w, g> + (eta <w_j - w, g>)², one an eta.

    Weighted by eta_j exp(-surrogate losses) / ((j + 1) (j + 2)). Where the gradients are curved or stochastic
    the best eta is large, in the worst case small; it need not be known: the regret against u is about
    sqrt(V ln T), V the sum of <w - u, g>². The eta are 1 / (2Dh), 1 / (4Dh), ... for the first hint h, and
    those above half the inverse of D times a later hint are left out. `Clipped` gives the hints. A round
    costs O(etas dim²), and O(etas dim³) where the ball binds.

    Parameters:
        domain (Ball): Of diameter D. Around anything but 0 it becomes a `Recentered`.
        etas: How many. If gradients grow by more than 2^(etas - 1), it starts from scratch.

    Guarantee: Regret against u at most min over eta of eta V + (ln(1 / weight of eta) + ½ Σ q'A⁻¹q + 2 ‖u‖² /
    D²) / eta on the rounds learned from, where q are the gradients of the surrogates and A their curvatures'
    sum. (`docs/math.md`, 9.12)

    >>> from holdfast.learners import Clipped
    >>> metagrad = Clipped(MetaGrad(Ball(1.0)))
    >>> state = metagrad.init(dim=1)
    >>> for g in [1.0] * 20:
    ...     state = metagrad.update(state, Round(slope=g, x=np.ones(1)))
    >>> metagrad.predict(state).round(3)
    array([-0.994])
    """

    domain: Domain
    etas: int = 20

    def check(self) -> Any:
        if not isinstance(self.domain, Ball | Shifted):
            raise TypeError(
                f"MetaGrad has a projection for balls, Ball(radius): got {self.domain!r}; "
                "DiagonalMetaGrad takes a box"
            )
        check_etas(self.etas)
        return placed(self)

    def needs(self) -> Needs:
        return Needs("a ball", EUCLIDEAN, "convex", True)

    def needs_hints(self) -> bool:
        return True

    def gauge(self, slope: float, x: Row) -> float:
        return gradient_size(slope, x)

    def init(self, dim: int) -> MetaGradState:
        domain: Any = self.domain
        roots = np.zeros((self.etas, dim, dim))
        for j in range(self.etas):
            roots[j] = np.eye(dim) / domain.radius
        each, sums = np.zeros((self.etas, dim)), np.zeros((dim + 2, dim))
        logs, paid = np.zeros(self.etas), np.zeros(self.etas)
        return MetaGradState(np.zeros(dim), each, roots, logs, paid, sums, 0.0, 0.0, 0.0, 0.0, 0.0)

    def valid(self, state: MetaGradState) -> bool:
        return hints_fit(state.first, state.hint, self.etas)

    def reset(self, state: MetaGradState, dim: int) -> MetaGradState:
        return self.restart(state, 0.0, 0.0)

    def restart(self, state: MetaGradState, hint: float, past: float) -> MetaGradState:
        """The first state, with this hint and this cost of the rounds before."""
        domain: Any = self.domain
        dim = len(state.w)
        zeros = np.zeros(dim)
        assign(state.w, zeros)
        for row in range(dim + 2):
            assign(state.total[row], zeros)
        for j in range(self.etas):
            assign(state.each[j], zeros)
            for k in range(dim):
                assign(state.roots[j, k], zeros)
                state.roots[j, k, k] = 1.0 / domain.radius
            state.logs[j], state.paid[j] = 0.0, 0.0
        arrays = (state.w, state.each, state.roots, state.logs, state.paid, state.total)
        return MetaGradState(*arrays, hint, hint, 0.0, 0.0, past)

    def predict(self, state: MetaGradState) -> Weights:
        return state.w

    def pace(self: Any, j: int) -> float:
        """The j-th eta."""
        return 0.25 / self.domain.radius / 2.0**j

    def update(self, state: MetaGradState, round: Round) -> MetaGradState:
        domain: Any = self.domain
        slope, x = round.slope, round.x
        if not state.hint > 0.0:
            return state
        g = np.zeros(len(state.w))
        add(g, slope / state.first, x)
        product = dot(state.w, g)
        for j in range(left_out(state.first, state.hint), self.etas):
            eta, w, R = self.pace(j), state.each[j], state.roots[j]
            y = eta * (dot(w, g) - product)
            state.logs[j] -= y + y * y
            rotate_in(R, math.sqrt(2.0) * eta * g)
            z = solved_below(R, eta * (1.0 + 2.0 * y) * g)
            state.paid[j] += 0.5 * dot(z, z)
            add(w, -1.0, solved_above(R, z))
            assign(w, domain.project(nearest(R, w.copy(), domain.radius)))
        add(state.total[0], 1.0, g)
        add(state.total[1], product, g)
        for k in range(len(g)):
            add(state.total[2 + k], float(g[k]), g)
        return self.mixed(state, state.hint, state.products + product, state.squares + product * product)

    def set_hint(self, state: MetaGradState, hint: float) -> MetaGradState:
        if not hint > state.hint:
            return state
        if not hint <= state.first * 2.0 ** (self.etas - 1):  # no eta is left
            worst = state.products + self.domain.support(state.total[0])
            return self.restart(state, hint, state.past + state.first * max(worst, 0.0))
        return self.mixed(state, hint, state.products, state.squares)

    def mixed(self, state: MetaGradState, hint: float, products: float, squares: float) -> MetaGradState:
        """The state with the mean of the weights of all steps, this hint and these sums."""
        w, first, most, s = state.w, left_out(state.first, hint), -math.inf, 0.0
        assign(w, np.zeros(len(w)))
        for j in range(first, self.etas):
            most = max(most, float(state.logs[j]))
        for j in range(first, self.etas):
            weight = math.exp(float(state.logs[j]) - most) / (2.0**j * (j + 1.0) * (j + 2.0))
            add(w, weight, state.each[j])
            s += weight
        scale_by(w, 1.0 / s)
        arrays = (self.domain.project(w), state.each, state.roots, state.logs, state.paid, state.total)
        return MetaGradState(*arrays, hint, state.first, products, squares, state.past)

    def bound(self, state: MetaGradState, u: np.ndarray) -> float:
        domain: Any = self.domain
        u, far, most = np.asarray(u, float), euclidean(u) / domain.radius, math.inf
        V = max(state.squares + u @ (state.total[2:] @ u - 2.0 * state.total[1]), 0.0)
        for j in range(left_out(state.first, state.hint), self.etas):
            needed = math.log((j + 1.0) * (j + 2.0)) + float(state.paid[j]) + 0.5 * far * far
            most = min(most, self.pace(j) * V + needed / self.pace(j))
        return most * state.first + state.past


def check_etas(etas: int) -> None:
    if not 1 <= etas <= 1000:
        raise ValueError(f"etas counts steps, from 1 to 1000: got {etas}")


def hints_fit(first: float, hint: float, etas: int) -> bool:
    """Whether one of so many eta is left for the hint; both are 0 before there is one."""
    return 0.0 <= first <= hint < math.inf and hint <= first * 2.0 ** (etas - 1)


def left_out(first: float, hint: float) -> int:
    """How many of the largest eta would be too large for the hint."""
    j = 0
    while first * 2.0**j < hint:
        j += 1
    return j
