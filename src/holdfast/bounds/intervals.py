"""Theorems I and II: how many good rounds intervals miss, and how wide they become."""

import math

from holdfast.bounds.checks import above_one, probability


def theorem_i(
    coverage: float,
    step: float,
    rise: float,
    fall: float = 0.0,
    covered: int = 0,
    missed: int = 0,
    ignored: int = 0,
    held: float = 0.0,
) -> tuple[float, float]:
    """Between which numbers Σ (m - α) lies, over the inliers of a stretch of rounds, for `Tracker`.

    m is 1 if an inlier was missed, else 0, and α = 1 - coverage. `rise` is ln(V/q), at least 0: q is the
    width before the stretch, V the largest score of an inlier whose miss counted. `fall` is ln(q/v), v the
    smallest score of an inlier that was covered. `covered` and `missed` are the numbers of outliers that
    were covered, and whose miss counted; `ignored` is that of inliers whose miss did not count. `held` is
    how far the width was held up, in steps, as the tracker counts it.

    With k outliers in 1,000 rounds of about the same scores, the misses of the good ones are 100 up to:

    >>> [round(end, 1) for end in theorem_i(0.9, 0.05, rise=1.0, fall=1.0, covered=10, missed=10)]
    [-29.1, 21.9]
    """
    alpha = 1.0 - probability("coverage", coverage)
    most = max(rise, 0.0) / step + coverage + alpha * covered + coverage * ignored
    least = max(fall, 0.0) / step + alpha + coverage * missed + held
    return -least, most


def theorem_ii(coverage: float, step: float, largest: float, slack: float, first: float = 0.0) -> float:
    """max(first, slack · largest · exp(step · coverage)): no width of `Tracker` exceeds this.

    `largest` is the largest score of an inlier, `slack` that of the filter, and `first` the first width if it
    was not found from scores that the filter has kept. It holds for every set of inliers for which Lemma A1
    holds: with `TopK`, for all that leave out at most k rounds.

    >>> round(theorem_ii(coverage=0.9, step=0.05, largest=1.0, slack=8.0), 2)
    8.37
    """
    return max(first, above_one(slack) * largest * math.exp(step * probability("coverage", coverage)))
