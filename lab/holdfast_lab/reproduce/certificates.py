"""Certificates: the regret that a run proves for itself, beside the true regret."""

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast.regret import largest_size
from holdfast_lab.reproduce import drawing

TITLE = "A run that proves its own regret"
RESULT = "Ours: certificates"
STATEMENT = (
    "After any run, without a list of the outliers, k + 1 bounds follow from the run itself. They "
    "hold for every set of at most k outliers at once, and are never worse than Theorem 1. Here the "
    "true regret on the true inliers, the certificate, and the bound that can be computed in advance."
)
K = 20


def cases(quick):
    lengths = (200, 800, 3200) if quick else (200, 400, 800, 1600, 3200, 6400)
    return [{"T": T, "seed": seed} for T in lengths for seed in range(4 if quick else 15)]


def measure(T, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, 4))
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(T))
    inliers = np.ones(T, bool)
    inliers[rng.choice(T, K, replace=False)] = False
    X[~inliers] *= 1e4
    y[~inliers] *= -1.0
    player = hf.Certified(hf.Filtered(hf.OGD(hf.Ball(2.0)), hf.TopK(K)), k=K)
    keep = ("losses", "sizes", "kept", "products", "gradients")
    record = hf.play(player, hf.Replay(X, y, hf.Logistic()), keep=keep, compiled=False)
    G = largest_size(record, inliers)
    return {
        "regret": hf.regret.linearised_regret(record, inliers),
        "certificate": record.certificate(K).at(G),
        "ours": bounds.corollary_2(4.0, G, K, T),
    }


def draw(rows, axes):
    drawing.bound(axes, rows, "T", "ours", "bound in advance", drawing.OURS)
    drawing.measured(axes, rows, "T", "certificate", "certificate", drawing.PAPER)
    drawing.measured(axes, rows, "T", "regret", "true (linearised) regret", drawing.FILTERED, floor=1.0)
    drawing.finish(axes, "rounds T", "regret on the inliers")


def judge(rows):
    held = all(row["regret"] <= row["certificate"] <= row["ours"] for row in rows)
    share = np.mean([row["regret"] / row["certificate"] for row in rows])
    return held, f"the true regret is {100 * share:.0f} % of the certificate on average, and never above it"
