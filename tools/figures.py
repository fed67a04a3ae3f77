"""Draw the figures of docs/why-a-filter.md: `make figures`. `tests/test_figures.py` checks them.

The rule in use today skips a size that is six standard deviations above the mean of the last 128, after 64
rounds without a decision. Each figure shows a stream on which it fails, and `hf.TopK` on the same stream.
"""

import math
import sys
from pathlib import Path

import numpy as np

import holdfast as hf
from holdfast.pages.palette import BLUE, GREY, MATPLOTLIB, PINK, RED

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "why"
BUDGET = 5  # outliers that TopK allows for
SVG = {"svg.fonttype": "none", "svg.hashsalt": "holdfast", "font.size": 10.0, "font.family": "sans-serif"}


class SigmaRule:
    """Keep a size up to the mean of the last 128 plus six standard deviations."""

    def __init__(self, remember_skipped=True, window=128, warm_up=64, sigmas=6.0):
        self.remember_skipped, self.window = remember_skipped, window
        self.warm_up, self.sigmas, self.past = warm_up, sigmas, []

    def threshold(self):
        if len(self.past) < self.warm_up:
            return math.inf
        last = np.array(self.past[-self.window :])
        return float(last.mean() + self.sigmas * last.std())

    def decide(self, size):
        threshold = self.threshold()
        kept = size <= threshold
        if kept or self.remember_skipped:
            self.past.append(size)
        return kept, threshold


class TopK:
    """The same for `hf.TopK`."""

    def __init__(self, k=BUDGET):
        self.gate = hf.Gate(hf.TopK(k))

    def threshold(self):
        """The largest size that would be kept now: twice the second smallest of the k+1 largest so far."""
        return 2.0 * float(np.sort(self.gate.state.heap)[1])

    def decide(self, size):
        decision = self.gate.decide(size)
        return decision.kept, decision.threshold


def played(rule, sizes):
    """Sizes, thresholds, and which sizes were kept. A size that is a function is given the rule."""
    rows = []
    for size in sizes:
        size = size(rule) if callable(size) else size
        kept, threshold = rule.decide(size)
        rows.append((size, threshold, kept))
    return [np.array(column) for column in zip(*rows, strict=True)]


def steady(rounds=300):
    """Sizes around 1."""
    return list(np.exp(0.25 * np.random.default_rng(0).standard_normal(rounds)))


def masking():
    sizes = steady()
    sizes[150], sizes[170] = 1e6, 4e5
    return sizes


def lock_out():
    return [size * (100.0 if t >= 150 else 1.0) for t, size in enumerate(steady())]


def ramp():
    """40 outliers, each just small enough to be kept."""
    sizes = steady()
    for t in range(150, 270, 3):
        sizes[t] = lambda rule: 0.999 * rule.threshold()
    return sizes


def warm_up():
    sizes = steady()
    sizes[20] = 1e4
    return sizes


def not_a_number():
    sizes = steady()
    sizes[150] = math.nan
    return sizes


# A stream, the rounds of its outliers, and the two rules.
FIGURES = {
    "masking": (masking, [150, 170], SigmaRule, TopK),
    "lock-out": (lock_out, [], lambda: SigmaRule(remember_skipped=False), TopK),
    "ramp": (ramp, range(150, 270, 3), SigmaRule, lambda: TopK(40)),
    "warm-up": (warm_up, [20], SigmaRule, TopK),
    "nan": (not_a_number, [150], SigmaRule, TopK),
}


def draw(path, title, outliers, game, top):
    """Sizes and thresholds of a game. What is not finite is drawn at the top."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    sizes, thresholds, kept = game
    t, wrong = np.arange(len(sizes)), np.isin(np.arange(len(sizes)), outliers)
    sizes = np.where(np.isfinite(sizes), sizes, 0.5 * top)
    marks = {
        "kept": (kept & ~wrong, {"marker": ".", "color": GREY, "markersize": 4}),
        "skipped": (~kept, {"marker": "x", "color": RED, "markersize": 4}),
        "outlier kept": (kept & wrong, {"marker": "o", "color": PINK, "markersize": 5}),
    }
    with rc_context(MATPLOTLIB | SVG):
        figure = Figure(figsize=(4.4, 3.0), facecolor="white", layout="constrained")
        axes = figure.subplots()
        axes.plot(t, thresholds, color=BLUE, linewidth=1.5, label="threshold")
        for label, (which, style) in marks.items():
            axes.plot(t[which], sizes[which], linestyle="", label=label, **style)
        axes.set(yscale="log", ylim=(0.2, top), xlabel="round", ylabel="size")
        axes.minorticks_off()
        axes.set_title(title, loc="left", fontsize=11)
        figure.legend(
            loc="outside lower center",
            ncols=4,
            fontsize=8.5,
            frameon=False,
            handletextpad=0.2,
            columnspacing=1.2,
        )
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def main(folder=FOLDER):
    """Draw all figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (stream, outliers, usual, ours) in FIGURES.items():
        games = {
            "usual": ("mean + 6 σ", played(usual(), stream())),
            "topk": ("TopK", played(ours(), stream())),
        }
        top = 10.0 * max(np.nanmax(sizes) for _, (sizes, _, _) in games.values())
        for suffix, (title, game) in games.items():
            skipped = int((~game[2]).sum())
            draw(folder / f"{name}-{suffix}.svg", f"{title}: {skipped} of 300 skipped", outliers, game, top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
