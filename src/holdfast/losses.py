"""Losses of a linear model, f(w) = h(⟨w, x⟩, y).

A loss has three methods. `value(z, y)` and `slope(z, y)` are h and its derivative at the prediction
z = ⟨w, x⟩. The gradient of f is `slope(z, y) * x`, so the size of a round is |slope| times the dual norm of
x. `lipschitz()` is the largest |slope|; if it is finite, the Quantile filter needs only i.i.d. features.

At a kink the slope is the subgradient nearest to 0. So a round whose prediction is a minimiser has size 0
and changes nothing. The SGD of scikit-learn does the same except for the hinge loss at a margin of exactly 1.
NaN gives NaN, and infinity gives infinity or the limit: the filter rejects such rounds, not the loss.
"""

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Linear",
    "Logistic",
    "Pinball",
    "Squared",
    "SquaredHinge",
]

import math
from typing import Any

import numpy as np

from holdfast.protocols import Loss
from holdfast.rule import rule


@rule
class Linear:
    """z y: a linear loss with coefficient y.

    This is the game of the paper, in which a round reveals only a gradient. Here the gradient is y x for
    every w.

    >>> Linear().value(0.5, -3.0), Linear().slope(0.5, -3.0)
    (-1.5, -3.0)
    """

    def needs_target(self) -> bool:
        return False  # the slope of a round is its y

    def value(self, z: float, y: float) -> float:
        return z * y

    def slope(self, z: float, y: float) -> float:
        return y

    def lipschitz(self) -> float:
        return math.inf  # |y|, which has no bound


@rule
class Absolute:
    """|z - y|: regression towards the median. The slope is 0 at z = y.

    >>> [Absolute().slope(z, 2.0) for z in (-50.0, 2.0, 2.1)]
    [-1.0, 0.0, 1.0]
    """

    def value(self, z: float, y: float) -> float:
        return abs(z - y)

    def slope(self, z: float, y: float) -> float:
        r = z - y
        if r > 0.0:
            return 1.0
        if r < 0.0:
            return -1.0
        return r  # 0 or NaN

    def lipschitz(self) -> float:
        return 1.0


@rule
class Squared:
    """½ (z - y)²: regression towards the mean.

    Its slope grows with the target, so one extreme y is an outlier of any size.

    >>> Squared().value(1.0, 4.0), Squared().slope(1.0, 4.0)
    (4.5, -3.0)
    """

    def value(self, z: float, y: float) -> float:
        r = z - y
        return 0.5 * r * r

    def slope(self, z: float, y: float) -> float:
        return z - y

    def lipschitz(self) -> float:
        return math.inf


@rule
class Huber:
    """½ r² for residuals |r| = |z - y| up to `knee`, knee (|r| - knee/2) above it: squared, then absolute.

    The slope is at most `knee` for every y. The gradient has no bound, because x can have any size.

    Parameters:
        knee: The residual from which on the loss is linear, in the units of y.

    >>> huber = Huber(knee=1.0)
    >>> [(huber.value(z, 0.0), huber.slope(z, 0.0)) for z in (0.5, -1.0, 1e6)]
    [(0.125, 0.5), (0.5, -1.0), (999999.5, 1.0)]
    """

    knee: float = 1.0

    def check(self) -> None:
        if not 0.0 < self.knee < math.inf:
            raise ValueError(f"knee is a residual: expected 0 < knee < inf, got {self.knee}")

    def value(self, z: float, y: float) -> float:
        r = abs(z - y)
        if r > self.knee:
            return self.knee * (r - 0.5 * self.knee)
        return 0.5 * r * r

    def slope(self, z: float, y: float) -> float:
        r = z - y
        if r > self.knee:
            return self.knee
        if r < -self.knee:
            return -self.knee
        return r

    def lipschitz(self) -> float:
        return self.knee


@rule
class Pinball:
    """tau (y - z) below the target, (1 - tau) (z - y) above it: regression towards the tau-quantile.

    A prediction that is too low costs tau a unit, one that is too high 1 - tau. The total is least where a
    share tau of the targets is below z. The slope is 0 at z = y.

    Parameters:
        tau: The quantile to predict, strictly between 0 and 1. With ½ this is half the absolute loss.

    >>> Pinball(tau=0.75).value(0.0, 4.0), Pinball(tau=0.75).value(4.0, 0.0)
    (3.0, 1.0)
    """

    tau: float = 0.5

    def check(self) -> None:
        if not 0.0 < self.tau < 1.0:
            raise ValueError(f"tau is the quantile to predict: expected 0 < tau < 1, got {self.tau}")

    def value(self, z: float, y: float) -> float:
        r = y - z
        return self.tau * r if r >= 0.0 else (self.tau - 1.0) * r

    def slope(self, z: float, y: float) -> float:
        r = y - z
        if r > 0.0:
            return -self.tau
        if r < 0.0:
            return 1.0 - self.tau
        return r  # 0 or NaN

    def lipschitz(self) -> float:
        return max(self.tau, 1.0 - self.tau)


@rule
class EpsilonInsensitive:
    """max(0, |z - y| - epsilon): errors up to `epsilon` cost nothing, as in support vector regression.

    The slope is 0 on the edge of the tube.

    Parameters:
        epsilon: Half the width of the tube, in the units of y. With 0 this is the absolute loss.

    >>> tube = EpsilonInsensitive(epsilon=0.5)
    >>> [(tube.value(z, 0.0), tube.slope(z, 0.0)) for z in (-2.0, -0.5, 0.25)]
    [(1.5, -1.0), (0.0, 0.0), (0.0, 0.0)]
    """

    epsilon: float = 0.1

    def check(self) -> None:
        if not 0.0 <= self.epsilon < math.inf:
            raise ValueError(f"epsilon is half a width: expected 0 <= epsilon < inf, got {self.epsilon}")

    def value(self, z: float, y: float) -> float:
        excess = abs(z - y) - self.epsilon
        return 0.0 if excess <= 0.0 else excess

    def slope(self, z: float, y: float) -> float:
        r = z - y
        if r > self.epsilon:
            return 1.0
        if r < -self.epsilon:
            return -1.0
        return r - r  # 0 or NaN

    def lipschitz(self) -> float:
        return 1.0


@rule
class Hinge:
    """max(0, 1 - y z), labels -1 and +1: the support vector machine.

    A correct prediction with a margin of 1 or more has slope 0, so the size of its round is 0 for every x.

    >>> [(Hinge().value(z, 1.0), Hinge().slope(z, 1.0)) for z in (-1.0, 1.0, 1e6)]
    [(2.0, -1.0), (0.0, 0.0), (0.0, 0.0)]
    """

    def value(self, z: float, y: float) -> float:
        short = 1.0 - y * z
        return 0.0 if short <= 0.0 else short

    def slope(self, z: float, y: float) -> float:
        short = 1.0 - y * z
        if short > 0.0:
            return -y
        if short <= 0.0:
            return 0.0
        return short  # NaN

    def lipschitz(self) -> float:
        return 1.0


@rule
class SquaredHinge:
    """max(0, 1 - y z)², labels -1 and +1, without a ½ in front: scikit-learn's `squared_hinge`.

    It is smooth at a margin of 1, but its slope has no bound.

    >>> [(SquaredHinge().value(z, 1.0), SquaredHinge().slope(z, 1.0)) for z in (-1.0, 0.5, 2.0)]
    [(4.0, -4.0), (0.25, -1.0), (0.0, 0.0)]
    """

    def value(self, z: float, y: float) -> float:
        short = 1.0 - y * z
        return 0.0 if short <= 0.0 else short * short

    def slope(self, z: float, y: float) -> float:
        short = 1.0 - y * z
        return 0.0 if short <= 0.0 else -2.0 * y * short

    def lipschitz(self) -> float:
        return math.inf


@rule
class Logistic:
    """ln(1 + exp(-y z)), labels -1 and +1, in nats: logistic regression.

    Computed with exp(-|y z|), which never overflows. For large negative margins it is -y z.

    >>> round(Logistic().value(0.0, 1.0), 6), Logistic().slope(0.0, 1.0)
    (0.693147, -0.5)
    >>> [Logistic().value(z, -1.0) for z in (-1e6, 1e6)]
    [0.0, 1000000.0]
    """

    def value(self, z: float, y: float) -> float:
        margin = y * z
        rest = log_of_one_plus(math.exp(-abs(margin)))
        return rest if margin >= 0.0 else rest - margin

    def slope(self, z: float, y: float) -> float:
        margin = y * z
        e = math.exp(-abs(margin))
        top = e if margin >= 0.0 else 1.0  # no branch: it would be mispredicted in half of the rounds
        return -y * top / (1.0 + e)

    def lipschitz(self) -> float:
        return 1.0


def log_of_one_plus(e: float) -> float:
    """ln(1 + e) for 0 <= e <= 1, with an error of at most two units in the last place.

    Compiled games take half the time for it that `math.log1p` takes, and none if the loss is not used. It is
    2 artanh(s) = 2 s (1 + s² / 3 + s⁴ / 5 + ...) for s = e / (2 + e) <= 1/3. The numbers are those of the
    polynomial that agrees with the series at ten Chebyshev nodes. Two sums are faster than one.
    """
    s = e / (2.0 + e)
    q = s * s
    r = q * q
    even = 0.06657072104827468 + r * 0.04400369243072337
    even = 0.1428571428355438 + r * (0.09090894718066429 + r * even)
    even = 0.3333333333333333 + r * even
    odd = 0.06000536404795356 + r * 0.08082022805971767
    odd = 0.11111111358713932 + r * (0.07692785032479312 + r * odd)
    odd = 0.20000000000007292 + r * odd
    return 2.0 * (s + s * q * (even + q * odd))


def slope_at(loss: Loss, z: float, y: float) -> float:
    """The slope of a loss at a prediction; NaN if the prediction or the target is infinite."""
    return loss.slope(z, y) if abs(z) < math.inf and abs(y) != math.inf else math.nan


def refuse_zero_one(loss: Any, y: np.ndarray) -> None:
    """Raise if a loss for labels -1 and +1 gets labels 0 and 1: it would ignore the label 0."""
    for_labels = isinstance(loss, Hinge | SquaredHinge | Logistic)
    if for_labels and len(y) and np.fmin.reduce(y) == 0.0 and np.fmax.reduce(y) == 1.0:
        raise ValueError(f"{loss!r} needs labels -1 and +1, but these are 0 and 1: pass 2 * y - 1")
