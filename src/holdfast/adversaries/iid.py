"""I.i.d. streams (section 4): sizes with a known p-quantile, with or without atoms; heavy-tailed features."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import axes
from holdfast.adversaries.gradients import Gradients
from holdfast.adversaries.replay import Replay
from holdfast.domains import Box
from holdfast.losses import Logistic
from holdfast.protocols import Tail
from holdfast.rule import frozen, replaced, rule


@rule
class Uniform:
    """Outliers between 1 and 1 + `width` times the quantile.

    >>> Uniform(width=8.0).stretch(np.array([0.0, 0.5]))
    array([1., 5.])
    """

    width: float = 1.0

    def check(self) -> None:
        if not 0.0 < self.width < math.inf:
            raise ValueError(f"width must be positive: got {self.width}")

    def stretch(self, v: np.ndarray) -> np.ndarray:
        return 1.0 + self.width * v


@rule
class Exponential:
    """Outliers that exceed the quantile by `scale` times the quantile on average, with an exponential tail.

    >>> Exponential(scale=2.0).stretch(np.array([0.0, 1.0 - math.exp(-3.0)]))
    array([1., 7.])
    """

    scale: float = 1.0

    def check(self) -> None:
        if not 0.0 < self.scale < math.inf:
            raise ValueError(f"scale must be positive: got {self.scale}")

    def stretch(self, v: np.ndarray) -> np.ndarray:
        return 1.0 - self.scale * np.log1p(-v)


@rule
class Pareto:
    """Outliers that exceed r times the quantile with probability r^-exponent; no mean if exponent ≤ 1.

    >>> Pareto(exponent=0.5).stretch(np.array([0.0, 0.75]))
    array([ 1., 16.])
    """

    exponent: float = 1.0

    def check(self) -> None:
        if not self.exponent > 0.0:
            raise ValueError(f"exponent must be positive: got {self.exponent}")

    def stretch(self, v: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # an outlier may be infinite
            return (1.0 - v) ** (-1.0 / self.exponent)


@rule
class QuantileStream:
    """Linear losses with i.i.d. gradients: sizes with p-quantile G_p = G, directions ±e_i.

    A size is uniform below G with probability p, equal to G with probability `atom`, and above G otherwise.
    The rows have exactly these sizes in every p-norm, so all sizes of the atom are equal.

    With an atom the distribution of the sizes jumps at G from p to p + atom, so G is the quantile of every
    level between. A filter with a level above p loses few inliers. A filter with level p loses a fixed share
    of the atom for ever. So the theorem of section 4 must assume that there is no atom.

    Parameters:
        p: P(size < G).
        rounds, dim: The extent.
        seed: For sizes and directions.
        G: The quantile G_p.
        tail (Uniform, Exponential or Pareto): How far above G the outliers are.
        atom: P(size = G), at most 1 - p.

    Attributes:
        inliers (bool array): The rounds with size at most G.

    Guarantee: without an atom, `docs/math.md`, 6.2, for `Quantile(p)`; with one, see 6.6.

    >>> stream = QuantileStream(p=0.5, rounds=6, dim=2, seed=4, tail=Pareto(0.5), atom=0.25)
    >>> stream.stream.G.round(2)
    array([[  0.  ,  25.48],
           [ -1.  ,   0.  ],
           [  0.  , -60.69],
           [  0.  ,   0.54],
           [  0.  ,   1.  ],
           [  0.  ,   0.48]])
    >>> stream.inliers
    array([False,  True, False,  True,  True,  True])
    """

    p: float
    rounds: int
    dim: int = 1
    seed: int = 0
    G: float = 1.0
    tail: Tail = Pareto(1.0)
    atom: float = 0.0
    stream: Any = None
    inliers: Any = None

    def check(self) -> Any:
        if not 0.0 < self.p < 1.0:
            raise ValueError(f"p is the share of inliers: expected 0 < p < 1, got {self.p}")
        if not 0.0 <= self.atom <= 1.0 - self.p:
            raise ValueError(f"atom is a share of at most 1 - p: got {self.atom} and p = {self.p}")
        rng = np.random.default_rng(self.seed)
        level, v = rng.random(self.rounds), rng.random(self.rounds)
        sizes = np.where(level < self.p, self.G * v, self.G * self.tail.stretch(v))
        sizes[(level >= self.p) & (level < self.p + self.atom)] = self.G
        return replaced(
            self,
            stream=Gradients(sizes[:, None] * axes(rng, self.rounds, self.dim)),
            inliers=frozen(sizes <= self.G),
        )

    extent, start, reveal = draws.extent, draws.start, draws.reveal


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
