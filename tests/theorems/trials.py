"""What the theorems are tried on, and how a claim is judged: up to rounding, or up to sampling error."""

import itertools
import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

import holdfast as hf
from holdfast.adversaries import Accumulating, FeatureBlowUp, LabelFlip, Ramp
from holdfast.regret import worst_case

KEEP = ("losses", "sizes", "kept", "products", "gradients", "iterates", "average")
ROUNDING = 1e-11
POISONERS = [FeatureBlowUp, LabelFlip, Ramp, Accumulating]

# Ties, zeros, the tiny and the huge.
entries = st.sampled_from([0.0, 0.5, -1.0, 1.0, 1.0, -2.0, 2.0, 3.0, 1e-300, 1e300, -1e300]) | st.floats(
    -10.0, 10.0, width=16
)
budgets = st.integers(0, 3)
slacks = st.sampled_from([1.25, 1.5, 2.0, 2.0, 3.0])


def streams(rounds, dim):
    """Gradients, one a row."""
    return st.lists(st.tuples(*[entries] * dim), min_size=1, max_size=rounds).map(np.array)


def clean(loss, seed, rounds=400, dim=3):
    """Data with a label that the first feature decides."""
    X = np.random.default_rng(seed).standard_normal((rounds, dim))
    return hf.Replay(X, np.where(X[:, 0] > 0.0, 1.0, -1.0), loss)


def playing(player, adversary):
    return hf.play(player, adversary, keep=KEEP, compiled=False)


def levels(record, k):
    """Every G(𝒮) that leaving out k rounds allows, and whose square a float can hold."""
    return [float(size) for size in np.sort(record.sizes)[::-1][: k + 1] if has_a_square(size)]


def has_a_square(size):
    """Whether the square of a size is neither infinite nor, if the size is not, zero."""
    return size == 0.0 or 1e-150 < size < 1e150


def worst_up_to(record, G, k):
    """The worst regret over all 𝒮 without sizes above G that leave out at most k rounds."""
    small = record.sizes <= G
    return worst_case(replace(record, sizes=np.where(small, record.sizes, np.nan)), k - int((~small).sum()))


def in_order(*values, scale=0.0):
    """Whether no value exceeds the next by more than rounding, of itself or of what it was summed from."""
    pairs = itertools.pairwise(map(float, values))
    return all(a <= b + ROUNDING * (abs(b) + scale) if b < math.inf else a == a for a, b in pairs)


def mean_and_error(values):
    return np.mean(values), np.std(values, ddof=1) / math.sqrt(len(values))


def rarely_called(failures, delta):
    """Whether the frequency of failure is below delta, but for four sampling errors."""
    return np.mean(failures) <= delta + 4.0 * math.sqrt(delta * (1.0 - delta) / len(failures))
