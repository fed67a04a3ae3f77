"""Corollary 3: strongly convex losses, Top-k before OGD with steps 1 / (sigma n)."""

import math

import numpy as np

from holdfast.bounds.checks import above_one, columns
from holdfast.bounds.learner import ogd_strongly_convex, ogd_strongly_convex_hindsight


def corollary_3(G, b, sigma, k, T, slack=2.0):
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


def corollary_3_paper(G, b, sigma, k, T):
    """2 G² (ln T + 1) / sigma + 5 (2G + b)² (k + 1) / (2 sigma).

    >>> round(corollary_3_paper(G=1.0, b=1.0, sigma=1.0, k=10, T=10_000), 1)
    267.9
    """
    return 2.0 * G * G * (math.log(T) + 1.0) / sigma + 2.5 * (2.0 * G + b) ** 2 * (k + 1) / sigma


def corollary_3_hindsight(sigma, sizes, kept, inliers, comparator_sizes):
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
