"""Both lower bounds: against these adversaries no learner is better, on average."""

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import IidLowerBound, StronglyConvexLowerBound
from holdfast_lab.reproduce import drawing

TITLE = "No learner can pay less than a constant times k"
RESULT = "The two lower bounds"
STATEMENT = (
    "On i.i.d. coin tosses every learner has expected robust regret at least D G k / 4, and on the "
    "strongly convex construction at least G² k / (16 σ): the price of k outliers cannot be sublinear "
    "in k."
)


def cases(quick):
    budgets = (10, 40, 160) if quick else (5, 10, 20, 40, 80, 160, 320)
    return [{"k": k, "seed": seed} for k in budgets for seed in range(20 if quick else 100)]


def measure(k, seed):
    coins, bowls = IidLowerBound(k, 4 * k, seed=seed), StronglyConvexLowerBound(k, 4 * k, seed=seed)
    return {
        "filtered": _regret(hf.Filtered(hf.OGD(coins.domain), hf.TopK(k)), coins),
        "plain": _regret(hf.Filtered(hf.OGD(coins.domain), hf.Everything()), coins),
        "lower": bounds.theorem_6_paper(2.0, 1.0, k),
        "bowls": _regret(hf.Filtered(hf.OGD(bowls.domain, hf.StronglyConvex(1.0)), hf.TopK(k)), bowls),
        "bowls_lower": bounds.theorem_7(2.0, 1.0, k),
    }


def _regret(player, adversary):
    record = hf.play(player, adversary, compiled=False)
    return hf.robust_regret(record, np.asarray(adversary.inliers), adversary.comparator)


def draw(rows, axes):
    drawing.measured(axes, rows, "k", "filtered", "coins, Top-k filter", drawing.FILTERED)
    drawing.measured(axes, rows, "k", "plain", "coins, no filter", drawing.PLAIN)
    drawing.bound(axes, rows, "k", "lower", "coins, lower bound D G k / 4", drawing.LOWER)
    drawing.measured(axes, rows, "k", "bowls", "strongly convex, Top-k filter", drawing.PAPER)
    drawing.bound(axes, rows, "k", "bowls_lower", "strongly convex, lower bound", drawing.OTHER, (1, 1))
    drawing.finish(axes, "number of outliers k", "expected regret")


def judge(rows):
    worst = 0.0
    for value, lower in (("filtered", "lower"), ("plain", "lower"), ("bowls", "bowls_lower")):
        _, mean, band = drawing.summary(rows, "k", value)
        _, bound, _ = drawing.summary(rows, "k", lower)
        worst = max(worst, float(((bound - mean) / np.maximum(band, 1e-9)).max()))
    return (
        worst <= 2.0,
        f"no learner is below its bound by more than {max(worst, 0):.1f} half-widths of its band",
    )
