"""How the bounds of learners are tried: on fuzzed gradients, and by climbing towards the worst ones."""

import math

import numpy as np
from hypothesis import strategies as st

import holdfast as hf

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


def one_outlier_costs_no_more_than_the_theorem_allows(learner, D, on=None, dim=3, rounds=300):
    """Behind each filter: regret with and without an outlier of 1e9, against Theorem 1 with the true B."""
    rng = np.random.default_rng(5)
    G = rng.standard_normal((rounds, dim)) + 0.3
    G[rounds // 2] *= 1e9
    inliers = np.arange(rounds) != rounds // 2
    on = hf.Gradient() if on is None else on
    for filter, k in ((hf.TopK(1), 1), (hf.TopShare(0.01), None), (hf.Quantile(0.9, horizon=rounds), None)):
        player = hf.Filtered(learner, filter, on=on)
        keep = ("sizes", "kept", "products", "gradients", "losses")
        record = hf.play(player, hf.Gradients(G), keep=keep, compiled=False)
        assert not record.kept[rounds // 2]
        B, sizes = hf.linearised_regret(record, record.kept), record.sizes[inliers]
        skipped = record.sizes[inliers & ~record.kept].sum()
        regret = hf.linearised_regret(record, inliers)
        assert regret <= B + D * skipped + 1e-9 * abs(B)
        u, state = farthest(learner.domain, G[record.kept])[0], record.state[0].learner
        if learner.needs().losses == "convex":
            assert hf.linearised_regret(record, record.kept, u) <= learner.bound(state, u) * (1.0 + 1e-9)
        if k is not None:
            assert regret <= B + 2.0 * D * k * sizes.max()  # no outlier was kept
