"""Theorem 1 and its tightness: the overhead is linear in the number of outliers."""

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import Tight
from holdfast_lab.reproduce import drawing

TITLE = "The price of k outliers is linear in k, and 4 D G k is right"
RESULT = "Theorem 1, with the sequence that attains it"
STATEMENT = (
    "The overhead of the filter is at most 4 D G(𝒮) k. On a sequence made for it, online gradient "
    "descent behind the Top-k filter pays that much; no algorithm can guarantee less than D G k / 4."
)


def cases(quick):
    return [
        {"k": k, "seed": 0}
        for k in ((5, 20, 80, 300) if quick else (5, 10, 20, 50, 100, 200, 500, 1000, 2000))
    ]


def measure(k, seed):
    tight = Tight(k=k)
    record = hf.play(hf.Filtered(hf.OGD(tight.domain), hf.TopK(k)), tight, compiled=False)
    rounds, D, G = record.rounds, tight.D, tight.G
    squares = float((record.size[tight.inliers] ** 2).sum())
    return {
        "regret": hf.robust_regret(record, tight.inliers, tight.comparator),
        "overhead": 4.0 * D * G * k,
        "ours": bounds.corollary_2_squares(D, G, k, squares),
        "paper": bounds.corollary_2_squares_paper(D, G, k, squares),
        "lower": bounds.theorem_6_paper(D, G, k),
        "rounds": rounds,
    }


def draw(rows, axes):
    drawing.bound(axes, rows, "k", "paper", "the paper's bound", drawing.PAPER)
    drawing.bound(axes, rows, "k", "ours", "our bound", drawing.OURS)
    drawing.bound(axes, rows, "k", "overhead", "4 D G k", drawing.OTHER, (1, 1))
    drawing.measured(axes, rows, "k", "regret", "measured", drawing.FILTERED)
    drawing.bound(axes, rows, "k", "lower", "lower bound, D G k / 4", drawing.LOWER)
    drawing.finish(axes, "number of outliers k", "regret on the inliers")


def judge(rows):
    held = all(row["lower"] <= row["regret"] <= row["ours"] <= row["paper"] for row in rows)
    ratio = rows[-1]["regret"] / rows[-1]["overhead"]
    exponent = drawing.slope(rows, "k", "regret")
    return held and abs(exponent - 1.0) < 0.1 and ratio > 0.99, (
        f"regret grows as k^{exponent:.2f} and is {ratio:.3f} times 4 D G k at k = {rows[-1]['k']}"
    )
