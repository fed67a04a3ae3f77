"""Corollary 2: convex losses, Top-k before OGD with adaptive steps, Euclidean norm."""

import math

import numpy as np

from holdfast.bounds.checks import columns, largest
from holdfast.bounds.learner import ogd, ogd_hindsight
from holdfast.bounds.topk import theorem_1, theorem_1_hindsight, theorem_1_sizes


def corollary_2(D, G, k, T):
    """sqrt(2) D G sqrt(T + 3k) + 4 D G k, with at most T/2 for the k under the root.

    A kept outlier takes the place of an inlier and has at most twice its size, hence T + 3k; and there are as
    many inliers as kept outliers, hence T/2 (`docs/math.md`, Lemma A3 and 3.1).

    >>> round(corollary_2(D=1.0, G=1.0, k=10, T=10_000))
    182
    """
    return theorem_1(ogd(D, G, T + 3.0 * min(k, T / 2.0)), D, G, k)


def corollary_2_paper(D, G, k, T):
    """2 D G (sqrt(T) + 2k + sqrt(k) + 2), eq. (6), second line.

    True, though its proof bounds a kept outlier by G where 2G is right.

    >>> round(corollary_2_paper(D=1.0, G=1.0, k=10, T=10_000))
    250
    """
    return corollary_2_squares_paper(D, G, k, G * G * T)


def corollary_2_squares(D, G, k, squares):
    """The smaller of sqrt(2) D sqrt(s) + D G (4k + 2 sqrt(2k)) and sqrt(10) D sqrt(s) + 4 D G k.

    `squares` is s = Σ ‖g‖² over the inliers. The squares of the kept outliers add up to at most 4 k G², and
    to at most 4 s.

    >>> round(corollary_2_squares(D=1.0, G=1.0, k=10, squares=100.0), 1)
    63.1
    """
    root = min(math.sqrt(2.0 * squares) + 2.0 * G * math.sqrt(2.0 * k), math.sqrt(10.0 * squares))
    return theorem_1(D * root, D, G, k)


def corollary_2_squares_paper(D, G, k, squares):
    """2 D sqrt(Σ ‖g‖²) + 2 D G (2k + sqrt(k) + 2), eq. (6), first line; the sum is over the inliers.

    >>> round(corollary_2_squares_paper(D=1.0, G=1.0, k=10, squares=100.0), 1)
    70.3
    """
    return 2.0 * D * math.sqrt(squares) + 2.0 * D * G * (2.0 * k + math.sqrt(k) + 2.0)


def corollary_2_sizes(D, sizes, k, slack=2.0):
    """sqrt(2) D sqrt(Σ ‖g‖² + c² (x_1² + ... + x_k²)) + (c + c/(c-1)) D (x_1 + ... + x_k).

    The sum is over the inliers, and x their `sizes` in descending order.

    >>> round(corollary_2_sizes(D=1.0, sizes=[0.1] * 99 + [1.0], k=1), 1)
    7.5
    """
    learned = ogd_hindsight(D, np.concatenate([np.asarray(sizes, float), slack * largest(sizes, k)]))
    return theorem_1_sizes(learned, D, sizes, k, slack)


def corollary_2_hindsight(D, sizes, kept, inliers):
    """sqrt(2) D sqrt(Σ ‖g‖² over the kept) + D Σ (sizes of kept outliers and skipped inliers).

    Holds behind any filter; for `TopK` it is at most `corollary_2_sizes`.

    >>> round(corollary_2_hindsight(1.0, [1.0, 1.0, 9.0], [False, True, False], [True, True, False]), 3)
    2.414
    """
    sizes, kept, inliers = columns(sizes, kept, inliers)
    return theorem_1_hindsight(ogd_hindsight(D, sizes[kept]), D, sizes, kept, inliers)
