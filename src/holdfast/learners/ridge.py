"""Online ridge regression: the best weights so far, in every round."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.cholesky import rotate, solved_above
from holdfast.learners.needs import LOSS_FORM, Needs
from holdfast.protocols import Domain
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot


class RidgeState(NamedTuple):
    """Rows and targets so far: A = R'R is the sum of xx' and strength I, and w = A⁻¹ (sum of y x)."""

    w: np.ndarray
    root: np.ndarray  # R
    image: np.ndarray  # Rw
    paid: float  # what the rounds cost in the proof

    def charged(self, cost):
        return RidgeState(self.w, self.root, self.image, self.paid + cost)


@rule
class OnlineRidge:
    """w minimises strength ‖w‖² / 2 + ½ Σ (<w, x> - y)² over the rounds learned from.

    Every loss is taken for the squared loss that has this slope where the prediction is: `Squared` is meant.
    Row and target are rotated into a triangular factor, so that A stays positive definite for ever. A round
    costs O(dim²). Put `on=LossForm(U)` into the filter: the regret is not a linear one.

    Parameters
    ----------
    strength : float
        Of the regularisation.
    domain : Everywhere
        The only one it has.

    Guarantee
    ---------
    For squared losses, regret against u at most strength ‖u‖² / 2 + ½ Σ (<w, x> - y)² x'A⁻¹x on the rounds
    learned from, A with the round itself (`docs/math.md`, 9.8).

    Examples
    --------
    >>> ridge = OnlineRidge(strength=1.0)
    >>> state = ridge.init(dim=1)
    >>> for y in (4.0, 4.0, 4.0):
    ...     slope = float(ridge.predict(state)[0]) - y  # of the squared loss, where x = 1
    ...     state = ridge.update(state, slope, x=np.ones(1))
    >>> ridge.predict(state).round(9)
    array([3.])
    """

    strength: float = 1.0
    domain: Domain = Everywhere()

    def check(self):
        check_ridge(self)

    def reads_rows(self):
        return True

    def needs(self):
        return Needs("any", LOSS_FORM, "squared", True)

    def init(self, dim):
        return first(self.strength, dim)

    def reset(self, state, dim):
        return begun_anew(self.strength, state)

    def predict(self, state):
        return state.w

    def update(self, state, slope, x):
        residual = float(slope)
        leverage = absorbed(state, dot(state.w, x) - residual, x)
        return state.charged(0.5 * residual * residual * leverage)

    def bound(self, state, u):
        return 0.5 * self.strength * dot(u, u) + state.paid


def check_ridge(rule):
    name = type(rule).__name__
    if not 0.0 < rule.strength < math.inf:
        raise ValueError(f"strength weighs a regulariser, so it must be positive: got {rule.strength}")
    if rule.domain.bounded():
        raise TypeError(f"{name} lives everywhere, and clipping it would cost its bound: got {rule.domain!r}")


def first(strength, dim):
    return RidgeState(np.zeros(dim), math.sqrt(strength) * np.eye(dim), np.zeros(dim), 0.0)


def begun_anew(strength, state):
    dim = len(state.w)
    assign(state.w, np.zeros(dim))
    assign(state.image, np.zeros(dim))
    for k in range(dim):
        assign(state.root[k], np.zeros(dim))
        state.root[k, k] = math.sqrt(strength)
    return RidgeState(state.w, state.root, state.image, 0.0)


def absorbed(state, y, x):
    """Rotate a row and its target into the state, and return x'A⁻¹x, at most 1, for the A that has it."""
    row, left, leverage = np.zeros(len(state.w)), 1.0, 0.0
    add(row, 1.0, x)
    for k in range(len(row)):
        c, s = rotate(state.root[k], row, k)
        image = float(state.image[k])
        state.image[k], y = c * image + s * y, c * y - s * image
        leverage, left = leverage + left * s * s, left * c * c
    assign(state.w, solved_above(state.root, state.image))
    return leverage
