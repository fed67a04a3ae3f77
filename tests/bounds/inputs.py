"""Inputs and comparisons that the tests of bounds share."""

import itertools

from hypothesis import strategies as st

import holdfast as hf
from holdfast import bounds

UNIT = {"B": 0.0, "D": 1.0, "G": 1.0}  # the value of a bound is then its overhead, in rounds
ROUNDING = 1 + 1e-12

budgets = st.integers(0, 10**6)
horizons = st.integers(1, 10**7)
positive = st.floats(0.01, 100.0)
shares = st.floats(0.001, 0.999)
few_gradients = st.lists(
    st.sampled_from([-1e6, -2.0, -1.0, -0.5, 0.0, 0.4, 0.5, 1.0, 2.0, 30.0]), min_size=1, max_size=9
)


def in_order(*values):
    return all(a <= b * ROUNDING + 1e-12 for a, b in itertools.pairwise(values))


def horizon_ranks(kind, p, T):
    return bounds.ranks(hf.Quantile(p, horizon=T, ranks=kind), T)
