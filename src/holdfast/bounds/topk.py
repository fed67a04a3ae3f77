"""Theorems 1, G, W and H: what filters add to the regret of a learner, and how many outliers to allow for."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from holdfast.bounds.checks import above_one, columns, largest, probability
from holdfast.filters.budget_schedule import end_of_step


def theorem_1(B: float, D: float, G: float, k: int, slack: float = 2.0) -> float:
    """B + (c + c/(c-1)) D G k, for every set of inliers that leaves out at most k rounds.

    `TopK(k, slack)` before a learner whose regret on the kept rounds is at most B if their sizes are at most
    c G; such a B must not shrink as rounds or sizes grow. At c = 2 the overhead is 4 D G k, and smallest
    (`docs/math.md`, 2).

    >>> theorem_1(B=0.0, D=1.0, G=1.0, k=10)
    40.0
    """
    return B + (above_one(slack) + slack / (slack - 1.0)) * D * G * k


def theorem_1_paper(B: float, D: float, G: float, k: int) -> float:
    """B + 4 D G (k + 1), eq. (4). At most k skipped rounds have sizes in (a/2, a], not k + 1: hence our k.

    >>> theorem_1_paper(B=0.0, D=1.0, G=1.0, k=10)
    44.0
    """
    return B + 4.0 * D * G * (k + 1)


def theorem_1_sizes(B: float, D: float, sizes: ArrayLike, k: int, slack: float = 2.0) -> float:
    """B + (c + c/(c-1)) D (x_1 + ... + x_k), with x the `sizes` of the inliers in descending order.

    >>> theorem_1_sizes(B=0.0, D=1.0, sizes=[1.0, 0.1, 0.1, 0.1], k=2)
    4.4
    """
    return theorem_1(B, D, float(largest(sizes, k).sum()), 1, slack)


def theorem_1_hindsight(B: float, D: float, sizes: ArrayLike, kept: ArrayLike, inliers: ArrayLike) -> float:
    """B + D Σ (sizes of the kept outliers and the skipped inliers), for any filter whatever.

    `sizes`, `kept` and `inliers` have an entry for each round. B bounds the regret on the kept rounds.

    >>> sizes, kept, inliers = [1.0, 1.0, 9.0, 2.0], [False, True, False, True], [True, True, False, False]
    >>> theorem_1_hindsight(B=0.0, D=1.0, sizes=sizes, kept=kept, inliers=inliers)
    3.0
    """
    sizes, kept, inliers = columns(sizes, kept, inliers)
    return B + D * float(sizes[kept != inliers].sum())


def best_slack(beta: float, T: int, D: float, k: int) -> float:
    """The slack c that makes Theorem 1 smallest for a learner with B(G) = beta G sqrt(T).

    1 + sqrt(Dk / (Dk + beta sqrt(T))), at most 2 (`docs/math.md`, 2). It counts on a learner that suffers as
    much as its bound allows; `OGD` pays only for the sizes it meets, and for it 2 is as good a choice.

    >>> round(best_slack(beta=2.0, T=10_000, D=1.0, k=25), 3)
    1.333
    """
    return 1.0 + math.sqrt(D * k / (D * k + beta * math.sqrt(T)))


def theorem_1_at_best_slack(beta: float, T: int, D: float, G: float, k: int) -> float:
    """G (sqrt(beta sqrt(T) + Dk) + sqrt(Dk))²: Theorem 1 for B(G) = beta G sqrt(T) and `best_slack`.

    >>> theorem_1_at_best_slack(beta=2.0, T=10_000, D=1.0, G=1.0, k=25)
    400.0
    """
    return G * (math.sqrt(beta * math.sqrt(T) + D * k) + math.sqrt(D * k)) ** 2


def theorem_g(B: float, D: float, G: float, k: int, slack: float = 2.0, error: float = 2.0**-7) -> float:
    """Theorem 1 for `TopShare`: B + (c + c'/(c'-1)) D G k, with k = `topshare_budget` of the last round.

    For every set of inliers that leaves out at most k_t of the first t rounds, for all t. If rounds are
    corrupted independently with probability at most `share`, the good rounds are such a set with probability
    1 - delta, for all T at once. B is the learner's bound for sizes up to c G. The histogram reads sizes low
    by a factor of up to 1 + `error`, hence c' = c / (1 + error); with `exact=True` the error is 0
    (`docs/math.md`, 4 and 5).

    >>> round(theorem_g(B=0.0, D=1.0, G=1.0, k=1), 3)
    4.016
    """
    return B + (slack + skipped_factor(slack, error)) * D * G * k


def skipped_factor(slack: float, error: float) -> float:
    """c'/(c'-1) with c' = c / (1 + error): the sizes of the inliers that a filter skips sum to this G k."""
    band = above_one(slack / (1.0 + error))
    return band / (band - 1.0)


def topshare_budget(share: float, T: int, delta: float) -> int:
    """k_T of `TopShare(share, delta)`: the smallest k with P(Bin(e, share) > k) <= 6 delta / (pi e)².

    Here e is the last round of the step to which round T belongs: T itself, before round 512.

    >>> topshare_budget(share=0.01, T=10_000, delta=1e-3)
    177
    """
    end = end_of_step(T, share)
    return binomial_budget(share, end, 6.0 * probability("delta", delta) / (math.pi * end) ** 2)


def binomial_budget(share: float, T: int, level: float) -> int:
    """The smallest k with P(Bin(T, share) > k) <= level.

    >>> binomial_budget(share=0.5, T=3, level=0.2)
    2
    """
    if probability("share", share, zero=True) == 0.0:
        return 0
    log_factorial = np.array([math.lgamma(j + 1.0) for j in range(T + 1)])
    j = np.arange(T + 1)
    ways = log_factorial[-1] - log_factorial - log_factorial[::-1]
    mass = np.exp(ways + j * math.log(share) + (T - j) * math.log1p(-share))
    above = np.cumsum(mass[::-1])[::-1] - mass
    return int(np.argmax(above <= level * (1.0 - 1e-7)))  # rounding must not lower it


_STEPS = 32  # of a block, in `TopShare`


def theorem_w(
    B: float, D: float, G: Sequence[float], K: Sequence[int], slack: float = 2.0, error: float = 2.0**-7
) -> float:
    """B + D Σ_b K_b (c max(G_{b-1}, G_b) + c'/(c'-1) G_b), the sum over the blocks of a filter with a window.

    G has the largest size of an inlier in each block, 0 for a block without one; K has the budget at the end
    of each block: k for `TopK`, `window_budget` for `TopShare`. B is the learner's regret on the kept rounds.
    It holds for all sets of inliers that leave out at most k_t of the rounds that the filter remembers in
    round t, for all t (`docs/math.md`, 4.1). The histogram makes c into c' = c / (1 + error), as in
    `theorem_g`; for `TopK` and with `exact=True` the error is 0.

    Ten times as large from the second block on:

    >>> theorem_w(B=0.0, D=1.0, G=[1.0, 10.0, 10.0], K=[5, 5, 5], error=0.0)
    420.0
    """
    if len(G) != len(K):
        raise ValueError(f"G and K have a number for each block: got {len(G)} and {len(K)} numbers")
    skipped, total, before = skipped_factor(slack, error), 0.0, 0.0
    for size, budget in zip(G, K, strict=True):
        total += budget * (slack * max(before, size) + skipped * size)
        before = size
    return B + D * total


def window_budget(share: float, window: int, delta: float, patience: int = 0, first: bool = False) -> int:
    """K_b of `TopShare(share, delta, window=window, patience=patience)`: its budget at the end of a block.

    The smallest k with P(Bin(2 W, share) > k) <= delta / 32 (for windows W below 32, delta / W), at least
    min(max(0.8 W, 2 W - 200), patience). In the first block it is the `topshare_budget` of round W, at least
    min(max(0.4 W, W - 200), patience).

    >>> window_budget(share=0.01, window=1000, delta=1e-3)
    40
    >>> window_budget(share=0.01, window=1000, delta=1e-3, patience=500)
    500
    """
    remembered = window if first else 2 * window
    if first:
        k = topshare_budget(share, window, delta)
    else:
        k = binomial_budget(share, remembered, probability("delta", delta) / min(window, _STEPS))
    return max(k, min(max(math.floor(0.4 * remembered), remembered - 200), patience))


def theorem_h(
    B: float,
    D: float,
    largest: float,
    outliers: int,
    filters: Iterable[tuple[float, int, float]],
    error: float = 2.0**-7,
) -> float:
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
