"""The proposition: large features as outliers, with any losses."""

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import QuantileStream
from holdfast_lab.reproduce import drawing

TITLE = "Large features as outliers, labels by an adversary"
RESULT = "Proposition"
STATEMENT = (
    "For losses h(<w, x>) with |h'| ≤ 1 and i.i.d. features, filtering the features at their p-quantile "
    "gives the same regret, although an adversary may choose the losses. Here the hinge loss, with "
    "labels that agree with small features and contradict large ones."
)
P = 0.9


def cases(quick):
    lengths = (300, 1000, 3000) if quick else (300, 1000, 3000, 10_000)
    return [{"T": T, "seed": seed} for T in lengths for seed in range(3 if quick else 8)]


def measure(T, seed):
    stream = QuantileStream(p=P, rounds=T, dim=2, seed=seed)
    X, inliers = np.asarray(stream.stream.G), np.asarray(stream.inliers)
    y = np.where(X[:, 0] + X[:, 1] >= 0, 1.0, -1.0)
    y[~inliers] *= -1.0
    rows, replay = {}, hf.Replay(X, y, hf.Hinge())
    for name, filter in (("filtered", hf.Quantile(P, horizon=T)), ("plain", hf.Everything())):
        player = hf.Filtered(hf.OGD(hf.Ball(1.0)), filter, on=hf.Features())
        rows[name] = hf.robust_regret(hf.play(player, replay, compiled=False), inliers)
    B = bounds.ogd(2.0, 1.0, P * T)
    return {
        **rows,
        "ours": bounds.proposition_9(B, 2.0, 1.0, P, T),
        "paper": bounds.proposition_9_paper(bounds.ogd_paper(2.0, 1.0, P * T), 2.0, 1.0, P, T),
    }


def draw(rows, axes):
    drawing.bound(axes, rows, "T", "paper", "the paper's bound", drawing.PAPER)
    drawing.bound(axes, rows, "T", "ours", "our bound", drawing.OURS)
    drawing.measured(axes, rows, "T", "plain", "no filter", drawing.PLAIN, floor=1.0)
    drawing.measured(axes, rows, "T", "filtered", "quantile filter on features", drawing.FILTERED, floor=1.0)
    drawing.finish(axes, "rounds T", "regret on the inliers")


def judge(rows):
    _, mean, _ = drawing.summary(rows, "T", "filtered")
    _, ours, _ = drawing.summary(rows, "T", "ours")
    _, plain, _ = drawing.summary(rows, "T", "plain")
    exponent = drawing.slope(rows, "T", "filtered")
    return bool((mean <= ours).all()) and exponent < 0.85, (
        f"with the filter regret grows as T^{exponent:.2f}; at the longest it is {mean[-1]:.0f}, and "
        f"{plain[-1]:.0f} without"
    )
