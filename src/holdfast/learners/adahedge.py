"""AdaHedge: experts, and a rate that adapts (de Rooij, van Erven, Grünwald and Koolen, 2014)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.simplex import Simplex
from holdfast.learners.needs import RANGE, Needs
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, largest, scale_by, sum_abs

_LIMIT = 1e308  # an eta so large that all weight is on the best


class AdaHedgeState(NamedTuple):
    """The weights of the experts, and their losses so far."""

    w: np.ndarray
    behind: np.ndarray  # the losses of the experts so far, less those of the best
    gap: float  # Δ, the sum of the mixability gaps


@rule
class AdaHedge:
    """w_i proportional to exp(-eta * losses of expert i), eta = ln K / Δ, over K experts.

    The gradient of a round holds the losses of the experts; only differences matter. Δ sums what w lost in
    each round beyond the mix loss, and while it is 0 all weight is on the best. It needs to know neither the
    range of the losses nor the number of rounds, and may have many more experts than rounds.

    Parameters:
        domain (Simplex): There is no version of it for other domains.

    Guarantee: Regret at most Δ (1 + KL(u, uniform) / ln K) on the rounds learned from, at most 2Δ, at most
    sqrt(ln K Σ s²) + 2 max s, where s is the range of a round's losses (`docs/math.md`, 9.3). Put
    `on=Range()` into the filter, which then goes with a diameter of 1.

    >>> adahedge = AdaHedge()
    >>> state = adahedge.init(dim=2)
    >>> for losses in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.0]):
    ...     state = adahedge.update(state, Round(slope=1.0, x=np.array(losses)))
    ...     print(adahedge.predict(state).round(3).tolist(), round(adahedge.bound(state, np.eye(2)[1]), 3))
    [0.2, 0.8] 1.0
    [0.5, 0.5] 1.278
    [0.289, 0.711] 1.537
    """

    domain: Domain = Simplex()

    def check(self) -> None:
        if not isinstance(self.domain, Simplex):
            raise TypeError(f"AdaHedge divides weight among experts, on a Simplex(): got {self.domain!r}")

    def needs(self) -> Needs:
        return Needs("simplex", RANGE, "convex", True)

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self, dim: int) -> AdaHedgeState:
        return AdaHedgeState(self.domain.center(dim), np.zeros(dim), 0.0)

    def reset(self, state: AdaHedgeState, dim: int) -> AdaHedgeState:
        assign(state.w, self.domain.center(dim))
        assign(state.behind, np.zeros(dim))
        return AdaHedgeState(state.w, state.behind, 0.0)

    def predict(self, state: AdaHedgeState) -> Weights:
        return state.w

    def update(self, state: AdaHedgeState, round: Round) -> AdaHedgeState:
        slope, x = round.slope, round.x
        if slope == 0.0 or len(state.w) == 1:
            return state
        g = np.zeros(len(state.w))
        add(g, slope, x)
        return after_losses(state, g)

    def bound(self, state: AdaHedgeState, u: np.ndarray) -> float:
        return state.gap * (1.0 + information(u) / math.log(len(u))) if len(u) > 1 else 0.0


def after_losses(state: AdaHedgeState, g: np.ndarray) -> AdaHedgeState:
    """The state after a round with these losses of at least two experts. Overwrites g."""
    w, behind, log_count = state.w, state.behind, math.log(len(state.w))
    subtract_least(g)  # what all experts have lost alike is no regret
    gap = state.gap + mixability_gap(w, behind, g, step(state.gap, log_count))
    add(behind, 1.0, g)
    subtract_least(behind)
    weigh(w, behind, step(gap, log_count))
    return AdaHedgeState(w, behind, gap)


def step(gap: float, log_count: float) -> float:
    return min(log_count / gap, _LIMIT) if gap > 0.0 else _LIMIT


def subtract_least(values: np.ndarray) -> None:
    least = math.inf
    for i in range(len(values)):
        least = min(least, float(values[i]))
    for i in range(len(values)):
        values[i] -= least


def weigh(w: np.ndarray, behind: np.ndarray, eta: float) -> None:
    """w_i proportional to exp(-eta behind_i); the least of these losses is 0."""
    for i in range(len(w)):
        w[i] = math.exp(-eta * float(behind[i]))
    scale_by(w, 1.0 / sum_abs(w))


def mixability_gap(w: np.ndarray, behind: np.ndarray, g: np.ndarray, eta: float) -> float:
    """What w lose on g beyond the mix loss, -ln(Σ w exp(-eta g)) / eta, if w are the weights for `behind`."""
    mean, most = dot(w, g), largest(g)
    if eta * mean < 1.0:
        s = 0.0
        for i in range(len(w)):
            s += float(w[i]) * math.expm1(eta * (mean - float(g[i])))
        return min(max(math.log1p(s) / eta, 0.0), most)
    best, before, after = math.inf, 0.0, 0.0
    for i in range(len(w)):  # with the losses rather than w, of which some may be too small for a float
        best = min(best, float(behind[i]) + float(g[i]))
        before += math.exp(-eta * float(behind[i]))
    for i in range(len(w)):
        after += math.exp(-eta * (float(behind[i]) + float(g[i]) - best))
    return min(max(mean - best + (math.log(after) - math.log(before)) / eta, 0.0), most)


def information(u: np.ndarray) -> float:
    """The Kullback-Leibler divergence of u from the uniform distribution."""
    inside = np.asarray(u)[np.asarray(u) > 0.0]
    return float(np.sum(inside * np.log(inside * len(u))))
