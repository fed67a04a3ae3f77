"""The quantile theorem: sublinear regret with a linear number of outliers."""

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import QuantileStream
from holdfast_lab.reproduce import drawing

TITLE = "A tenth of all rounds are outliers, and the regret is still sublinear"
RESULT = "Quantile theorem"
STATEMENT = (
    "If sizes are i.i.d. and the outliers are the rounds above the p-quantile, Algorithm 2 has expected "
    "robust regret of order D G (sqrt(p T) + sqrt(p (1-p) T ln T)). A Top-k filter for k = (1-p) T "
    "outliers has a guarantee that is linear in T. Here p = 0.9, and the outliers, which "
    "have no mean, all point against the inliers."
)
P = 0.9


def cases(quick):
    lengths = (300, 1000, 3000, 10_000) if quick else (300, 1000, 3000, 10_000, 30_000)
    return [{"T": T, "seed": seed} for T in lengths for seed in range(4 if quick else 16)]


def measure(T, seed):
    stream, rng = QuantileStream(p=P, rounds=T, dim=1, seed=seed), np.random.default_rng(seed)
    inliers = np.asarray(stream.inliers)
    against = np.where(inliers, rng.choice([-1.0, 1.0], T, p=[0.7, 0.3]), 1.0)  # only the sizes are i.i.d.
    gradients = hf.Gradients(np.abs(stream.stream.G) * against[:, None])
    kinds = {"binomial": "binomial", "bernstein": "the paper's", "newsvendor": "newsvendor"}
    domain, rows = hf.domains.Interval(-1.0, 1.0), {}
    for kind in kinds:
        filter = hf.Quantile(P, horizon=T, ranks=kind)
        record = hf.play(hf.Filtered(hf.OGD(domain), filter), gradients, compiled=False)
        rows[kind] = hf.robust_regret(record, inliers)
        rows[f"{kind}_skipped"] = int((inliers & ~record.column("kept")).sum())
    plain = hf.play(hf.Filtered(hf.OGD(domain), hf.Everything()), gradients, compiled=False)
    B = bounds.ogd(2.0, 1.0, P * T)
    return {
        **rows,
        "plain": hf.robust_regret(plain, inliers),
        "ours": bounds.theorem_8(B, 2.0, 1.0, P, T),
        "paper": bounds.theorem_8_paper(bounds.ogd_paper(2.0, 1.0, P * T), 2.0, 1.0, P, T),
        "topk": bounds.corollary_2(2.0, 1.0, round((1 - P) * T), T),
    }


def draw(rows, axes):
    drawing.bound(axes, rows, "T", "topk", "bound of Top-k: linear", drawing.OTHER, (1, 1))
    drawing.bound(axes, rows, "T", "paper", "the paper's bound", drawing.PAPER)
    drawing.bound(axes, rows, "T", "ours", "our bound", drawing.OURS)
    drawing.measured(axes, rows, "T", "plain", "no filter", drawing.PLAIN, floor=1.0)
    drawing.measured(axes, rows, "T", "bernstein", "filter, the paper's ranks", drawing.LOWER, floor=1.0)
    drawing.measured(axes, rows, "T", "binomial", "filter, exact ranks", drawing.FILTERED, floor=1.0)
    drawing.finish(axes, "rounds T", "regret on the inliers")


def judge(rows):
    _, mean, _ = drawing.summary(rows, "T", "binomial")
    _, ours, _ = drawing.summary(rows, "T", "ours")
    _, paper, _ = drawing.summary(rows, "T", "paper")
    exponent, linear = drawing.slope(rows, "T", "binomial"), drawing.slope(rows, "T", "plain")
    held = bool((mean <= ours).all() and (ours <= paper).all())
    return held and exponent < 0.85, (
        f"with the filter regret grows as T^{exponent:.2f}, without as T^{linear:.2f}; the mean stayed below "
        "the bound"
    )
