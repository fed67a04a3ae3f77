"""The corollary for strongly convex losses: the logarithm of T, plus the price of the outliers."""

import math

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast.regret import gradients_at, largest_size
from holdfast_lab.reproduce import drawing

TITLE = "Strongly convex losses: regret grows as the logarithm of the rounds"
RESULT = "Corollary for strongly convex losses"
STATEMENT = (
    "With steps 1 / (σ n) in the n-th kept round, the robust regret on σ-strongly convex losses is of "
    "order (G² / σ) (ln T + k). Here squared losses around noisy targets, with 3 outliers a million "
    "times off."
)
K = 3


def cases(quick):
    lengths = (100, 1000, 10_000) if quick else (100, 300, 1000, 3000, 10_000, 30_000)
    return [{"T": T, "seed": seed} for T in lengths for seed in range(4 if quick else 20)]


def measure(T, seed):
    rng = np.random.default_rng(seed)
    y = rng.uniform(-1.0, 1.0, T)
    inliers = np.ones(T, bool)
    inliers[rng.choice(T, K, replace=False)] = False
    y[~inliers] = 1e6
    player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0), hf.StronglyConvex(1.0)), hf.TopK(K))
    record = hf.play(player, hf.Replay(np.ones((T, 1)), y, hf.Squared()), compiled=False)
    u = np.array([y[inliers].mean()])
    G = largest_size(record, inliers)
    b = gradients_at(record, u, inliers) - 2.0 * G
    return {
        "regret": hf.robust_regret(record, inliers, u),
        "ours": bounds.corollary_3(G, b, 1.0, K, T),
        "paper": bounds.corollary_3_paper(G, b, 1.0, K, T),
    }


def draw(rows, axes):
    drawing.bound(axes, rows, "T", "paper", "the paper's bound", drawing.PAPER)
    drawing.bound(axes, rows, "T", "ours", "our bound", drawing.OURS)
    drawing.measured(axes, rows, "T", "regret", "measured", drawing.FILTERED)
    drawing.finish(axes, "rounds T", "regret on the inliers")


def judge(rows):
    held = all(row["regret"] <= row["ours"] <= row["paper"] for row in rows)
    T, mean, _ = drawing.summary(rows, "T", "regret")
    growth = (mean[-1] - mean[0]) / math.log(T[-1] / T[0])
    exponent = drawing.slope(rows, "T", "regret")
    return (
        held and exponent < 0.2,
        f"measured regret grows by {growth:.2f} ln T (as a power, T^{exponent:.2f})",
    )
