"""How the bounds of learners are tried: on fuzzed gradients, and by climbing towards the worst ones."""

import math

import numpy as np
from hypothesis import strategies as st

ROUNDING = 1e-9
SIZES = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, -1e6, 1e6, 1e9]) | st.floats(-1e3, 1e3)


def streams(dim=2, rounds=40):
    """Gradients, one a row."""
    return st.lists(st.tuples(*[SIZES] * dim), min_size=1, max_size=rounds).map(without_dust)


def without_dust(rows):
    """What is smaller than 1e-300 has too few digits for a bound to be judged by."""
    G = np.array(rows)
    return np.where(np.abs(G) < 1e-300, 0.0, G)


def learned(learner, G):
    """The sum of <w_t, g_t>, and the last state."""
    state, products = learner.init(G.shape[1]), 0.0
    for g in G:
        products += float(learner.predict(state) @ g)
        state = learner.update(state, 1.0, g)
    return products, state


def farthest(domain, G):
    """The u that regret is largest against, and points between it and the center."""
    center, total = domain.center(G.shape[1]), -G.sum(axis=0)
    size = np.abs(total).max()
    far = (
        domain.project(center + 1e100 * (total / size if size > 0.0 else total))
        if domain.bounded()
        else total
    )
    return [center + share * (far - center) for share in (1.0, 0.5, 0.1, 0.0)]


def ratio(learner, G, points=None):
    """The largest regret / bound, over some u; 0 if there is no regret."""
    products, state = learned(learner, G)
    worst = 0.0
    for u in farthest(learner.domain, G) if points is None else points:
        regret, bound = products - float(u @ G.sum(axis=0)), learner.bound(state, u)
        scale = np.abs(G).sum() * (1.0 + np.abs(u).max())
        if regret > ROUNDING * scale:
            regret -= 1e-12 * scale  # by as much it may be off
            worst = max(worst, regret / bound if bound > 0.0 else math.inf)
    return worst


def worst_ratio(measure, rng, rounds=12, dim=2, steps=150, starts=3):
    """Climb: change a gradient or a few, and keep what does not lower the measure."""
    best = 0.0
    for _ in range(starts):
        G = rng.choice([-1.0, 0.0, 0.5, 1.0], (rounds, dim))
        here = measure(G)
        for _ in range(steps):
            tried = G.copy()
            t = rng.integers(rounds)
            change = rng.integers(5)
            if change == 0:
                tried[t] = rng.standard_normal(dim)
            elif change == 1:
                tried[t] *= rng.choice([-1.0, 0.5, 2.0, 10.0])
            elif change == 2:
                tried[t:] *= rng.choice([-1.0, 0.5, 2.0])
            elif change == 3:
                tried[t] = tried[rng.integers(rounds)]
            else:
                tried += 0.1 * rng.standard_normal((rounds, dim)) * np.abs(tried).max(axis=1, keepdims=True)
            there = measure(tried)
            if there >= here:
                G, here = tried, there
        best = max(best, here)
    return best
