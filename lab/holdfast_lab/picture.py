"""The picture of the README: `python -m holdfast_lab.picture docs/images/demo.png`.

A synthetic stream with outliers, learned by the same learner behind several filters.
"""

import math
import sys
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast.pages.palette import BLUE, GREEN, GREY, INK, MATPLOTLIB, PINK, RED

_SHARE = 0.01  # of the rounds are corrupted
_DIM = 20
_COLORS = {"Everything": RED, "TopK": BLUE, "TopShare": GREEN, "Quantile": PINK, "oracle": INK}


class PoisonedStream(NamedTuple):
    """Examples of a logistic model, and which of them are not corrupted."""

    X: np.ndarray
    y: np.ndarray
    good: np.ndarray


class FilterResult(NamedTuple):
    """The record of a game behind a filter, and its losses on the good rounds."""

    record: hf.Record
    losses: np.ndarray


def poisoned_stream(rounds, seed):
    """A stream in which 1 % of the rows are 1,000 times too long with a wrong label, and 8 are not finite."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(_DIM)
    truth *= 4.0 / np.linalg.norm(truth)
    X = rng.standard_normal((rounds, _DIM))
    y = np.where(rng.random(rounds) < 1.0 / (1.0 + np.exp(-X @ truth)), 1.0, -1.0)
    bad = rng.random(rounds) < _SHARE
    X[bad] *= 1000.0
    y[bad] *= -1.0
    odd = rng.choice(rounds, 8, replace=False)
    X[odd[:4], 3] = math.nan
    X[odd[4:], 5] = math.inf
    bad[odd] = True
    return PoisonedStream(X, y, ~bad)


def play_all(stream):
    """Online gradient descent behind each filter, and once on the good rounds alone ("oracle")."""
    X, y, good = stream
    rounds, learner = len(y), hf.OGD(hf.Ball(radius=5.0))
    filters: dict[str, Any] = {
        "Everything": hf.Everything(),
        "TopK": hf.TopK(math.ceil(1.5 * _SHARE * rounds)),
        "TopShare": hf.TopShare(2 * _SHARE),
        "Quantile": hf.Quantile(0.97, horizon=rounds),
    }
    games = {}
    for name, filter in filters.items():
        # The theorem of Quantile needs i.i.d. sizes: features are, gradients depend on the learner.
        on = hf.Features() if name == "Quantile" else hf.measures.Gradient()
        record = hf.play(hf.Filtered(learner, filter, on=on), hf.Replay(X, y, hf.Logistic()))
        games[name] = FilterResult(record, record.column("losses")[good])
    alone = hf.play(hf.Filtered(learner, hf.Everything()), hf.Replay(X[good], y[good], hf.Logistic()))
    return games | {"oracle": FilterResult(alone, alone.column("losses"))}


def draw(stream, games, path):
    """The mean losses behind each filter, and the sizes and thresholds of TopShare."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    titles = {"axes.titlelocation": "left", "axes.titlepad": 16, "axes.titlesize": 15.5}
    with rc_context(MATPLOTLIB | titles | {"font.size": 13.5}):
        figure = Figure(figsize=(12, 5), dpi=100, facecolor="white")
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
        figure.subplots_adjust(left=0.045, right=0.965, bottom=0.135, top=0.875, wspace=0.6)
        _draw_losses(left, stream, games)
        _draw_sizes(right, games["TopShare"].record)
        figure.savefig(path)


def _draw_losses(axes, stream, games):
    rounds = 1 + np.flatnonzero(stream.good)
    shown = np.unique(np.geomspace(100, len(rounds), 500).astype(int)) - 1
    ends, top = {}, 0.0
    for name, (_, losses) in games.items():
        mean = np.cumsum(losses) / np.arange(1, len(losses) + 1)
        style = {"linewidth": 1.8, "linestyle": (0, (4, 2))} if name == "oracle" else {"linewidth": 3.0}
        axes.plot(rounds[shown], mean[shown], color=_COLORS[name], **style)
        ends[name], top = mean[-1], max(top, mean[shown].max())
    axes.set(xscale="log", yscale="log", xlim=(rounds[shown[0]], rounds[-1]), ylim=(0.28, 1.3 * top))
    axes.set_xticks(
        decades := [10**n for n in range(2, 9) if 10**n <= len(stream.y)], [f"{n:,}" for n in decades]
    )
    axes.set_yticks(
        values := [v for v in (0.3, 0.5, 1, 2, 4, 8) if v < 1.3 * top], [f"{v:g}" for v in values]
    )
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_title("Mean loss on the good rounds so far")
    axes.set_xlabel("round")
    for name, height in _apart(ends, (1.3 * top / 0.28) ** 0.062).items():
        label = f"{name}  {ends[name]:.3f}"
        place = {"xy": (1.0, height), "xycoords": ("axes fraction", "data"), "xytext": (8, 0)}
        axes.annotate(
            label, **place, textcoords="offset points", va="center", color=_COLORS[name], weight="bold"
        )


def _apart(ends, ratio):
    """Heights for labels, in the order of the lines; each is at least `ratio` times the one below it."""
    heights, floor = {}, 0.0
    for name in sorted(ends, key=ends.get):
        heights[name] = floor = max(ends[name], floor * ratio)
    return heights


def _draw_sizes(axes, record):
    t = np.arange(1, len(record.size) + 1)
    finite = np.isfinite(record.size)
    kept, skipped, judged = (np.flatnonzero(which) for which in (record.kept, finite & ~record.kept, finite))
    kept, skipped, judged = _some(kept, 20_000), _some(skipped, 2_000), _some(judged, 2_000)
    top = 10.0 ** math.ceil(math.log10(20.0 * record.size[finite].max()))
    axes.plot(t[kept], record.size[kept], ".", color=GREY, markersize=2, alpha=0.5, rasterized=True)
    axes.plot(t[skipped], record.size[skipped], "x", color=RED, markersize=5, rasterized=True)
    axes.plot(t[~finite], np.full((~finite).sum(), top), "^", color=RED, markersize=8, clip_on=False)
    axes.plot(t[judged], record.threshold[judged], color=GREEN, linewidth=3.0)
    axes.set(yscale="log", xlim=(0, len(t)), ylim=(1e-2, top))
    axes.set_xticks(places := [0, len(t) // 2, len(t)], [f"{n:,}" for n in places])
    axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.set_yticks(heights := [0.01, 1, 100, 10_000], [f"{v:,g}" for v in heights])
    axes.minorticks_off()
    axes.set_title("Sizes of the rounds, filtered by TopShare")
    axes.set_xlabel("round")
    threshold = record.threshold[judged[-1]]
    for text, height, color in (
        ("NaN or infinite: skipped", top / 3.2, RED),
        ("skipped", record.size[skipped].max() / 12.0, RED),
        ("threshold", threshold * 2.2, GREEN),
        ("kept", threshold / 20.0, INK),
    ):
        frame = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
        axes.text(
            len(t) * 0.5, height, text, color=color, weight="bold", ha="center", va="center", bbox=frame
        )


def _some(rounds, most):
    """About `most` of the rounds, evenly spaced."""
    return rounds[:: math.ceil(max(len(rounds), 1) / most)]


if __name__ == "__main__":
    poisoned = poisoned_stream(rounds=20_000, seed=0)
    draw(poisoned, play_all(poisoned), sys.argv[1])
