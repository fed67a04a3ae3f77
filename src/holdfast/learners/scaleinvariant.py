"""Linear models whose features need no scaling (Kempka, Kotłowski and Warmuth, 2019, ScInOL₂)."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.everywhere import Everywhere
from holdfast.learners.needs import FEATURES, Needs, check_positive, refuse_domain
from holdfast.norms import TINY, hypotenuse
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import ForecastWeights, assign, place, values_of

_MOST = 1e290


class ScaleInvariantState(NamedTuple):
    sums: np.ndarray  # G, of the gradients, with a minus
    roots: np.ndarray  # S, of the sums of squared gradients
    largest: np.ndarray  # M, of the |x| so far, times the Lipschitz constant
    first: np.ndarray  # of those
    wealth: np.ndarray


@rule
class ScaleInvariant:
    """w_i = wealth_i clip(G_i / a_i, -1, 1) / (2 a_i), a_i² = S_i² + M_i²: a bet on each gradient's sign.

    The wealth of a weight is epsilon less all it has lost. M_i is the largest |x_i| seen, the row to predict
    for included, so that multiplying a feature by any number changes no prediction: no running scales, no
    step size, no domain. Sparse rows cost O(nonzeros).

    Parameters:
        epsilon: What each weight may lose.
        steepest: The Lipschitz constant of the loss, 1 for hinge, logistic and absolute loss. Slopes beyond
            it are cut down to it.
        domain (Everywhere): There is no version of it for other domains.

    Guarantee: For losses with that Lipschitz constant, regret against u at most the sum over weights of
    epsilon + 2|u| a max(ln(2|u| a e^¼ (a / M₁)^1.443 / epsilon) - 1, 0) on the rounds learned from, M₁ being
    the first M (`docs/math.md`, 9.11; the update is theirs, this form of the bound ours). It depends on the
    largest |x|, also of rows whose gradient is 0. So a filter must see the features: `on=Features()`, or
    `Guarded`. Behind another filter it is refused.

    >>> from holdfast.vectors import dot
    >>> learner = ScaleInvariant()
    >>> for unit in (1.0, 1e-9):
    ...     state, x = learner.init(dim=1), np.array([unit])
    ...     for _ in range(20):
    ...         state = learner.update(state, Round(slope=-1.0, x=x))
    ...     print(round(dot(learner.predict(state), x), 3))
    2.052
    2.052
    """

    epsilon: float = 1.0
    steepest: float = 1.0
    domain: Domain = Everywhere()

    def check(self) -> None:
        check_positive(self, "epsilon is an amount to lose")
        check_positive(self, "steepest bounds the slopes")
        refuse_domain(self)

    def reads_rows(self) -> bool:
        return True

    def needs(self) -> Needs:
        return Needs("any", FEATURES, "Lipschitz", True)

    def init(self, dim: int) -> ScaleInvariantState:
        zeros = (np.zeros(dim), np.zeros(dim), np.zeros(dim), np.zeros(dim))
        return ScaleInvariantState(*zeros, np.full(dim, self.epsilon))

    def reset(self, state: ScaleInvariantState, dim: int) -> ScaleInvariantState:
        for array in (state.sums, state.roots, state.largest, state.first):
            assign(array, np.zeros(dim))
        assign(state.wealth, np.full(dim, self.epsilon))
        return state

    def predict(self, state: ScaleInvariantState) -> Weights:
        return ForecastWeights(self, state)

    def weight(self, state: ScaleInvariantState, i: int, seen: float) -> float:
        """w_i, if the largest |x_i| is at least `seen`, as the loss's Lipschitz constant magnifies it."""
        a = hypotenuse(float(state.roots[i]), max(float(state.largest[i]), seen))
        if not a > TINY:
            return 0.0
        return min(max(float(state.sums[i]) / a, -1.0), 1.0) * (float(state.wealth[i]) / (2.0 * a))

    def forecast(self, state: ScaleInvariantState, x: Row) -> float:
        """What it predicts for a row."""
        values, z = values_of(x), 0.0
        for j in range(len(values)):
            value = float(values[j])
            if value != 0.0:
                z += value * self.weight(state, place(x, j), self.steepest * abs(value))
        return z

    def blind(self, state: ScaleInvariantState) -> Weights:
        """The weights for rows that are no larger than those before."""
        w = np.zeros(len(state.sums))
        for i in range(len(w)):
            w[i] = self.weight(state, i, 0.0)
        return w

    def update(self, state: ScaleInvariantState, round: Round) -> ScaleInvariantState:
        slope, x = round.slope, round.x
        slope, values = min(max(float(slope), -self.steepest), self.steepest), values_of(x)
        for j in range(len(values)):
            i, value = place(x, j), float(values[j])
            seen, g = self.steepest * abs(value), slope * value
            if not TINY < seen < math.inf:
                continue
            state.wealth[i] = min(float(state.wealth[i]) - g * self.weight(state, i, seen), _MOST)
            state.largest[i] = max(float(state.largest[i]), seen)
            if state.first[i] == 0.0:
                state.first[i] = seen
            state.sums[i] = float(state.sums[i]) - g
            state.roots[i] = hypotenuse(float(state.roots[i]), abs(g))
        return state

    def bound(self, state: ScaleInvariantState, u: np.ndarray) -> float:
        most = 0.0
        for i in range(len(u)):
            a, far = hypotenuse(float(state.roots[i]), float(state.largest[i])), abs(float(u[i]))
            most += self.epsilon if a > 0.0 else 0.0
            if a * far > 0.0:
                grown = math.log(a / float(state.first[i])) / math.log(2.0)
                most += 2.0 * far * a * max(math.log(2.0 * far * a / self.epsilon) + 0.25 + grown - 1.0, 0.0)
        return most
