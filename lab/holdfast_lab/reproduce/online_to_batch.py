"""The heavy-tailed example of section 4: risk converges although gradients have no variance."""

import math

import numpy as np

import holdfast as hf
from holdfast import bounds
from holdfast.adversaries import HeavyTails
from holdfast_lab.reproduce import drawing

TITLE = "Heavy tails: the filtered average converges"
RESULT = "Online-to-batch example"
STATEMENT = (
    "Logistic regression on features with P(|x| > r) = r^-(1+γ): for γ < 1 gradients have infinite "
    "variance, and the theory of stochastic gradients has no result. Filtering features at the quantile p = "
    "1 - 1/sqrt(T) makes the risk of the mean prediction converge at least as T^(-γ / (2 (1 + γ))). "
    "Here γ = 0.3, against the same learner without a filter, and against SGD: with the step D / (G "
    "sqrt(T)) of its theory, G being its largest gradient, it hardly moves; with 1 / sqrt(t), for "
    "which there is no theory here, it converges more slowly."
)
GAMMA, TRUTH = 0.3, 0.1


def cases(quick):
    lengths = (300, 1000, 3000, 10_000) if quick else (300, 1000, 3000, 10_000, 30_000, 100_000)
    return [{"T": T, "seed": seed} for T in lengths for seed in range(6 if quick else 20)]


def measure(T, seed):
    tails = HeavyTails(gamma=GAMMA, rounds=T, seed=seed, truth=TRUTH)
    filter = hf.Quantile(1.0 - 1.0 / math.sqrt(T), horizon=T)
    player = hf.Filtered(hf.OGD(tails.domain), filter, on=hf.Features())
    record = hf.play(player, tails.stream, keep=["average"], compiled=False)
    plain = hf.Filtered(hf.OGD(tails.domain), hf.Everything())
    unfiltered = hf.play(plain, tails.stream, keep=["average"], compiled=False)
    best, largest = tails.risk([TRUTH]), float(np.abs(tails.stream.X).max())
    return {
        "filtered": tails.risk(record.column("average")) - best,
        "plain": tails.risk(unfiltered.column("average")) - best,
        "sgd": tails.risk([_sgd(tails, 1.0 / np.sqrt(np.arange(1, T + 1)))]) - best,
        "theory": tails.risk([_sgd(tails, np.full(T, 2.0 / (largest * math.sqrt(T))))]) - best,
        "bound": bounds.heavy_tails_example(GAMMA, T),
    }


def _sgd(tails, steps):
    """The mean iterate of projected SGD as in textbooks."""
    w, total = 0.0, 0.0
    X, y = np.asarray(tails.stream.X)[:, 0], np.asarray(tails.stream.y)
    for t in range(len(y)):
        total += w
        w -= hf.Logistic().slope(w * float(X[t]), float(y[t])) * float(X[t]) * steps[t]
        w = min(1.0, max(-1.0, w))
    return total / len(y)


def draw(rows, axes):
    drawing.bound(axes, rows, "T", "bound", "our bound", drawing.OURS)
    drawing.measured(axes, rows, "T", "plain", "no filter", drawing.PLAIN, floor=1e-6)
    drawing.measured(axes, rows, "T", "theory", "SGD, step D/(G sqrt(T))", drawing.OTHER, floor=1e-6)
    drawing.measured(axes, rows, "T", "sgd", "SGD, step 1/sqrt(t)", drawing.PAPER, floor=1e-6)
    drawing.measured(axes, rows, "T", "filtered", "quantile filter", drawing.FILTERED, floor=1e-6)
    drawing.finish(axes, "rounds T", "excess risk of the mean prediction")


def judge(rows):
    rate, predicted = drawing.slope(rows, "T", "filtered"), -bounds.heavy_tails_rate(GAMMA)
    _, mean, _ = drawing.summary(rows, "T", "filtered")
    _, bound, _ = drawing.summary(rows, "T", "bound")
    _, sgd, _ = drawing.summary(rows, "T", "sgd")
    _, plain, _ = drawing.summary(rows, "T", "plain")
    better = bool(mean[-1] < 0.5 * min(sgd[-1], plain[-1]))
    stuck = drawing.slope(rows, "T", "theory")
    return bool((mean <= bound).all()) and rate <= predicted + 0.05 and better and stuck > -0.1, (
        f"excess risk falls as T^{rate:.2f}, where the proof promises T^{predicted:.2f}; at the longest "
        f"{mean[-1]:.4f}, against {plain[-1]:.4f} without a filter and {sgd[-1]:.4f} for SGD with 1/sqrt(t); "
        f"SGD with the step of its theory does not converge (T^{stuck:.2f})"
    )
