"""Ridge regression in which a round counts less, the larger its residual is (Duran-Martin et al., 2024)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.covariance import (
    Covariance,
    forget,
    independent,
    learn,
    set_independent,
    shrink,
    variance_of,
    variance_of_weight,
)
from holdfast.learners.needs import LOSS_FORM, Needs, check_memory, check_positive, refuse_domain
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import assign, dot, largest

# -- how much a round counts: `weight(r)`, where r is its residual over the limit. The limit is in units of
# the mean absolute residual, which is 0.8 standard deviations of normal residuals


def check_limit(self: Any) -> None:
    check_positive(self, "limit counts mean residuals")


@rule
class Redescending:
    """1 up to the limit, then r⁻²: a residual far beyond it moves the weights less than one at the limit.

    >>> Redescending().weight(0.5), Redescending().weight(10.0)
    (1.0, 0.01)
    """

    limit: float = 3.0

    check = check_limit

    def weight(self, r: float) -> float:
        """The weight of a round whose residual is r times the limit."""
        return 1.0 / (r * r) if r > 1.0 else 1.0


@rule
class HuberWeights:
    """1 up to the limit, then r⁻¹, as the Huber loss has it: all residuals beyond it have the same influence.

    >>> HuberWeights().weight(0.5), HuberWeights().weight(10.0)
    (1.0, 0.1)
    """

    limit: float = 1.5

    check = check_limit

    def weight(self, r: float) -> float:
        """The weight of a round whose residual is r times the limit."""
        return 1.0 / r if r > 1.0 else 1.0


@rule
class InverseMultiquadric:
    """1 / (1 + r²), a smooth curve: the weights of WoLF (Duran-Martin et al., 2024).

    >>> InverseMultiquadric().weight(1.0), round(InverseMultiquadric().weight(10.0), 4)
    (0.5, 0.0099)
    """

    limit: float = 4.0

    check = check_limit

    def weight(self, r: float) -> float:
        """The weight of a round whose residual is r times the limit."""
        return 1.0 / (1.0 + r * r)


RATE = 0.01  # of the running means of residuals and of the farthest cells, after the first 100 rounds
_NEAR = 4.0  # a residual counts up to so many mean residuals in that mean, a cell up to so many means
USUAL = 1.5  # a farthest cell up to so many times its mean does not lower the limit
_LEAST = 1e-9  # no mean falls below
_LOOSE = 4.0  # a variance that is so many times the first is set back to the first


class RobustRidgeState(NamedTuple):
    w: np.ndarray
    covariance: Covariance
    residual: float  # a fading mean of absolute residuals
    cell: float  # a fading mean of the largest absolute entry of a row
    rounds: float


@rule
class RobustRidge:
    """Recursive least squares in which a round counts less, the larger its residual and the farther its row.

    A residual is measured in units of a fading mean of absolute residuals. Up to a limit a round counts 1;
    beyond, `weights` says how much. A row whose farthest cell is m times what is usual lowers the limit by
    m², because a far row moves the weights more. So single outliers in rows or targets hardly move the
    weights, whatever loss is played: the learner reads the target itself. A game without targets is treated
    as one of squared losses, and the target is computed from the slope.

    The covariance is kept as a square root (Potter's form), so that it is never negative in any direction. If
    the learner forgets, a variance that grows beyond 4 / strength is set back to 1 / strength, which leaves
    the weights as they are. A round costs O(dim²).

    Use it inside `Scaled(..., target=True)`: both means start at 1, and take some hundred rounds to reach
    other units.

    Parameters:
        strength: Of the regularisation: the covariance starts as the identity divided by it.
        memory: The number of rounds after which a round counts about a third (1 / e). None: for ever.
        weights (Redescending, HuberWeights or InverseMultiquadric): How much a round counts, by its residual.
        domain (Everywhere): There is no version of it for other domains.

    Guarantee: none. The weights follow "Outlier-robust Kalman filtering through generalised Bayes" (WoLF;
    Duran-Martin et al., 2024), whose bound on the influence of one outlier is not a bound on regret.

    >>> ridge = RobustRidge()
    >>> state = ridge.init(dim=1)
    >>> for t in range(1000):
    ...     y = 1e9 if t % 10 == 9 else 2.0 + 0.1 * (-1) ** t
    ...     state = ridge.update(state, Round(slope=0.0, x=np.ones(1), y=y))
    >>> ridge.predict(state).round(2)
    array([2.01])
    """

    strength: float = 0.1
    memory: float | None = None
    weights: Any = Redescending()
    domain: Domain = Everywhere()

    def check(self) -> Any:
        check_positive(self, "strength weighs a regulariser", 1e-100, 1e100)
        refuse_domain(self)
        return check_memory(self)

    def reads_rows(self) -> bool:
        return True

    def needs(self) -> Needs:
        return Needs("any", LOSS_FORM, "any", False)

    def init(self, dim: int) -> RobustRidgeState:
        covariance = independent(dim, 1.0 / self.strength)
        return RobustRidgeState(np.zeros(dim), covariance, 1.0, 1.0, 0.0)

    def valid(self, state: RobustRidgeState) -> bool:
        return is_whole(state.rounds) and state.rounds >= 0.0

    def reset(self, state: RobustRidgeState, dim: int) -> RobustRidgeState:
        assign(state.w, np.zeros(dim))
        covariance = set_independent(state.covariance, 1.0 / self.strength)
        return RobustRidgeState(state.w, covariance, 1.0, 1.0, 0.0)

    def predict(self, state: RobustRidgeState) -> Weights:
        return state.w

    def update(self, state: RobustRidgeState, round: Round) -> RobustRidgeState:
        slope, x, y = round.slope, round.x, round.y
        w, covariance, residual, cell, rounds = state
        error = y - dot(w, x) if y == y else -float(slope)
        far = largest(x)
        if not (0.0 < far < math.inf and abs(error) < math.inf):
            return state
        excess = max(far / (USUAL * cell), 1.0)
        weight = self.weights.weight(abs(error) / (self.weights.limit * residual) * excess * excess)
        rounds += 1.0
        rate = max(1.0 / rounds, RATE)
        residual, cell = moved(residual, rate, abs(error)), moved(cell, rate, far)
        if weight > 0.0:
            learn(w, covariance, variance_of(covariance, x), 1.0 / weight, error)
        memory: Any = self.memory
        if memory < math.inf:
            covariance = forget(covariance, memory)
            set_back(covariance, self.strength, memory, rounds)
        return RobustRidgeState(w, covariance, residual, cell, rounds)


def moved(mean: float, rate: float, size: float) -> float:
    """A fading mean after one more size, which counts up to four times the mean."""
    return max(mean + rate * (min(size, _NEAR * mean) - mean), _LEAST)


def set_back(covariance: Covariance, strength: float, memory: float, rounds: float) -> None:
    """Set the variances of the weights whose turn it is back to the first ones, if they are too large.

    Every weight has its turn within `memory` rounds. The weights stay as they are.
    """
    dim = len(covariance.root)
    turns = math.ceil(dim / memory)
    for i in range(turns):
        variance = variance_of_weight(covariance, int(rounds * turns + i) % dim)
        if variance > _LOOSE / strength:
            # noise with which the variance after the round is 1 / strength
            shrink(covariance, variance, variance / (strength * variance - 1.0))
