"""Losses of a linear model, f(w) = h(⟨w, x⟩, y): what a round costs, and which way is down.

A loss answers four questions about h at the prediction z = ⟨w, x⟩. The gradient of f is `slope(z, y) * x`,
so a round's size is |slope| times the dual norm of x, and at most `lipschitz()` times it: where h is
Lipschitz, i.i.d. features are all the Quantile filter needs. `curvature()` is what a strongly convex h
has to spare, in the direction of x only.

At a kink every loss here answers with the subgradient nearest to 0. A round whose answer is already
among the best then has size 0 and moves nothing; scikit-learn's SGD does the same except for the hinge,
where a margin of exactly 1 still pushes. A NaN comes out as NaN, and infinity as infinity or its limit:
the filter will judge the round, so the loss need not.
"""

import math

import numpy as np

from holdfast.rule import rule
from holdfast.vectors import log1p


@rule
class Linear:
    """z y: the loss is linear, and y is its coefficient.

    The paper's own game, where a round reveals a gradient and nothing else; here that gradient is y x,
    wherever w is.

    Examples
    --------
    >>> Linear().value(0.5, -3.0), Linear().slope(0.5, -3.0)
    (-1.5, -3.0)
    """

    def needs_target(self):
        return False  # the slope of a round is its y

    def value(self, z, y):
        return z * y

    def slope(self, z, y):
        return y

    def lipschitz(self):
        return math.inf  # |y|, which may be anything

    def curvature(self):
        return 0.0


@rule
class Absolute:
    """|z - y|: regression towards the median. The slope is 0 at z = y.

    Examples
    --------
    >>> [Absolute().slope(z, 2.0) for z in (-50.0, 2.0, 2.1)]
    [-1.0, 0.0, 1.0]
    """

    def value(self, z, y):
        return abs(z - y)

    def slope(self, z, y):
        r = z - y
        if r > 0.0:
            return 1.0
        if r < 0.0:
            return -1.0
        return r  # 0 or NaN

    def lipschitz(self):
        return 1.0

    def curvature(self):
        return 0.0


@rule
class Squared:
    """½ (z - y)²: regression towards the mean.

    Its slope grows with the target, so one wild y is an outlier of any size.

    Examples
    --------
    >>> Squared().value(1.0, 4.0), Squared().slope(1.0, 4.0)
    (4.5, -3.0)
    """

    def value(self, z, y):
        r = z - y
        return 0.5 * r * r

    def slope(self, z, y):
        return z - y

    def lipschitz(self):
        return math.inf

    def curvature(self):
        return 1.0


@rule
class Huber:
    """½ r² for residuals r = z - y up to `knee`, knee (|r| - knee/2) beyond: squared, then absolute.

    A wild y has a slope of at most `knee`, a wild x can still do anything: this bounds h, not the gradient.

    Parameters
    ----------
    knee : float
        The residual at which the parabola goes over into its tangent, in the units of y.

    Examples
    --------
    >>> huber = Huber(knee=1.0)
    >>> [(huber.value(z, 0.0), huber.slope(z, 0.0)) for z in (0.5, -1.0, 1e6)]
    [(0.125, 0.5), (0.5, -1.0), (999999.5, 1.0)]
    """

    knee: float = 1.0

    def check(self):
        if not 0.0 < self.knee < math.inf:
            raise ValueError(f"knee is a residual: expected 0 < knee < inf, got {self.knee}")

    def value(self, z, y):
        r = abs(z - y)
        if r > self.knee:
            return self.knee * (r - 0.5 * self.knee)
        return 0.5 * r * r

    def slope(self, z, y):
        r = z - y
        if r > self.knee:
            return self.knee
        if r < -self.knee:
            return -self.knee
        return r

    def lipschitz(self):
        return self.knee

    def curvature(self):
        return 0.0


@rule
class Pinball:
    """tau (y - z) below the target, (1 - tau) (z - y) above it: regression towards the tau-quantile.

    Predicting too little costs tau and too much costs 1 - tau, which balance where a share tau of the
    targets lies below z. The slope is 0 at z = y.

    Parameters
    ----------
    tau : float
        The quantile to predict, strictly between 0 and 1; ½ is half the absolute loss.

    Examples
    --------
    >>> Pinball(tau=0.75).value(0.0, 4.0), Pinball(tau=0.75).value(4.0, 0.0)
    (3.0, 1.0)
    """

    tau: float = 0.5

    def check(self):
        if not 0.0 < self.tau < 1.0:
            raise ValueError(f"tau is the quantile to predict: expected 0 < tau < 1, got {self.tau}")

    def value(self, z, y):
        r = y - z
        return self.tau * r if r >= 0.0 else (self.tau - 1.0) * r

    def slope(self, z, y):
        r = y - z
        if r > 0.0:
            return -self.tau
        if r < 0.0:
            return 1.0 - self.tau
        return r  # 0 or NaN

    def lipschitz(self):
        return max(self.tau, 1.0 - self.tau)

    def curvature(self):
        return 0.0


@rule
class EpsilonInsensitive:
    """max(0, |z - y| - epsilon): being off by `epsilon` costs nothing, as in support vector regression.

    The slope is 0 on the edge of the tube.

    Parameters
    ----------
    epsilon : float
        Half the width of the tube, in the units of y; at 0 this is the absolute loss.

    Examples
    --------
    >>> tube = EpsilonInsensitive(epsilon=0.5)
    >>> [(tube.value(z, 0.0), tube.slope(z, 0.0)) for z in (-2.0, -0.5, 0.25)]
    [(1.5, -1.0), (0.0, 0.0), (0.0, 0.0)]
    """

    epsilon: float = 0.1

    def check(self):
        if not 0.0 <= self.epsilon < math.inf:
            raise ValueError(f"epsilon is half a width: expected 0 <= epsilon < inf, got {self.epsilon}")

    def value(self, z, y):
        excess = abs(z - y) - self.epsilon
        return 0.0 if excess <= 0.0 else excess

    def slope(self, z, y):
        r = z - y
        if r > self.epsilon:
            return 1.0
        if r < -self.epsilon:
            return -1.0
        return r - r  # 0 or NaN

    def lipschitz(self):
        return 1.0

    def curvature(self):
        return 0.0


@rule
class Hinge:
    """max(0, 1 - y z), labels -1 and +1: the support vector machine.

    A row classified right with a margin of 1 or more has slope 0 and so size 0, however large x is.

    Examples
    --------
    >>> [(Hinge().value(z, 1.0), Hinge().slope(z, 1.0)) for z in (-1.0, 1.0, 1e6)]
    [(2.0, -1.0), (0.0, 0.0), (0.0, 0.0)]
    """

    def value(self, z, y):
        short = 1.0 - y * z
        return 0.0 if short <= 0.0 else short

    def slope(self, z, y):
        short = 1.0 - y * z
        if short > 0.0:
            return -y
        if short <= 0.0:
            return 0.0
        return short  # NaN

    def lipschitz(self):
        return 1.0

    def curvature(self):
        return 0.0


@rule
class SquaredHinge:
    """max(0, 1 - y z)², labels -1 and +1, without a ½ in front: scikit-learn's `squared_hinge`.

    Smooth at a margin of 1, at the price of a slope that grows as the margin falls.

    Examples
    --------
    >>> [(SquaredHinge().value(z, 1.0), SquaredHinge().slope(z, 1.0)) for z in (-1.0, 0.5, 2.0)]
    [(4.0, -4.0), (0.25, -1.0), (0.0, 0.0)]
    """

    def value(self, z, y):
        short = 1.0 - y * z
        return 0.0 if short <= 0.0 else short * short

    def slope(self, z, y):
        short = 1.0 - y * z
        return 0.0 if short <= 0.0 else -2.0 * y * short

    def lipschitz(self):
        return math.inf

    def curvature(self):
        return 0.0


@rule
class Logistic:
    """ln(1 + exp(-y z)), labels -1 and +1, in nats: logistic regression.

    Written with exp(-|y z|), which never overflows; far on the wrong side it is the line -y z.

    Examples
    --------
    >>> round(Logistic().value(0.0, 1.0), 6), Logistic().slope(0.0, 1.0)
    (0.693147, -0.5)
    >>> [Logistic().value(z, -1.0) for z in (-1e6, 1e6)]
    [0.0, 1000000.0]
    """

    def value(self, z, y):
        margin = y * z
        rest = log1p(math.exp(-abs(margin)))
        return rest if margin >= 0.0 else rest - margin

    def slope(self, z, y):
        margin = y * z
        e = math.exp(-abs(margin))
        top = e if margin >= 0.0 else 1.0  # a choice of numbers: half the rounds would guess a branch wrong
        return -y * top / (1.0 + e)

    def lipschitz(self):
        return 1.0

    def curvature(self):
        return 0.0


def slope_at(loss, z, y):
    """The slope of a loss at a prediction; NaN if that or the target is infinite: then so is the loss."""
    return loss.slope(z, y) if abs(z) < math.inf and abs(y) != math.inf else math.nan


def refuse_zero_one(loss, y):
    """Raise if a loss for labels -1 and +1 is given labels 0 and 1, of which it would learn only half."""
    for_labels = isinstance(loss, Hinge | SquaredHinge | Logistic)
    if for_labels and len(y) and np.fmin.reduce(y) == 0.0 and np.fmax.reduce(y) == 1.0:
        raise ValueError(f"{loss!r} wants labels -1 and +1, but these are 0 and 1: pass 2 * y - 1")
