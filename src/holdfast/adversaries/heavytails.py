"""The online-to-batch example (section 4 of the paper): heavy-tailed features with infinite variance."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import axes, frozen
from holdfast.adversaries.replay import Replay
from holdfast.domains import Box
from holdfast.losses import Logistic
from holdfast.rule import replaced, rule


@rule
class HeavyTails:
    """Logistic regression on features with P(‖x‖ > r) = r^-(1+γ) for r ≥ 1.

    With γ > 0 the risk is finite; with γ < 1 the gradient has infinite variance, and the usual theory of
    stochastic gradients does not apply. With a filter at the p-quantile, p = 1 - 1/√T, bias and regret per
    round both tend to 0 like T^(-γ/(2(1+γ))).

    A feature vector is on one of the axes: ± r e_i. The label is +1 with the logistic probability
    1 / (1 + exp(-⟨truth, x⟩)), so `truth` minimises the risk over every domain that contains it.

    Parameters:
        gamma: γ, any positive number; between 0 and 1 in the paper.
        rounds, dim: 1 dimension in the paper.
        seed: For features and labels.
        truth (array or float): The minimiser, within [-1, 1] in every entry.
        p: The share of rounds that are inliers; 1 - 1/√rounds unless given.

    Attributes:
        inliers (bool array): The rounds with ‖x‖ ≤ X_p = (1 - p)^(-1/(1+γ)).
        domain (Box): [-1, 1] in every entry.

    Guarantee: For the average w̄ of the w_t: risk(w̄) - risk(u) ≤ E R_T(u, 𝒮_p) / T + D E[‖x‖; ‖x‖ > X_p].
    The last term is D (1 + 1/γ) (1 - p) X_p (`docs/math.md`, 6.7).

    >>> tails = HeavyTails(gamma=0.5, rounds=10_000, seed=1)
    >>> x = abs(tails.stream.X[:, 0])
    >>> float(x.min().round(3)), float(x.max().round(1)), round(float(tails.inliers.mean()), 3)
    (1.0, 363.7, 0.99)
    >>> [round(tails.risk([w]), 4) for w in (-0.5, 0.0, 0.5)]
    [1.6038, 0.6931, 0.5481]
    """

    gamma: float
    rounds: int
    dim: int = 1
    seed: int = 0
    truth: Any = 0.5
    p: "float | None" = None
    stream: Any = None
    inliers: Any = None
    domain: Any = None

    def check(self) -> Any:
        if not self.gamma > 0.0:
            raise ValueError(f"gamma must be positive, or the risk is infinite: got {self.gamma}")
        truth = np.zeros(self.dim) + np.asarray(self.truth, float)
        if not (abs(truth) <= 1.0).all():
            raise ValueError(f"truth must be in the domain, [-1, 1] in every entry: got {self.truth}")
        p = 1.0 - 1.0 / math.sqrt(max(self.rounds, 1)) if self.p is None else self.p
        if not 0.0 <= p < 1.0:
            raise ValueError(f"p is the share of inliers: expected 0 <= p < 1, got {p}")
        rng = np.random.default_rng(self.seed)
        rest = 1.0 - rng.random(self.rounds)  # P(‖x‖ > r) for r = ‖x_t‖: uniform on (0, 1]
        X = rest[:, None] ** (-1.0 / (1.0 + self.gamma)) * axes(rng, self.rounds, self.dim)
        with np.errstate(over="ignore"):
            y = np.where(rng.random(self.rounds) * (1.0 + np.exp(-X @ truth)) < 1.0, 1.0, -1.0)
        return replaced(
            self,
            truth=frozen(truth),
            p=p,
            stream=Replay(X, y, Logistic()),
            inliers=frozen(rest >= 1.0 - p),
            domain=Box(-1.0, 1.0, self.dim),
        )

    extent, start, reveal = draws.extent, draws.start, draws.reveal

    def risk(self, w: Iterable[float]) -> float:
        """E f(w) over features and labels, by numerical integration (needs SciPy)."""
        return sum(_risk_on_axis(self.gamma, *pair) for pair in zip(w, self.truth, strict=True)) / self.dim


def _risk_on_axis(gamma: float, w: float, truth: float) -> float:
    """E ln(1 + exp(-y w x)), with ln(1 + exp(-m)) = max(-m, 0) + ln(1 + exp(-|m|)), over v = P(‖x‖ > r)."""
    from scipy.integrate import quad

    exponent = -1.0 / (1.0 + gamma)

    def radius(v: float) -> float:
        return max(v, 1e-300) ** exponent

    def wrong(v: float) -> float:  # the probability of y w x < 0
        return 1.0 / (1.0 + math.exp(min(math.copysign(truth, w * truth) * radius(v), 700.0)))

    def rest(v: float) -> float:
        return math.log1p(math.exp(-abs(w) * radius(v)))

    linear = quad(wrong, 0.0, 1.0, weight="alg", wvar=(exponent, 0.0), limit=200)[0]  # weighted with r
    return abs(w) * linear + quad(rest, 0.0, 1.0, limit=200)[0]
