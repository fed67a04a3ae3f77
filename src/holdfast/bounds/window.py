"""Theorem W: filters with a window."""

import math

from holdfast.bounds.budget import binomial_budget
from holdfast.bounds.checks import probability
from holdfast.bounds.topk import skipped_factor, topshare_budget

_STEPS = 32  # of a block, in `TopShare`


def theorem_w(B, D, G, K, slack=2.0, error=2.0**-7):
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
    for largest, budget in zip(G, K, strict=True):
        total += budget * (slack * max(before, largest) + skipped * largest)
        before = largest
    return B + D * total


def window_budget(share, window, delta, patience=0, first=False):
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
