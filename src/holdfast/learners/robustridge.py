"""Ridge regression in which a round counts less, the larger its residual is (Duran-Martin et al., 2024)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.memory import check_memory
from holdfast.learners.needs import LOSS_FORM, Needs
from holdfast.learners.residual_weights import Redescending
from holdfast.matrices import shrink_rows, sum_of_rows
from holdfast.protocols import Domain
from holdfast.rule import rule
from holdfast.sketches.histogram import is_whole
from holdfast.vectors import add, assign, dot, largest, scale_by, squared

_RATE = 0.01  # of the running means of residuals and of the farthest cells, after the first 100 rounds
_NEAR = 4.0  # a residual counts up to so many mean residuals in that mean, a cell up to so many means
_USUAL = 1.5  # a farthest cell up to so many times its mean does not lower the limit
_LEAST = 1e-9  # no mean falls below
_LOOSE = 4.0  # a variance that is so many times the first is set back to the first
_UNIT = 2.0**16


class RobustRidgeState(NamedTuple):
    """Weights, their covariance P = growth SS', and the scales of residuals and rows."""

    w: np.ndarray
    root: np.ndarray  # S
    growth: float
    residual: float  # a fading mean of absolute residuals
    cell: float  # a fading mean of the largest absolute entry of a row
    rounds: float
    y: float  # the target of this round, NaN if there is none


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

    Parameters
    ----------
    strength : float
        Of the regularisation: the covariance starts as the identity divided by it.
    memory : float, optional
        The number of rounds after which a round counts about a third (1 / e). None: for ever.
    weights : Redescending, HuberWeights or InverseMultiquadric
        How much a round counts, by its residual.
    domain : Everywhere
        There is no version of it for other domains.

    Guarantee: none. The weights follow "Outlier-robust Kalman filtering through generalised Bayes" (WoLF;
    Duran-Martin et al., 2024), whose bound on the influence of one outlier is not a bound on regret.

    Examples
    --------
    >>> ridge = RobustRidge()
    >>> state = ridge.init(dim=1)
    >>> for t in range(1000):
    ...     y = 1e9 if t % 10 == 9 else 2.0 + 0.1 * (-1) ** t
    ...     state = ridge.update(ridge.set_target(state, y), slope=0.0, x=np.ones(1))
    >>> ridge.predict(state).round(2)
    array([2.01])
    """

    strength: float = 0.1
    memory: float | None = None
    weights: Any = Redescending()
    domain: Domain = Everywhere()

    def check(self):
        if not 1e-100 < self.strength < 1e100:
            raise ValueError(f"strength weighs a regulariser, so it must be positive: got {self.strength}")
        if self.domain.bounded():
            raise TypeError(f"RobustRidge has no version for bounded domains: got {self.domain!r}")
        return check_memory(self)

    def reads_rows(self):
        return True

    def needs(self):
        return Needs("any", LOSS_FORM, "any", False)

    def init(self, dim):
        root = np.eye(dim) / math.sqrt(self.strength)
        return RobustRidgeState(np.zeros(dim), root, 1.0, 1.0, 1.0, 0.0, math.nan)

    def valid(self, state):
        return is_whole(state.rounds) and state.rounds >= 0.0

    def reset(self, state, dim):
        assign(state.w, np.zeros(dim))
        for k in range(dim):
            assign(state.root[k], np.zeros(dim))
            state.root[k, k] = 1.0 / math.sqrt(self.strength)
        return RobustRidgeState(state.w, state.root, 1.0, 1.0, 1.0, 0.0, math.nan)

    def after_change(self, state, rows):
        for k in range(len(state.w)):
            assign(state.root[k], np.zeros(len(state.w)))
            state.root[k, k] = 1.0 / math.sqrt(self.strength)
        return RobustRidgeState(state.w, state.root, 1.0, state.residual, state.cell, state.rounds, state.y)

    def set_target(self, state, y):
        w, root, growth, residual, cell, rounds, _ = state
        return RobustRidgeState(w, root, growth, residual, cell, rounds, y)

    def predict(self, state):
        return state.w

    def update(self, state, slope, x):
        w, root, growth, residual, cell, rounds, y = state
        error = y - dot(w, x) if y == y else -float(slope)
        far = largest(x)
        if not (0.0 < far < math.inf and abs(error) < math.inf):
            return state
        excess = max(far / (_USUAL * cell), 1.0)
        weight = self.weights.weight(abs(error) / (self.weights.limit * residual) * excess * excess)
        rounds += 1.0
        rate = max(1.0 / rounds, _RATE)
        residual = max(residual + rate * (min(abs(error), _NEAR * residual) - residual), _LEAST)
        cell = max(cell + rate * (min(far, _NEAR * cell) - cell), _LEAST)
        if weight > 0.0:
            learn_row(w, root, growth, 1.0 / weight, error, x)
        if self.memory < math.inf:
            growth = forget(root, growth, self.strength, self.memory, rounds)
        return RobustRidgeState(w, root, growth, residual, cell, rounds, y)


def learn_row(w, root, growth, noise, error, x):
    """Move weights and covariance by a row, its residual and the variance of its noise."""
    a = sum_of_rows(root, x)  # S'x
    variance = growth * squared(a)
    total = noise + variance
    if variance > 0.0 and total < math.inf:
        shrink(w, root, a, growth / total, noise / total, error)


def shrink(w, root, a, gain, left, error):
    """S becomes S (I - beta aa'), where P - gain PxxP' has this root; and w moves by gain Px error.

    `left` is the share of the variance of the prediction that is left after the round.
    """
    beta = gain / (1.0 + math.sqrt(left))
    along = shrink_rows(root, a, -beta)  # Sa
    add(w, gain * error, along)


def forget(root, growth, strength, memory, rounds):
    """The growth after a round; and the variances of the weights whose turn it is, set back if too large.

    Every weight has its turn within `memory` rounds.
    """
    dim = len(root)
    growth /= 1.0 - 1.0 / memory
    if growth > _UNIT * _UNIT:
        growth /= _UNIT * _UNIT
        for k in range(dim):
            scale_by(root[k], _UNIT)
    turns = math.ceil(dim / memory)
    for i in range(turns):
        j = int(rounds * turns + i) % dim
        variance = growth * squared(root[j])
        if variance > _LOOSE / strength:
            share = 1.0 / (strength * variance)  # that remains
            a = root[j].copy()
            shrink(np.zeros(dim), root, a, growth * (1.0 - share) / variance, share, 0.0)
    return growth
