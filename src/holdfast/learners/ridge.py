"""Online ridge regression, the best weights so far in every round, and the Vovk-Azoury-Warmuth forecaster."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.cholesky import rotate, solved_above, solved_below
from holdfast.learners.needs import (
    LOSS_FORM,
    Needs,
    check_memory,
    check_positive,
    refuse_bound,
    refuse_domain,
)
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import TINY, ForecastWeights, add, assign, dot, scale_by


class RidgeState(NamedTuple):
    """Rows and targets so far: A = R'R is the sum of xx' and strength I, and w = A⁻¹ (sum of y x)."""

    w: np.ndarray
    root: np.ndarray  # R
    image: np.ndarray  # Rw
    cost: float  # the sum in the regret bound
    rounds: float  # learned from


@rule
class OnlineRidge:
    """w minimises strength ‖w‖² / 2 + ½ Σ (<w, x> - y)² over the rounds learned from.

    Every loss is treated as the squared loss with this slope at the prediction: it is made for `Squared`.
    Row and target are rotated into a triangular factor, so that A is always positive definite. A round
    costs O(dim²). Put `on=LossForm(U)` into the filter: the regret is not a linear one.

    With `memory`, each round multiplies A by 1 - 1 / memory before it adds its own row. The regularisation
    is restored one weight a round, around the current weights. So A stays positive definite if a direction
    no longer occurs in the rows, and the weights keep what they have learned about it.

    Parameters:
        strength: Of the regularisation.
        domain (Everywhere): There is no version of it for other domains.
        memory: The number of rounds after which a round counts about a third (1 / e). None: for ever.

    Guarantee: For squared losses, regret against u at most strength ‖u‖² / 2 + ½ Σ (<w, x> - y)² x'A⁻¹x on
    the rounds learned from, A with the round itself (`docs/math.md`, 9.8). With a memory there is none.

    >>> ridge = OnlineRidge(strength=1.0)
    >>> state = ridge.init(dim=1)
    >>> for y in (4.0, 4.0, 4.0):
    ...     slope = float(ridge.predict(state)[0]) - y  # of the squared loss, where x = 1
    ...     state = ridge.update(state, Round(slope, np.ones(1)))
    >>> ridge.predict(state).round(9)
    array([3.])
    """

    strength: float = 1.0
    domain: Domain = Everywhere()
    memory: float | None = None

    def check(self: Any) -> Any:
        check_positive(self, "strength weighs a regulariser")
        refuse_domain(self, "is for all weights, and clipping would cost its bound")
        return check_memory(self)

    def reads_rows(self) -> bool:
        return True

    def needs(self: Any) -> Needs:
        return Needs("any", LOSS_FORM, "squared", self.memory == math.inf)

    def init(self, dim: int) -> RidgeState:
        root = math.sqrt(self.strength) * np.eye(dim)
        return RidgeState(np.zeros(dim), root, np.zeros(dim), 0.0, 0.0)

    def valid(self, state: RidgeState) -> bool:
        return is_whole(state.rounds) and state.rounds >= 0.0

    def reset(self, state: RidgeState, dim: int) -> RidgeState:
        assign(state.w, np.zeros(dim))
        assign(state.image, np.zeros(dim))
        for k in range(dim):
            assign(state.root[k], np.zeros(dim))
            state.root[k, k] = math.sqrt(self.strength)
        return RidgeState(state.w, state.root, state.image, 0.0, 0.0)

    def predict(self, state: RidgeState) -> Weights:
        return state.w

    def update(self, state: RidgeState, round: Round) -> RidgeState:
        slope, x = round.slope, round.x
        residual = float(slope)
        y = dot(state.w, x) - residual
        forget(state, self.strength, self.memory)
        leverage = rotate_round(state, y, x)
        return with_cost(state, 0.5 * residual * residual * leverage)

    def bound(self, state: RidgeState, u: np.ndarray) -> float:
        refuse_bound(self)
        return 0.5 * self.strength * dot(u, u) + state.cost


def with_cost(state: RidgeState, cost: float) -> RidgeState:
    """The state after a round that adds so much to the regret bound."""
    return RidgeState(state.w, state.root, state.image, state.cost + cost, state.rounds + 1.0)


def rotate_round(state: RidgeState, y: float, x: Row) -> float:
    """Rotate a row and its target into the state, and return x'A⁻¹x, at most 1, for the new A."""
    row = np.zeros(len(state.w))
    add(row, 1.0, x)
    leverage = rotate_from(state, row, y, 0)
    assign(state.w, solved_above(state.root, state.image))
    return leverage


def rotate_from(state: RidgeState, row: np.ndarray, y: float, start: int) -> float:
    """Rotate a row that is 0 before entry `start`, and its target, into factor and image."""
    left, leverage = 1.0, 0.0
    for k in range(start, len(row)):
        c, s = rotate(state.root[k], row, k)
        image = float(state.image[k])
        state.image[k], y = c * image + s * y, c * y - s * image
        leverage, left = leverage + left * s * s, left * c * c
    return leverage


def forget(state: RidgeState, strength: float, memory: Any) -> None:
    """Let all rounds so far count less, and restore the regularisation of the weights whose turn it is.

    Every weight has its turn within `memory` rounds, so that no diagonal entry of A falls below strength / e.
    The restored part has the current weights as its minimum and does not move them.
    """
    if memory == math.inf:
        return
    dim, kept = len(state.w), 1.0 - 1.0 / memory
    for k in range(dim):
        scale_by(state.root[k], math.sqrt(kept))
    scale_by(state.image, math.sqrt(kept))
    turns = math.ceil(dim / memory)
    part = math.sqrt(strength * (1.0 - math.pow(kept, dim / turns)))
    for i in range(turns):
        j = int(state.rounds * turns + i) % dim
        row = np.zeros(dim)
        row[j] = part
        rotate_from(state, row, part * float(state.w[j]), j)
        for k in range(j + 1, dim):  # entries that fade towards 0 would slow down all arithmetic
            if abs(float(state.root[j, k])) < TINY:
                state.root[j, k] = 0.0


@rule
class VAW:
    """Predict x'A⁻¹ (sum of y x so far), where A = strength I + the sum of xx' with this row's already in it.

    That is the prediction of ridge regression, drawn towards 0 where the row is unlike all others. Its
    regret does not depend on its own residuals, only on the targets. All else is as in `OnlineRidge`.

    Parameters:
        strength: Of the regularisation.
        domain (Everywhere): There is no version of it for other domains.
        memory: As for `OnlineRidge`.

    Guarantee: For squared losses, regret against u at most strength ‖u‖² / 2 + ½ Σ y² x'A⁻¹x on the rounds
    learned from, at most strength ‖u‖² / 2 + dim max y² / 2 ln(1 + Σ ‖x‖² / (strength dim)) (`docs/math.md`,
    9.8). With a memory there is none.

    >>> from holdfast.vectors import dot
    >>> vaw, x = VAW(), np.ones(1)
    >>> state = vaw.init(dim=1)
    >>> for y in (4.0, 4.0, 4.0):
    ...     state = vaw.update(state, Round(slope=dot(vaw.predict(state), x) - y, x=x))
    >>> round(dot(vaw.predict(state), x), 9), round(vaw.bound(state, np.array([4.0])), 3)
    (2.4, 16.667)
    """

    strength: float = 1.0
    domain: Domain = Everywhere()
    memory: float | None = None

    check, needs, reads_rows = OnlineRidge.check, OnlineRidge.needs, OnlineRidge.reads_rows
    init, valid, reset, bound = OnlineRidge.init, OnlineRidge.valid, OnlineRidge.reset, OnlineRidge.bound

    def predict(self, state: RidgeState) -> Weights:
        return ForecastWeights(self, state)

    def forecast(self, state: RidgeState, x: Row) -> float:
        """What it predicts for a row."""
        row = np.zeros(len(state.w))
        add(row, 1.0, x)
        z = solved_below(state.root, row)
        return dot(state.w, x) / (1.0 + dot(z, z))

    def blind(self, state: RidgeState) -> Weights:
        """The weights of ridge regression, which do not depend on the row."""
        return state.w

    def update(self, state: RidgeState, round: Round) -> RidgeState:
        slope, x = round.slope, round.x
        y = self.forecast(state, x) - float(slope)
        forget(state, self.strength, self.memory)
        leverage = rotate_round(state, y, x)
        return with_cost(state, 0.5 * y * y * leverage)
