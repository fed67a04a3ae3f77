"""A bettor for each weight, around a start that can be set: the learner of the default that has a proof."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.box import Box
from holdfast.kernels import Entry, each_entry, where
from holdfast.learners.needs import EACH_WEIGHT, Needs
from holdfast.rounds import Round
from holdfast.rule import replaced, rule

_LEAST, _MOST = 1e-100, 1e100  # of parameters: their squares and products are floats


class BettorsState(NamedTuple):
    """The sums of each weight since the last start."""

    w: np.ndarray  # around + bets, brought into the box
    around: np.ndarray  # the weights at the start
    bets: np.ndarray
    sums: np.ndarray  # of the gradients learned from, with a minus
    squares: np.ndarray  # a², the squared limit and the sum of the squared gradients
    wealth: np.ndarray
    limits: np.ndarray  # the largest possible gradients


@np.errstate(all="ignore")
@each_entry("w", "bets", "sums", "squares", "wealth")
def _bet(
    w: Entry,
    around: Entry,
    bets: Entry,
    sums: Entry,
    squares: Entry,
    wealth: Entry,
    limits: Entry,
    slope: float,
    box: float,
    x: Entry,
) -> tuple[Entry, Entry, Entry, Entry, Entry]:
    g, at = slope * x, around + bets
    g = where(abs(g) < math.inf, g, 0.0)
    g = where(((g < 0.0) & (at > box)) | ((g > 0.0) & (at < -box)), 0.0, g)  # it would go further out
    g = where(g > limits, limits, where(g < -limits, -limits, g))
    owned, total, square = wealth - g * bets, sums - g, squares + g * g
    inverse = 1.0 / np.sqrt(square)
    pull = total * inverse
    bet = where(pull > 1.0, 1.0, where(pull < -1.0, -1.0, pull)) * (0.5 * owned * inverse)
    at = around + bet
    return where(at > box, box, where(at < -box, -box, at)), bet, total, square, owned


@rule
class Bettors:
    """w_i = around_i + wealth_i clip(-G_i / a_i, -1, 1) / (2 a_i), brought into [-box, box].

    Each weight bets on the sign of its next gradient. It begins with some wealth, which falls by g times its
    bet in a round, and never bets more than half of it. G_i is the sum of its gradients and
    a_i² = limit_i² + sum of squared g_i. There is no step size, and what a weight can lose in all is its
    first wealth, unless it moves away from `around`. A weight that is outside of the box learns nothing from
    gradients that would push it further out.

    A limit is `steepest` times `largest`. Beyond it, gradients are cut down to it, and the guarantee is about
    what is left of them. Entries that are not finite are left out. Sparse rows cost O(nonzeros).

    Parameters:
        steepest: The Lipschitz constant of the loss, 1 for hinge, logistic and absolute loss.
        largest: The largest absolute entry of a row.
        box: Weights are between -box and box.
        wealth: What each weight may lose.
        constant: Whether the last entry of every row is 1: then its limit is `steepest`.
        domain (computed): The box.

    Guarantee: Against u in the box, regret at most the sum over weights of wealth + 2|u - around| a
    max(ln(2|u - around| a / wealth) + log2(a / limit) - 3/4, 0) on the rounds since the last start
    (`docs/math.md`, 11, Theorem P). `hindsight` is less, and also proved: it measures the wealth.

    >>> bettors = Bettors()
    >>> state = bettors.init(dim=2)
    >>> for _ in range(30):
    ...     state = bettors.update(state, Round(slope=-1.0, x=np.array([1.0, 0.0])))
    >>> bettors.predict(state).round(3).tolist(), round(bettors.bound(state, [1.0, 0.0]), 1)
    ([2.18, 0.0], 54.3)
    >>> state = bettors.restarted(state, np.array([3.0, -70.0]))
    >>> bettors.predict(state).tolist(), bettors.bound(state, [1.0, 0.0])
    ([3.0, -10.0], 0.0)
    """

    steepest: float = 1.0
    largest: float = 1.0
    box: float = 10.0
    wealth: float = 0.5
    constant: bool = False
    domain: Any = None

    def check(self) -> Any:
        numbers = (self.steepest, self.largest, self.steepest * self.largest, self.box, self.wealth)
        names = ("steepest", "largest", "steepest times largest", "box", "wealth")
        for name, value in zip(names, numbers, strict=True):
            if not _LEAST <= value <= _MOST:
                raise ValueError(f"{name} must be positive, from 1e-100 to 1e100: got {value}")
        return replaced(self, domain=Box(-self.box, self.box))

    def needs(self) -> Needs:
        return Needs("box", EACH_WEIGHT, "Lipschitz", True)

    def init(self, dim: int) -> BettorsState:
        w, around, bets, sums = np.zeros(dim), np.zeros(dim), np.zeros(dim), np.zeros(dim)
        limits = np.full(dim, self.steepest * self.largest)
        if self.constant and dim > 0:
            limits[dim - 1] = self.steepest
        return BettorsState(w, around, bets, sums, limits * limits, np.full(dim, self.wealth), limits)

    def valid(self, state: BettorsState) -> bool:
        near = np.abs(state.around) <= self.box
        some = (state.wealth > 0.0) & (state.squares > 0.0) & (state.limits > 0.0)
        return bool(np.all(near & some & (np.abs(state.w) <= self.box) & (state.squares < math.inf)))

    def reset(self, state: BettorsState, dim: int) -> BettorsState:
        return self.restarted(state, np.zeros(dim))

    def restarted(self, state: BettorsState, around: np.ndarray) -> BettorsState:
        """A new start from these weights, brought into the box. What is not finite counts as 0."""
        for i in range(len(state.w)):
            start = float(around[i])
            start = min(max(start, -self.box), self.box) if abs(start) < math.inf else 0.0
            state.w[i], state.around[i], state.bets[i], state.sums[i] = start, start, 0.0, 0.0
            state.squares[i] = state.limits[i] * state.limits[i]
            state.wealth[i] = self.wealth
        return state

    def predict(self, state: BettorsState) -> np.ndarray:
        return state.w

    def update(self, state: Any, round: Round) -> Any:
        if round.slope != 0.0:
            w, around, bets, sums, squares, wealth, limits = state
            _bet(w, around, bets, sums, squares, wealth, limits, float(round.slope), self.box, round.x)
        return state

    def bound(self, state: BettorsState, u: np.ndarray) -> float:
        return bettors_bound(np.asarray(u), state.around, np.sqrt(state.squares), state.limits, self.wealth)

    def hindsight(self, state: BettorsState, u: np.ndarray) -> float:
        """The regret against u is at most this, from the wealth that is left: never above `bound`."""
        regret = 0.0
        for i in range(len(u)):
            gain = (float(u[i]) - float(state.around[i])) * float(state.sums[i])
            regret += self.wealth - float(state.wealth[i]) + gain
        return regret


def bettors_bound(u: np.ndarray, around: np.ndarray, a: np.ndarray, h: np.ndarray, wealth: float) -> float:
    """The sum over weights of wealth + r (ln(r / wealth) + log2(a / h) - 3/4)₊, with r = 2|u - around| a."""
    reach = 2.0 * np.abs(u - around) * a
    grown = np.log(np.where(reach > 0.0, reach, 1.0) / wealth) + np.log2(a / h) - 0.75
    return float(np.sum(np.where(a > h, wealth + reach * np.maximum(grown, 0.0), 0.0)))
