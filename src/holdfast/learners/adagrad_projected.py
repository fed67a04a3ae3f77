"""Diagonal AdaGrad where weights depend on each other: a ball, a simplex (Duchi, Hazan and Singer, 2011)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.ball import Ball
from holdfast.domains.shifted import Shifted
from holdfast.domains.simplex import Simplex
from holdfast.learners.needs import EACH_WEIGHT, Needs
from holdfast.learners.recentered import placed
from holdfast.norms import LInf, hypotenuse
from holdfast.protocols import Domain, Weights
from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import assign, largest, place, sum_abs, values_of

_LINF = LInf()
_SMALL = 1e-9  # of the largest root: a weight with less counts as having this: moving it must cost something


class ProjectedAdaGradState(NamedTuple):
    """Weights, and the roots of the sums of squared gradients that their steps depend on."""

    w: np.ndarray
    roots: np.ndarray  # of the sums of squared gradients, and `ballast`, for every weight
    width: float  # the diameter of the domain, in its widest direction


@rule
class ProjectedAdaGrad:
    """w_i <- w_i - eta g_i / h_i, then to the point nearest in the norm of h; `AdaGrad(Ball(1.0))` makes it.

    With h_i = sqrt(ballast + sum of squared g_i) and eta = rate D / sqrt(2), where D is the most that one
    weight can change. A round costs O(dim) and some steps of Newton's for the projection.

    Parameters:
        domain (Ball or Simplex): Around anything but 0 it becomes a `Recentered`.
        rate, ballast: As for `AdaGrad`.

    Guarantee: With rate 1, regret at most sqrt(2) D sum_i sqrt(ballast + sum_t g_ti²) on the rounds learned
    from, each root being at least 1e-9 times the largest; with another, (rate + 1 / rate) / 2 times that.
    (`docs/math.md`, 3.5)

    >>> from holdfast.learners import AdaGrad
    >>> adagrad = AdaGrad(Simplex())
    >>> state = adagrad.init(dim=3)
    >>> for g in ([1.0, 0.0, 0.0], [0.0, 0.5, 0.0]):
    ...     state = adagrad.update(state, Round(slope=1.0, x=np.array(g)))
    >>> adagrad.predict(state).round(3).tolist()
    [0.0, 0.0, 1.0]
    """

    domain: Domain
    rate: float = 1.0
    ballast: float = 0.0

    def check(self) -> Any:
        if not isinstance(self.domain, Ball | Simplex | Shifted):
            raise TypeError(
                "AdaGrad moves weights in a Box(low, high), a Ball(radius) or a Simplex(): "
                f"got {self.domain!r}"
            )
        check_steps(self.rate, self.ballast)
        return placed(self)

    def needs(self) -> Needs:
        return Needs("a ball or simplex", EACH_WEIGHT, "convex", True)

    def init(self, dim: int) -> ProjectedAdaGradState:
        roots = np.full(dim, math.sqrt(self.ballast))
        return ProjectedAdaGradState(self.domain.center(dim), roots, self.domain.diameter(_LINF, dim))

    def reset(self, state: ProjectedAdaGradState, dim: int) -> ProjectedAdaGradState:
        assign(state.w, self.domain.center(dim))
        assign(state.roots, np.full(dim, math.sqrt(self.ballast)))
        return state

    def predict(self, state: ProjectedAdaGradState) -> Weights:
        return state.w

    def update(self, state: ProjectedAdaGradState, round: Round) -> ProjectedAdaGradState:
        domain: Any = self.domain
        slope, x = round.slope, round.x
        w, roots, values = state.w, state.roots, values_of(x)
        if slope == 0.0:
            return state
        for j in range(len(values)):
            i, g = place(x, j), float(slope) * float(values[j])
            roots[i] = hypotenuse(float(roots[i]), abs(g))
        most, eta = largest(roots), self.rate * state.width / math.sqrt(2.0)
        if not 0.0 < most < math.inf:
            return state
        for j in range(len(values)):
            i, g = place(x, j), float(slope) * float(values[j])
            if g != 0.0:
                w[i] = float(w[i]) - eta * (g / max(float(roots[i]), _SMALL * most))
        assign(w, domain.nearest(w, np.maximum(roots / most, _SMALL)))
        return ProjectedAdaGradState(domain.project(w), roots, state.width)

    def bound(self, state: ProjectedAdaGradState, u: np.ndarray) -> float:
        roots = np.maximum(state.roots, _SMALL * state.roots.max(initial=0.0))
        return (self.rate + 1.0 / self.rate) / math.sqrt(2.0) * state.width * sum_abs(roots)


def check_steps(rate: float, ballast: float) -> None:
    if not 0.0 < rate < math.inf:
        raise ValueError(f"rate multiplies the steps, so it must be positive: got {rate}")
    if not 0.0 <= ballast < math.inf:
        raise ValueError(f"ballast is a sum of squares, so it cannot be negative: got {ballast}")
