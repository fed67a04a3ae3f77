"""Experts and portfolios, by exponential weights: AdaHedge (de Rooij et al., 2014) and EG."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.domains.simplex import Simplex
from holdfast.learners.needs import RANGE, Needs, check_positive
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import add, assign, dot, largest, scale_by, sum_abs

_LIMIT = 1e308  # an eta so large that all weight is on the best


class ExpertsState(NamedTuple):
    w: np.ndarray
    behind: np.ndarray  # the losses so far, less those of the best
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

    def init(self, dim: int) -> ExpertsState:
        return ExpertsState(self.domain.center(dim), np.zeros(dim), 0.0)

    def reset(self, state: ExpertsState, dim: int) -> ExpertsState:
        assign(state.w, self.domain.center(dim))
        assign(state.behind, np.zeros(dim))
        return ExpertsState(state.w, state.behind, 0.0)

    def predict(self, state: ExpertsState) -> Weights:
        return state.w

    def update(self, state: ExpertsState, round: Round) -> ExpertsState:
        slope, x = round.slope, round.x
        if slope == 0.0 or len(state.w) == 1:
            return state
        g = np.zeros(len(state.w))
        add(g, slope, x)
        return after_losses(state, g)

    def bound(self, state: ExpertsState, u: np.ndarray) -> float:
        return state.gap * (1.0 + information(u) / math.log(len(u))) if len(u) > 1 else 0.0


@rule
class EG:
    """w_i <- w_i exp(-eta g_i), then divided by their sum.

    For portfolios the loss of a day with price relatives x is -ln<w, x>, `LogWealth`, whose gradient is
    -x / <w, x>. `AdaHedge` learns from the same gradients and needs no eta.

    Parameters:
        rate: eta, the step. Over T days in which gradients have a range up to s, sqrt(8 ln K / T) / s is
            best.
        domain (Simplex): There is no version of it for other domains.

    Guarantee: Regret against u at most KL(u, uniform) / eta + the sum of the mixability gaps on the rounds
    learned from, at most ln K / eta + eta Σ s² / 8, s being the range of a gradient (`docs/math.md`, 9.9).

    >>> eg = EG(rate=0.5)
    >>> state = eg.init(dim=2)
    >>> for x in ([1.0, 2.0], [1.0, 0.5], [1.0, 2.0]):
    ...     x = np.array(x)
    ...     state = eg.update(state, Round(slope=-1.0 / float(eg.predict(state) @ x), x=x))
    >>> eg.predict(state).round(3).tolist()
    [0.422, 0.578]
    """

    rate: float
    domain: Domain = Simplex()

    def check(self) -> None:
        check_positive(self, "rate is a step")
        if not isinstance(self.domain, Simplex):
            raise TypeError(f"EG divides money among assets, on a Simplex(): got {self.domain!r}")

    needs, init, reset, predict = AdaHedge.needs, AdaHedge.init, AdaHedge.reset, AdaHedge.predict

    def update(self, state: ExpertsState, round: Round) -> ExpertsState:
        slope, x = round.slope, round.x
        if slope == 0.0:
            return state
        g = np.zeros(len(state.w))
        add(g, slope, x)
        gap = add_losses(state, g, self.rate)
        weigh(state.w, state.behind, self.rate)
        return ExpertsState(state.w, state.behind, gap)

    def bound(self, state: ExpertsState, u: np.ndarray) -> float:
        return information(u) / self.rate + state.gap


@rule
class LogWealth:
    """-ln z: what a day with price relatives x costs a portfolio w, z = <w, x>, in the growth of its wealth.

    The target is not used. Where z is not positive the loss is infinite, and the round is not learned from.

    >>> LogWealth().value(2.0, 0.0), LogWealth().slope(2.0, 0.0)
    (-0.6931471805599453, -0.5)
    """

    def value(self, z: float, y: float) -> float:
        return -math.log(z) if z > 0.0 else math.inf + 0.0 * z

    def slope(self, z: float, y: float) -> float:
        return -1.0 / z if z > 0.0 else -math.inf + 0.0 * z


def after_losses(state: ExpertsState, g: np.ndarray) -> ExpertsState:
    """The state of `AdaHedge` after a round with these losses of at least two experts. Overwrites g."""
    log_count = math.log(len(state.w))
    gap = add_losses(state, g, step(state.gap, log_count))
    weigh(state.w, state.behind, step(gap, log_count))
    return ExpertsState(state.w, state.behind, gap)


def add_losses(state: ExpertsState, g: np.ndarray, eta: float) -> float:
    """Add the losses of a round at rate eta, and return the sum of the mixability gaps. Overwrites g."""
    subtract_least(g)  # what all experts have lost alike is no regret
    gap = state.gap + mixability_gap(state.w, state.behind, g, eta)
    add(state.behind, 1.0, g)
    subtract_least(state.behind)
    return gap


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
