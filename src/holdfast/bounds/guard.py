"""Theorem H: several filters, each on a size of its own, before one learner."""

from holdfast.bounds.topk import skipped_factor


def theorem_h(B, D, largest, outliers, filters, error=2.0**-7):
    """B + D [largest · outliers + Σ c'/(c'-1) G k], the sum over the `filters` of `Guarded`.

    Each of them is a triple (G, k, c): the largest size of an inlier, the budget after the last round, and
    the slack. For the gradient filter G is the largest gradient of an inlier. For the feature filter it is
    L A, the Lipschitz constant times the largest feature size of an inlier. With labels=True the gradient
    filter counts twice, once for each label, with the budget for the rounds of this label alone.

    `largest` is the largest gradient that can be kept: c G of the gradient filter (of both labels the larger
    one), or c L A if gradients are not filtered. `outliers` is the number of outliers. B is the learner's
    bound for gradients up to `largest`.

    It holds for all sets of inliers such that, at any time and for every filter, at most k of the rounds it
    has judged so far are outliers with a size above that of all inliers (`docs/math.md`, 7). The histogram
    makes c into c' = c / (1 + error), as in `theorem_g`.

    10 outliers, and two filters with the same budget and slack; then a feature filter with more of both:

    >>> theorem_h(B=0.0, D=1.0, largest=2.0, outliers=10, filters=[(1.0, 10, 2.0), (1.0, 10, 2.0)], error=0.0)
    60.0
    >>> theorem_h(B=0.0, D=1.0, largest=2.0, outliers=10, filters=[(1.0, 10, 2.0), (1.0, 50, 6.0)], error=0.0)
    100.0
    """
    skipped = sum(skipped_factor(slack, error) * G * k for G, k, slack in filters)
    return B + D * (largest * outliers + skipped)
