"""Streams for the tests of theorems, and comparisons up to rounding or sampling error."""

import functools
import itertools
import math
from dataclasses import replace

import numpy as np
from equivalents import share_budget
from hypothesis import strategies as st

import holdfast as hf
from holdfast.adversaries import Accumulating, FeatureBlowUp, LabelFlip, Ramp
from holdfast.regret import worst_case

KEEP = ("losses", "sizes", "kept", "products", "gradients", "iterates", "average")
ROUNDING = 1e-11
POISONERS = [FeatureBlowUp, LabelFlip, Ramp, Accumulating]

# Ties, zeros, and very small and very large numbers.
entries = st.sampled_from([0.0, 0.5, -1.0, 1.0, 1.0, -2.0, 2.0, 3.0, 1e-300, 1e300, -1e300]) | st.floats(
    -10.0, 10.0, width=16
)
many = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0, 4.0, -1e6, 1e-9]) | st.floats(-10.0, 10.0, width=16)
budgets = st.integers(0, 3)
slacks = st.sampled_from([1.25, 1.5, 2.0, 2.0, 3.0])


def streams(rounds, dim):
    """Gradients, one in each row."""
    return st.lists(st.tuples(*[entries] * dim), min_size=1, max_size=rounds).map(np.array)


def clean(loss, seed, rounds=400, dim=3):
    """Data with the sign of the first feature as label."""
    X = np.random.default_rng(seed).standard_normal((rounds, dim))
    return hf.Replay(X, np.where(X[:, 0] > 0.0, 1.0, -1.0), loss)


def played(player, adversary):
    return hf.play(player, adversary, keep=KEEP, compiled=False)


@functools.cache
def topshare_budgets(share, delta, rounds):
    """k_t for t = 1, ..., rounds, by scipy."""
    levels = 6.0 * delta / (np.pi * np.arange(1, rounds + 1)) ** 2
    return np.array([share_budget(t, share, level) for t, level in enumerate(levels, start=1)])


def levels(record, k):
    """Every possible G(𝒮) with k outliers whose square neither overflows nor underflows."""
    return [float(size) for size in np.sort(record.size)[::-1][: k + 1] if has_a_square(size)]


def has_a_square(size):
    """Whether the square of a size neither overflows nor underflows."""
    return size == 0.0 or 1e-150 < size < 1e150


def worst_up_to(record, G, k):
    """The largest regret over all 𝒮 with sizes up to G and at most k outliers."""
    small = record.size <= G
    sizes = np.where(small, record.size, np.nan)[:, None]
    return worst_case(replace(record, sizes=sizes), k - int((~small).sum()))


def in_order(*values, scale=0.0):
    """Whether no value exceeds the next, up to rounding errors relative to the next value and to `scale`."""
    pairs = itertools.pairwise(map(float, values))
    return all(a <= b + ROUNDING * (abs(b) + scale) if b < math.inf else a == a for a, b in pairs)


def mean_and_error(values):
    return np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))


def at_most_delta(failures, delta):
    """Whether the share of failures is at most delta, up to four sampling errors."""
    return np.mean(failures) <= delta + 4.0 * math.sqrt(delta * (1.0 - delta) / len(failures))


LOSSES = (
    hf.Absolute(),
    hf.Huber(),
    hf.losses.Pinball(0.8),
    hf.losses.EpsilonInsensitive(0.1),
    hf.Logistic(),
    hf.Hinge(),
)


def targets_for(loss, y):
    """Targets that a loss has: labels for those of labels, whose slope is |y| otherwise."""
    return np.where(np.asarray(y) > 0.0, 1.0, -1.0) if isinstance(loss, hf.Logistic | hf.Hinge) else y


@functools.cache
def subsets(rounds):
    """All sets of inliers, one a row."""
    return np.array(list(itertools.product([True, False], repeat=rounds)), bool).reshape(-1, rounds)


def largest_ratio(left, right, scale):
    """The largest left / right, where left is more than rounding."""
    left = left - 1e-12 * scale
    some = left > 1e-9 * scale
    return float((left[some] / right[some]).max(initial=0.0))


def values(loss, z, y):
    return np.array([float(loss.value(float(a), float(b))) for a, b in zip(z, y, strict=True)])
