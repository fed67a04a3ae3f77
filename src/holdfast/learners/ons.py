"""The online Newton step, for losses that are curved where they are steep (Hazan, Agarwal and Kale, 2007)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.ball import Ball
from holdfast.domains.shifted import Shifted
from holdfast.learners.bounded import placed
from holdfast.learners.cholesky import nearest, rotate_in, shift, solved_above, solved_below
from holdfast.learners.needs import EUCLIDEAN, Needs, check_positive
from holdfast.norms import TINY, gradient_size
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot

_SMALL = 1e-12  # an epsilon that is this small beside a gradient is raised, so that A can be inverted


class ONSState(NamedTuple):
    w: np.ndarray
    root: np.ndarray  # R with R'R = A
    largest: float  # size so far
    epsilon: float  # A began as epsilon times the identity
    paid: float  # half the sum of g'A⁻¹g


@rule
class ONS:
    """w <- Π(w - A⁻¹g) in the norm of A, which grows by gamma gg', gamma = min(alpha, 1 / (D max ‖g‖)) / 2.

    Made for alpha-exp-concave losses, those for which exp(-alpha f) is concave: regret is then logarithmic.
    It need not know how large gradients are: gamma falls when a larger one comes, which the proof allows, and
    A begins at the size of the first over D. A round costs O(dim²), and O(dim³) where the ball binds.

    Parameters:
        domain (Ball): Of diameter D. Around anything but 0 it becomes a `Recentered`.
        alpha: The losses' exp-concavity: 1 for -ln<w, x>, 1 / M² for `Squared` with residuals up to M.

    Guarantee: For alpha-exp-concave losses, regret at most ½ Σ g'A⁻¹g + epsilon ‖u‖² / 2 on the rounds
    learned from, at most dim max(1 / alpha, D max ‖g‖) ln(1 + Σ gamma ‖g‖² / (dim epsilon)) + D ‖g₁‖ / 8.
    (`docs/math.md`, 9.7)

    >>> ons = ONS(Ball(1.0), alpha=1.0)
    >>> state = ons.init(dim=2)
    >>> for _ in range(3):
    ...     state = ons.update(state, Round(slope=1.0, x=np.array([1.0, 0.0])))
    ...     print(ons.predict(state).round(3).tolist(), round(ons.bound(state, np.array([-1.0, 0.0])), 3))
    [-1.0, 0.0] 0.917
    [-1.0, 0.0] 1.417
    [-1.0, 0.0] 1.817
    """

    domain: Domain
    alpha: float

    def check(self) -> Any:
        if not isinstance(self.domain, Ball | Shifted):
            raise TypeError(f"ONS has a projection for balls, Ball(radius): got {self.domain!r}")
        check_positive(self, "alpha is the losses' curvature")
        return placed(self)

    def needs(self) -> Needs:
        return Needs("a ball", EUCLIDEAN, "exp-concave", True)

    def init(self, dim: int) -> ONSState:
        return ONSState(np.zeros(dim), np.zeros((dim, dim)), 0.0, 0.0, 0.0)

    def reset(self, state: ONSState, dim: int) -> ONSState:
        assign(state.w, np.zeros(dim))
        for k in range(dim):
            assign(state.root[k], np.zeros(dim))
        return ONSState(state.w, state.root, 0.0, 0.0, 0.0)

    def predict(self, state: ONSState) -> Weights:
        return state.w

    def update(self, state: ONSState, round: Round) -> ONSState:
        domain: Any = self.domain
        slope, x = round.slope, round.x
        size = gradient_size(slope, x)
        if not size > TINY:
            return state
        w, R, D = state.w, state.root, 2.0 * domain.radius
        epsilon, paid = state.epsilon, state.paid
        if epsilon < _SMALL * (size / D) or epsilon == 0.0:
            more = size / D if epsilon == 0.0 else 100.0 * _SMALL * (size / D)
            paid += 0.5 * more * D * D if epsilon > 0.0 else 0.0
            epsilon += more
            shift(R, more)
        most = max(state.largest, size)
        gamma = 0.5 * min(self.alpha, 1.0 / D / most)
        g = np.zeros(len(w))
        add(g, slope, x)
        rotate_in(R, math.sqrt(gamma) * g)
        z = solved_below(R, g)
        add(w, -1.0, solved_above(R, z))
        assign(w, nearest(R, w, domain.radius))
        return ONSState(domain.project(w), R, most, epsilon, paid + 0.5 * dot(z, z))

    def bound(self, state: ONSState, u: np.ndarray) -> float:
        return state.paid + 0.5 * state.epsilon * dot(u, u)
