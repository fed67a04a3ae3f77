"""I.i.d. gradients whose sizes have a known p-quantile: the setting of section 4, with or without atoms."""

import math
from typing import Any

import numpy as np

from holdfast.adversaries import draws
from holdfast.adversaries.draws import axes, frozen
from holdfast.adversaries.gradients import Gradients
from holdfast.protocols import Tail
from holdfast.rule import replaced, rule


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
