"""The learner: online gradient descent on the rounds it is given."""

import math

import numpy as np
from numpy.typing import ArrayLike

from holdfast.norms import euclidean


def ogd(D: float, G: float, T: float, scale: float = 1.0) -> float:
    """sqrt(2) D G sqrt(T): regret of `OGD` with `Adaptive` steps on T rounds of size at most G.

    Convex losses, Euclidean norm (`docs/math.md`, 3.1). With `scale` s, sqrt(2) becomes (s + 1/s) / sqrt(2).

    >>> ogd(D=1.0, G=1.0, T=200)
    20.0
    """
    return (scale + 1.0 / scale) / math.sqrt(2.0) * D * G * math.sqrt(T)


def ogd_paper(D: float, G: float, T: float) -> float:
    """2 D G sqrt(T), the constant that the paper takes from the literature.

    >>> ogd_paper(D=1.0, G=1.0, T=100)
    20.0
    """
    return 2.0 * D * G * math.sqrt(T)


def ogd_hindsight(D: float, sizes: ArrayLike, scale: float = 1.0) -> float:
    """sqrt(2) D sqrt(Σ ‖g‖²), over the `sizes` of the rounds learned from.

    >>> ogd_hindsight(D=1.0, sizes=[10.0, 10.0])
    20.0
    """
    return ogd(D, euclidean(np.asarray(sizes, dtype=np.float64)), 1.0, scale)


def ogd_strongly_convex(G: float, sigma: float, T: float) -> float:
    """G² (1 + ln T) / (2 sigma): `OGD` with `StronglyConvex` steps on sigma-strongly convex losses.

    `docs/math.md`, 3.2; T counts the rounds learned from.

    >>> ogd_strongly_convex(G=2.0, sigma=1.0, T=1)
    2.0
    """
    return G * G * (1.0 + math.log(T)) / (2.0 * sigma)


def ogd_strongly_convex_hindsight(sigma: float, sizes: ArrayLike) -> float:
    """Σ ‖g_n‖² / (2 sigma n), over the `sizes` of the rounds learned from, in the order of time.

    >>> ogd_strongly_convex_hindsight(sigma=1.0, sizes=[2.0, 2.0])
    3.0
    """
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return float(np.sum(squares / (2.0 * sigma * np.arange(1, len(squares) + 1))))
