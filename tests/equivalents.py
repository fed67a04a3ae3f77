"""Slow and simple versions of fast algorithms: by sorting, by scipy, or by trying all subsets."""

import bisect
import itertools
import math

import numpy as np
from scipy.stats import binom


def finite(sizes):
    return [size for size in sizes if math.isfinite(size)]


def topk_thresholds(sizes, k, slack):
    """Algorithm 1, by sorting all sizes so far in every round."""
    seen, thresholds = [0.0] * (k + 1), []
    for size in sizes:
        seen.append(size)
        thresholds.append(slack * sorted(seen)[-(k + 1)])
    return np.array(thresholds)


def share_budget(t, share, level):
    """The smallest k with P(Bin(t, share) > k) <= level."""
    return bisect.bisect_left(range(t), True, key=lambda k: binom.sf(k, t, share) <= level)


def topshare_thresholds(sizes, share, delta, slack):
    seen, thresholds = [], []
    for t, size in enumerate(sizes, start=1):
        seen.append(size)
        k = share_budget(t, share, 6 * delta / (math.pi * t) ** 2)
        thresholds.append(slack * sorted(seen)[-(k + 1)] if k < t else 0.0)
    return np.array(thresholds)


def remembered(t, window):
    """The first of the rounds that a filter with a window remembers in round t, counted from 0."""
    return max(0, t // window - 1) * window


def windowed_thresholds(sizes, window, slack, budgets):
    """Algorithm 1 with a window, by sorting what it remembers in every round; `budgets` has k_t."""
    thresholds = []
    for t in range(len(sizes)):
        memory = sorted(sizes[remembered(t, window) : t + 1])
        thresholds.append(slack * float(memory[-(budgets[t] + 1)]) if budgets[t] < len(memory) else 0.0)
    return np.array(thresholds)


def window_budgets(rounds, window, share, delta, patience=0):
    """k_t of `TopShare` with a window of fewer than 512 rounds."""
    found, steps = [], min(window, 32)
    for t in range(rounds):
        n = t + 1 - remembered(t, window)
        if n <= window and t < window:
            end, level = n, 6 * delta / (math.pi * n) ** 2
        else:
            ends = [window + (i + 1) * window // steps for i in range(steps)]
            end, level = next(end for end in ends if end >= n), delta / steps
        found.append(max(share_budget(end, share, level), min(max(int(0.4 * end), end - 200), patience)))
    return np.array(found, dtype=int)


def windowed_inlier_sets(rounds, window, budgets):
    """All sets of inliers, as masks, with at most budgets[t] outliers among what is remembered in round t."""
    firsts = [remembered(t, window) for t in range(rounds)]
    for outliers in itertools.product([False, True], repeat=rounds):
        count = np.concatenate([[0], np.cumsum(outliers, dtype=int)])
        if all(count[t + 1] - count[firsts[t]] <= budgets[t] for t in range(rounds)):
            yield ~np.array(outliers, dtype=bool)


def bernstein_rank(n, p, delta):
    if n == 0:
        return 0
    L = math.log(1 / delta)
    return max(0, math.ceil(n * (p - math.sqrt(2 * p * (1 - p) * L / n) - L / (3 * n)) - 1e-9))


def binomial_rank(n, p, delta):
    """The largest r with P(Bin(n, p) <= r - 1) <= delta."""
    return bisect.bisect_left(range(n), True, key=lambda r: binom.cdf(r, n, p) > delta)


def newsvendor_rank(n, p, ahead):
    """The (1 / (1 + lambda))-quantile of Bin(n + 1, p), capped at n, with lambda = p * ahead."""
    return min(n, int(binom.ppf(1 / (1 + p * ahead), n + 1, p))) if ahead > 0 else n


def quantile_thresholds(sizes, rank):
    """Algorithm 2, by sorting the past in every round; `rank(n)` is the order statistic after n sizes."""
    past, thresholds = [], []
    for size in sizes:
        r = rank(len(past))
        thresholds.append(sorted(past)[r - 1] if r > 0 else -math.inf)
        past.append(size)
    return np.array(thresholds)


def inlier_sets(rounds, budgets):
    """All sets of inliers, as masks, with at most budgets[t] outliers among the first t + 1 rounds."""
    for outliers in itertools.product([False, True], repeat=rounds):
        if np.all(np.cumsum(outliers) <= budgets):
            yield ~np.array(outliers, dtype=bool)
