"""Theorem 1: the regret does not depend on the size of the outliers."""

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast_lab.reproduce import drawing

TITLE = "The size of the outliers does not matter"
RESULT = "Theorem 1"
STATEMENT = (
    "For every set 𝒮 of inliers that leaves out at most k rounds, the regret on 𝒮 is at most B(2 G(𝒮)) "
    "+ 4 D G(𝒮) k, whatever happens in the other rounds. Here 20 of 2,000 rounds are outliers whose "
    "size covers twelve orders of magnitude."
)
T, K = 2000, 20


def cases(quick):
    return [
        {"power": power, "seed": seed}
        for power in range(0, 13, 2 if quick else 1)
        for seed in range(3 if quick else 20)
    ]


def measure(power, seed):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((T, 5))
    G /= np.maximum(1.0, np.linalg.norm(G, axis=1, keepdims=True))
    G[:, 0] -= 0.2
    outliers = rng.choice(T, K, replace=False)
    G[outliers] = 0.0
    G[outliers, 0] = 10.0**power  # against the drift of the inliers
    inliers = np.ones(T, bool)
    inliers[outliers] = False
    learner, rows = hf.OGD(hf.Ball(1.0)), {}
    for name, filter in (("filtered", hf.TopK(K)), ("plain", hf.Everything())):
        record = hf.play(hf.Filtered(learner, filter), hf.Gradients(G), compiled=False)
        rows[name] = hf.robust_regret(record, inliers)
    D, largest = 2.0, float(np.linalg.norm(G[inliers], axis=1).max())
    squares = float((G[inliers] ** 2).sum())
    return {
        **rows,
        "ours": bounds.corollary_2_squares(D, largest, K, squares),
        "paper": bounds.corollary_2_squares_paper(D, largest, K, squares),
    }


def draw(rows, axes):
    rows = [{**row, "size": 10.0 ** row["power"]} for row in rows]
    drawing.bound(axes, rows, "size", "paper", "the paper's bound", drawing.PAPER)
    drawing.bound(axes, rows, "size", "ours", "our bound", drawing.OURS)
    drawing.measured(axes, rows, "size", "plain", "no filter", drawing.PLAIN)
    drawing.measured(axes, rows, "size", "filtered", "Top-k filter", drawing.FILTERED)
    drawing.finish(axes, "size of the outliers", "regret on the inliers")


def judge(rows):
    held = all(row["filtered"] <= row["ours"] <= row["paper"] for row in rows)
    large, small = ([row for row in rows if (row["power"] >= 6) == big] for big in (True, False))
    flat = max(row["filtered"] for row in large) <= 1.5 * max(row["filtered"] for row in small)
    ruined = min(row["plain"] for row in large) > 2.0 * max(row["filtered"] for row in large)
    return held and flat and ruined, (
        f"with the filter at most {max(row['filtered'] for row in rows):.0f}, whatever the size; without it "
        f"up to {max(row['plain'] for row in rows):.0f}; the bound {'always' if held else 'not always'} held"
    )
