"""Huber contamination: the mean of all predictions has small risk under the uncontaminated distribution."""

import math

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast_lab.reproduce import drawing

TITLE = "Contaminated data, clean risk"
RESULT = "Huber lemma and corollary"
STATEMENT = (
    "If a share ε of i.i.d. rounds is replaced by anything, the mean of the predictions has excess risk of "
    "order ε D G + D G / sqrt(T) under the distribution of the others. Here linear losses whose "
    "gradients are tosses of a biased coin; 5 % of them are replaced by 10⁶ in the wrong direction."
)
EPS, DELTA, BIAS = 0.05, 0.05, 0.7


def cases(quick):
    lengths = (300, 1000, 3000, 10_000) if quick else (300, 1000, 3000, 10_000, 30_000, 100_000)
    return [{"T": T, "seed": seed} for T in lengths for seed in range(3 if quick else 10)]


def measure(T, seed):
    rng = np.random.default_rng(seed)
    g = np.where(rng.random(T) < BIAS, -1.0, 1.0)  # linear losses: the risk of w under P is (1 - 2 BIAS) w
    outliers = rng.random(T) < EPS
    g[outliers] = 1e6
    rows, k = {}, bounds.huber_budget(EPS, T, DELTA)
    for name, filter in (("filtered", hf.TopK(k)), ("plain", hf.Everything())):
        player = hf.Filtered(hf.OGD(hf.domains.Interval(-1.0, 1.0)), filter)
        record = hf.play(player, hf.Gradients(g[:, None]), keep=["average", "sizes"], compiled=False)
        rows[name] = (2.0 * BIAS - 1.0) * (1.0 - record.column("average")[0])
    return {
        **rows,
        "ours": bounds.corollary_5(2.0, 1.0, EPS, T, DELTA),
        "paper": bounds.corollary_5_paper(2.0, 1.0, EPS, T, DELTA),
        "floor": bounds.huber_floor(2.0, 1.0, EPS),
    }


def draw(rows, axes):
    drawing.bound(axes, rows, "T", "paper", "the paper's bound", drawing.PAPER)
    drawing.bound(axes, rows, "T", "ours", "our bound", drawing.OURS)
    drawing.measured(axes, rows, "T", "plain", "no filter", drawing.PLAIN)
    drawing.measured(axes, rows, "T", "filtered", "Top-k filter", drawing.FILTERED, floor=1e-4)
    drawing.bound(axes, rows, "T", "floor", "unavoidable for some P", drawing.LOWER)
    drawing.finish(axes, "rounds T", "excess risk of the mean prediction")


def judge(rows):
    broken = sum(row["filtered"] > row["ours"] for row in rows)
    allowed = DELTA * len(rows) + 3.0 * math.sqrt(DELTA * len(rows))
    longest = max(row["T"] for row in rows)
    end = np.mean([row["filtered"] for row in rows if row["T"] == longest])
    plain = np.mean([row["plain"] for row in rows if row["T"] == longest])
    return broken <= allowed and plain > 3.0 * end, (
        f"excess risk {end:.3f} with the filter and {plain:.3f} without at T = {longest:,}; "
        f"the bound was exceeded in {broken} of {len(rows)} runs"
    )
