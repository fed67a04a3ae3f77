"""Corollaries 2 and 3: Top-k before online gradient descent, for convex and for strongly convex losses."""

import math

import numpy as np
from numpy.typing import ArrayLike

from holdfast.bounds.checks import above_one, columns, largest
from holdfast.bounds.learner import ogd, ogd_hindsight, ogd_strongly_convex, ogd_strongly_convex_hindsight
from holdfast.bounds.topk import theorem_1, theorem_1_hindsight, theorem_1_sizes


def corollary_2(D: float, G: float, k: int, T: int) -> float:
    """sqrt(2) D G sqrt(T + 3k) + 4 D G k, with at most T/2 for the k under the root.

    A kept outlier takes the place of an inlier and has at most twice its size, hence T + 3k; and there are as
    many inliers as kept outliers, hence T/2 (`docs/math.md`, Lemma A3 and 3.1).

    >>> round(corollary_2(D=1.0, G=1.0, k=10, T=10_000))
    182
    """
    return theorem_1(ogd(D, G, T + 3.0 * min(k, T / 2.0)), D, G, k)


def corollary_2_paper(D: float, G: float, k: int, T: int) -> float:
    """2 D G (sqrt(T) + 2k + sqrt(k) + 2), eq. (6), second line.

    True, though its proof bounds a kept outlier by G where 2G is right.

    >>> round(corollary_2_paper(D=1.0, G=1.0, k=10, T=10_000))
    250
    """
    return corollary_2_squares_paper(D, G, k, G * G * T)


def corollary_2_squares(D: float, G: float, k: int, squares: float) -> float:
    """The smaller of sqrt(2) D sqrt(s) + D G (4k + 2 sqrt(2k)) and sqrt(10) D sqrt(s) + 4 D G k.

    `squares` is s = Σ ‖g‖² over the inliers. The squares of the kept outliers add up to at most 4 k G², and
    to at most 4 s.

    >>> round(corollary_2_squares(D=1.0, G=1.0, k=10, squares=100.0), 1)
    63.1
    """
    root = min(math.sqrt(2.0 * squares) + 2.0 * G * math.sqrt(2.0 * k), math.sqrt(10.0 * squares))
    return theorem_1(D * root, D, G, k)


def corollary_2_squares_paper(D: float, G: float, k: int, squares: float) -> float:
    """2 D sqrt(Σ ‖g‖²) + 2 D G (2k + sqrt(k) + 2), eq. (6), first line; the sum is over the inliers.

    >>> round(corollary_2_squares_paper(D=1.0, G=1.0, k=10, squares=100.0), 1)
    70.3
    """
    return 2.0 * D * math.sqrt(squares) + 2.0 * D * G * (2.0 * k + math.sqrt(k) + 2.0)


def corollary_2_sizes(D: float, sizes: ArrayLike, k: int, slack: float = 2.0) -> float:
    """sqrt(2) D sqrt(Σ ‖g‖² + c² (x_1² + ... + x_k²)) + (c + c/(c-1)) D (x_1 + ... + x_k).

    The sum is over the inliers, and x their `sizes` in descending order.

    >>> round(corollary_2_sizes(D=1.0, sizes=[0.1] * 99 + [1.0], k=1), 1)
    7.5
    """
    learned = ogd_hindsight(D, np.concatenate([np.asarray(sizes, float), slack * largest(sizes, k)]))
    return theorem_1_sizes(learned, D, sizes, k, slack)


def corollary_2_hindsight(D: float, sizes: ArrayLike, kept: ArrayLike, inliers: ArrayLike) -> float:
    """sqrt(2) D sqrt(Σ ‖g‖² over the kept) + D Σ (sizes of kept outliers and skipped inliers).

    Holds behind any filter; for `TopK` it is at most `corollary_2_sizes`.

    >>> round(corollary_2_hindsight(1.0, [1.0, 1.0, 9.0], [False, True, False], [True, True, False]), 3)
    2.414
    """
    sizes, kept, inliers = columns(sizes, kept, inliers)
    return theorem_1_hindsight(ogd_hindsight(D, sizes[kept]), D, sizes, kept, inliers)


def corollary_3(G: float, b: float, sigma: float, k: int, T: int, slack: float = 2.0) -> float:
    """[c² G² (1 + ln T) + k G² c²/(c²-1) + k b²] / (2 sigma).

    b is the largest ‖∇f_t(u)‖ of a round with ‖g_t‖ <= c G: the comparator's own gradients. All losses are
    sigma-strongly convex, those of kept outliers too, and n counts kept rounds. Every skipped inlier costs at
    most ‖g‖² / (2 sigma), the skipped squares add up to k G² c²/(c²-1) (Lemma A2, squared), and every kept
    outlier costs at most b² / (2 sigma).

    >>> round(corollary_3(G=1.0, b=1.0, sigma=1.0, k=10, T=10_000), 1)
    32.1
    """
    c2 = above_one(slack) ** 2
    return ogd_strongly_convex(slack * G, sigma, T) + k * (G * G * c2 / (c2 - 1.0) + b * b) / (2.0 * sigma)


def corollary_3_paper(G: float, b: float, sigma: float, k: int, T: int) -> float:
    """2 G² (ln T + 1) / sigma + 5 (2G + b)² (k + 1) / (2 sigma).

    >>> round(corollary_3_paper(G=1.0, b=1.0, sigma=1.0, k=10, T=10_000), 1)
    267.9
    """
    return 2.0 * G * G * (math.log(T) + 1.0) / sigma + 2.5 * (2.0 * G + b) ** 2 * (k + 1) / sigma


def corollary_3_hindsight(
    sigma: float, sizes: ArrayLike, kept: ArrayLike, inliers: ArrayLike, comparator_sizes: ArrayLike
) -> float:
    """[Σ ‖g_n‖²/n over the kept + Σ ‖g‖² over skipped inliers + Σ ‖∇f(u)‖² over kept outliers] / (2 sigma).

    `comparator_sizes` are the ‖∇f_t(u)‖. Holds behind any filter.

    >>> kept, inliers = [False, True, True], [True, True, False]
    >>> corollary_3_hindsight(0.5, [1.0, 1.0, 2.0], kept, inliers, comparator_sizes=[0.0, 0.0, 3.0])
    13.0
    """
    sizes, kept, inliers = columns(sizes, kept, inliers)
    comparator_sizes = np.asarray(comparator_sizes, dtype=np.float64)
    lost = np.sum(sizes[inliers & ~kept] ** 2) + np.sum(comparator_sizes[kept & ~inliers] ** 2)
    return ogd_strongly_convex_hindsight(sigma, sizes[kept]) + float(lost) / (2.0 * sigma)
