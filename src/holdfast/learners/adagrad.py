"""Diagonal AdaGrad, a step of its own for every weight; in a ball or a simplex, too (Duchi et al., 2011)."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.domains.ball import Ball
from holdfast.domains.shifted import Shifted
from holdfast.domains.simplex import Simplex
from holdfast.entrywise import LEAST, MOST, adagrad_step
from holdfast.learners.bounded import placed
from holdfast.learners.needs import EACH_WEIGHT, Needs, check_positive
from holdfast.norms import LInf, hypotenuse
from holdfast.protocols import Domain, Row, Weights
from holdfast.rounds import Round
from holdfast.rule import rarely_called, rule
from holdfast.vectors import assign, dot, largest, place, sum_abs, values_of

_WIDTHS = math.sqrt(2.0)
_UNIT = 2.0**300


class AdaGradState(NamedTuple):
    w: np.ndarray
    squares: np.ndarray  # of the gradients times units, summed for every weight
    units: np.ndarray  # powers of 2: 1 unless the squares would leave the range of floats
    steps: np.ndarray  # the first step of every weight
    low: np.ndarray
    high: np.ndarray


@rule
class AdaGrad:
    """w_i <- w_i - eta_i g_i, then back into [low_i, high_i], from the middle of the box.

    With eta_i = rate D_i / sqrt(2 * (ballast + sum of squared g_i so far)), where D_i is the width of the
    box: a weight whose gradients are rare or small takes larger steps. Sparse rows cost O(nonzeros).

    Parameters:
        domain (Box): Where the weights may lie. With a `Ball` or a `Simplex` it becomes a `ProjectedAdaGrad`.
        rate: 1 in the theorem, for weights that may be anywhere in the box. In a box that is much wider than
            the weights one expects, less.
        ballast: What the sums of squares begin with. With 0 the first step of a weight is the same length for
            any gradient; with the square of a typical one, a small gradient moves it less.

    Guarantee: With rate 1, regret at most sqrt(2) sum_i D_i sqrt(ballast + sum_t g_ti^2) on the rounds
    learned from; with another, (rate + 1 / rate) / 2 times that. `docs/math.md`, 3.5.

    >>> from holdfast.domains import Box
    >>> adagrad = AdaGrad(Box(-1.0, 1.0))
    >>> state = adagrad.init(dim=2)
    >>> state = adagrad.update(state, Round(slope=1.0, x=np.array([3.0, 0.0])))
    >>> adagrad.predict(state).tolist()
    [-1.0, 0.0]
    """

    domain: Domain
    rate: float = 1.0
    ballast: float = 0.0

    def check(self) -> Any:
        if not (hasattr(self.domain, "low") and hasattr(self.domain, "high")):
            return ProjectedAdaGrad(self.domain, self.rate, self.ballast)
        check_steps(self)
        return None

    def needs(self) -> Needs:
        return Needs("bounded", EACH_WEIGHT, "convex", True)

    def check_dim(self: Any, dim: int) -> None:
        self.domain.check_dim(dim)

    def init(self, dim: int) -> AdaGradState:
        domain: Any = self.domain
        low, high = np.zeros(dim) + domain.low, np.zeros(dim) + domain.high
        steps = self.rate * (high - low) / _WIDTHS
        return AdaGradState(domain.center(dim), np.full(dim, self.ballast), np.ones(dim), steps, low, high)

    def valid(self, state: AdaGradState) -> bool:
        units, squares = state.units, state.squares
        return bool(np.all((units > 0.0) & (units < math.inf) & (squares >= 0.0) & (squares < math.inf)))

    def reset(self, state: AdaGradState, dim: int) -> AdaGradState:
        assign(state.w, self.domain.center(dim))
        assign(state.squares, np.full(dim, self.ballast))
        assign(state.units, np.ones(dim))
        return state

    def predict(self, state: AdaGradState) -> Weights:
        return state.w

    def update(self, state: AdaGradState, round: Round) -> AdaGradState:
        slope, x = round.slope, round.x
        w, squares, units, steps, low, high = state
        if slope != 0.0 and not adagrad_step(w, squares, units, steps, low, high, slope, x):
            _descend_rescaled(state, slope, x)
        return state

    def bound(self, state: AdaGradState, u: np.ndarray) -> float:
        factor = (self.rate + 1.0 / self.rate) / math.sqrt(2.0)
        return factor * dot(state.high - state.low, np.sqrt(state.squares) / state.units)


@rarely_called
def _descend_rescaled(state: AdaGradState, slope: float, x: Row) -> None:
    """The step of the entries that `adagrad_step` has marked, in a unit in which their sums are precise.

    Units are powers of 2, so that no step depends on them, to the last bit.
    """
    (w, squares, units, steps, low, high), values = state, values_of(x)
    for j in range(len(values)):
        i, g = place(x, j), float(slope) * float(values[j])
        if math.copysign(1.0, float(squares[i])) > 0.0:
            continue
        unit, before = float(units[i]), -float(squares[i])
        squares[i] = before
        if not abs(g) < math.inf:
            continue
        y = g * unit
        total = before + y * y
        while not LEAST < total < MOST:
            factor = _UNIT if total <= LEAST else 1.0 / _UNIT
            unit, before = unit * factor, before * factor * factor
            y = g * unit
            total = before + y * y
        squares[i], units[i] = total, unit
        moved = float(w[i]) - steps[i] * y / math.sqrt(total)
        moved = low[i] if moved < low[i] else moved
        w[i] = high[i] if moved > high[i] else moved


_LINF = LInf()
_SMALL = 1e-9  # of the largest root: a weight with less counts as having this: moving it must cost something


class ProjectedAdaGradState(NamedTuple):
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
        check_steps(self)
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


def check_steps(rule: Any) -> None:
    check_positive(rule, "rate multiplies the steps")
    if not 0.0 <= rule.ballast < math.inf:
        raise ValueError(f"ballast is a sum of squares, so it cannot be negative: got {rule.ballast}")
