"""Gradients for hypothesis to try bounds on; `holdfast_lab.trials.worst` climbs towards the worst."""

import numpy as np
from hypothesis import strategies as st

SIZES = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, -1e6, 1e6, 1e9]) | st.floats(-1e3, 1e3)


def streams(dim=2, rounds=40):
    """Gradients, one a row."""
    return st.lists(st.tuples(*[SIZES] * dim), min_size=1, max_size=rounds).map(without_dust)


def without_dust(rows):
    """What is smaller than 1e-300 has too few digits for a bound to be judged by."""
    G = np.array(rows)
    return np.where(np.abs(G) < 1e-300, 0.0, G)
