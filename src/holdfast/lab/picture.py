"""A poisoned stream, learned with and without a filter: `python -m holdfast.demo`."""

import argparse
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import holdfast as hf
from holdfast.terminal import OutputLost, open_streams, overwrite, say, tell

_SHARE = 0.01  # of the rounds are corrupted
_DIM = 20
_PICTURES = (".png", ".svg", ".pdf")


class Stream(NamedTuple):
    """Examples of a logistic model, and which of them are as the model made them."""

    X: np.ndarray
    y: np.ndarray
    good: np.ndarray


class Contender(NamedTuple):
    """A filter by the name people write, and how its game went: `losses` are those of the good rounds."""

    name: str
    record: hf.Record
    losses: np.ndarray
    good_skipped: int
    bad_kept: int
    seconds: float


def main(argv=None):
    """Play, print the table, draw the picture; return the exit status."""
    open_streams()
    try:
        return _shown(_options(argv))
    except OutputLost as lost:
        return lost.complained()


def _shown(options):
    stream = poisoned(options.rounds, options.seed)
    tell(*_introduction(stream).split("\n"))
    contenders = compete(stream, overwrite)
    for text in (table(contenders), _explanation(stream, contenders), _next()):
        tell(*text.split("\n"))
    try:
        picture(stream, contenders, options.to)
    except ImportError as problem:
        say(problem)
        return 1
    tell(f"The picture: {options.to}")
    return 0


def poisoned(rounds, seed):
    """A stream of which 1 % is 1,000 times too long and mislabelled, and eight rounds are no numbers."""
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
    return Stream(X, y, ~bad)


def compete(stream, progress):
    """Online gradient descent behind each filter, and once on the good rounds alone."""
    X, y, good = stream
    rounds = len(y)
    k = math.ceil(1.5 * _SHARE * rounds)
    learner = hf.OGD(hf.Ball(radius=5.0))
    players = {
        "Everything()": hf.Filtered(learner, hf.Everything()),
        f"TopK({k})": hf.Filtered(learner, hf.TopK(k)),
        f"TopShare({2 * _SHARE})": hf.Filtered(learner, hf.TopShare(2 * _SHARE)),
        # Its theorem wants sizes that are i.i.d.: the features are, the gradients follow the learner about.
        f"Quantile(0.97, horizon={rounds})": hf.Filtered(
            learner, hf.Quantile(0.97, horizon=rounds), on=hf.Features()
        ),
    }
    contenders = [_contend(name, player, X, y, good, progress) for name, player in players.items()]
    alone = hf.Filtered(learner, hf.Everything())
    return [*contenders, _contend("oracle", alone, X[good], y[good], np.ones(good.sum(), bool), progress)]


def _contend(name, player, X, y, good, progress):
    progress(f"playing {len(y):,} rounds behind {name} ...")
    start = time.perf_counter()
    record = hf.play(player, hf.Replay(X, y, hf.Logistic()))
    seconds = time.perf_counter() - start
    progress("")
    kept = record.kept
    return Contender(
        name, record, record.losses[good], int((good & ~kept).sum()), int((kept & ~good).sum()), seconds
    )


# -- in words


def table(contenders):
    """A line each: how well it learned what matters, and what it took for what."""
    width = 2 + max(len(c.name) for c in contenders)
    lines = [
        f"{'':<{width}}{'mean loss':>10}{'mistakes':>11}{'good rounds':>14}{'bad rounds':>13}",
        f"{'filter':<{width}}{'on the good rounds':>21}{'skipped':>14}{'kept':>13}{'time':>10}",
    ]
    for c in contenders:
        mistakes = 100.0 * (c.losses >= math.log(2.0)).mean()  # a loss of ln 2 is a margin of 0
        scores = f"{c.losses.mean():>10.3f}{mistakes:>9.1f} %{c.good_skipped:>14,}{c.bad_kept:>13,}"
        lines.append(f"{c.name:<{width}}{scores}{c.seconds:>8.2f} s")
    return "\n".join(lines)


def _introduction(stream):
    X, _, good = stream
    odd = (~np.isfinite(X).all(axis=1)).sum()
    bad = (~good).sum() - odd
    return (
        f"{len(X):,} rounds of logistic regression in {_DIM} dimensions. In {bad:,} of them the features\n"
        f"are multiplied by 1,000 and the label is flipped; {odd} more are NaN or infinite.\n"
        "The same online gradient descent learns from what each filter lets through:\n"
    )


def _explanation(stream, contenders):
    record = contenders[2].record
    harmless = record.sizes[record.kept & ~stream.good].max(initial=0.0)
    return (
        "\nThe oracle is told which rounds are bad; the filters see only how long each gradient is\n"
        "(Quantile: how long the features are). Rounds that are NaN or infinite are skipped by all. A bad\n"
        "round whose label the learner agrees with has next to no gradient, and may be kept: those that\n"
        f"TopShare kept are at most {harmless:.1g} long, where good ones reach "
        f"{record.sizes[stream.good].max():.1f}."
    )


def _next():
    """Commands that work as they stand, also where holdfast lives in a .venv that nobody activated."""
    here = Path(sys.prefix).name == ".venv" and Path(sys.prefix).parent == Path.cwd()
    python = ".venv/bin/python" if here else "python"
    return f"""
What to try next:
  {python} -m holdfast.demo --rounds 1000000    a longer stream, compiled: half a minute the first time
  {python} -m holdfast.demo --seed 7            another stream
  {python} -m pydoc holdfast.TopShare           what a filter promises, and when
"""


# -- as a picture

# Okabe and Ito's colours, which all eyes can tell apart.
_COLORS = {
    "Everything": "#D55E00",
    "TopK": "#0072B2",
    "TopShare": "#009E73",
    "Quantile": "#CC79A7",
    "oracle": "#333333",
}
_INK, _DUST = "#333333", "#9AA5B1"


def picture(stream, contenders, path):
    """Draw what each filter made of the stream, and what Top-share saw of it."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("The picture needs matplotlib: pip install 'holdfast[plot]'") from None
    style = {
        "font.size": 13.5,
        "axes.edgecolor": _DUST,
        "axes.labelcolor": _INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlepad": 16,
        "axes.titlesize": 15.5,
        "text.color": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
    }
    with rc_context(style):
        figure = Figure(figsize=(12, 5), dpi=100, facecolor="white")
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
        figure.subplots_adjust(left=0.045, right=0.965, bottom=0.135, top=0.875, wspace=0.6)
        _draw_losses(left, stream, contenders)
        _draw_sizes(right, contenders[2].record)
        figure.savefig(path)


def _draw_losses(axes, stream, contenders):
    rounds = 1 + np.flatnonzero(stream.good)
    shown = np.unique(np.geomspace(100, len(rounds), 500).astype(int)) - 1
    ends, top = {}, 0.0
    for c in contenders:
        name = c.name.partition("(")[0]
        mean = np.cumsum(c.losses) / np.arange(1, len(c.losses) + 1)
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
    axes.grid(axis="y", color="#E6E9ED", linewidth=0.8)
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
    """Heights for labels, in the order of the lines and each at least `ratio` above the one below it."""
    heights, floor = {}, 0.0
    for name in sorted(ends, key=ends.get):
        heights[name] = floor = max(ends[name], floor * ratio)
    return heights


def _draw_sizes(axes, record):
    t = np.arange(1, len(record.sizes) + 1)
    finite = np.isfinite(record.sizes)
    kept, skipped, judged = (np.flatnonzero(which) for which in (record.kept, finite & ~record.kept, finite))
    kept, skipped, judged = _some(kept, 20_000), _some(skipped, 2_000), _some(judged, 2_000)
    bad, top = _COLORS["Everything"], 10.0 ** math.ceil(math.log10(20.0 * record.sizes[finite].max()))
    axes.plot(t[kept], record.sizes[kept], ".", color=_DUST, markersize=2, alpha=0.5, rasterized=True)
    axes.plot(t[skipped], record.sizes[skipped], "x", color=bad, markersize=5, rasterized=True)
    axes.plot(t[~finite], np.full((~finite).sum(), top), "^", color=bad, markersize=8, clip_on=False)
    axes.plot(t[judged], record.thresholds[judged], color=_COLORS["TopShare"], linewidth=3.0)
    axes.set(yscale="log", xlim=(0, len(t)), ylim=(1e-2, top))
    axes.set_xticks(places := [0, len(t) // 2, len(t)], [f"{n:,}" for n in places])
    axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.set_yticks(places := [0.01, 1, 100, 10_000], [f"{v:,g}" for v in places])
    axes.minorticks_off()
    axes.set_title("Sizes of the rounds, which TopShare sees")
    axes.set_xlabel("round")
    threshold = record.thresholds[judged[-1]]
    for text, height, color in (
        ("NaN or infinite: skipped", top / 3.2, bad),
        ("skipped", record.sizes[skipped].max() / 12.0, bad),
        ("threshold", threshold * 2.2, _COLORS["TopShare"]),
        ("kept", threshold / 20.0, _INK),
    ):
        frame = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
        axes.text(
            len(t) * 0.5, height, text, color=color, weight="bold", ha="center", va="center", bbox=frame
        )


def _some(rounds, most):
    """At most about this many of the rounds, evenly."""
    return rounds[:: math.ceil(max(len(rounds), 1) / most)]


# -- the command line


def _options(argv):
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.demo",
        description=(
            "Learn a stream of which 1 % is poison, with and without a filter. The learner, online gradient\n"
            "descent, is the same throughout; what differs is which rounds it gets to see:\n\n"
            "  Everything   all of them: plain online learning\n"
            "  TopK         at most k rounds are bad (here k is 1.5 times what there is)\n"
            "  TopShare     at most this share of the rounds is bad, on average (here twice what there is)\n"
            "  Quantile     the lower 97 % of an i.i.d. stream is good\n"
            "  oracle       the good rounds, which nobody knows outside of a demo\n\n"
            "Prints a table and saves a picture."
        ),
        epilog="example: python -m holdfast.demo --rounds 1000000 --to long.png",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("holdfast-demo.png"),
        metavar="PATH",
        help="where to save the picture, a .png, .svg or .pdf (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="which stream (default: %(default)s)")
    parser.add_argument(
        "--rounds",
        type=int,
        default=20_000,
        help="how many; from 50000 on the games are compiled, which the first time takes some seconds each "
        "(default: %(default)s)",
    )
    options = parser.parse_args(argv)
    if options.rounds < 1_000:
        parser.error(
            f"--rounds must be at least 1000, to have some bad ones among them: got {options.rounds}"
        )
    if options.seed < 0:
        parser.error(f"--seed cannot be negative: got {options.seed}")
    if options.to.suffix.lower() not in _PICTURES:
        parser.error(f"--to must end in {', '.join(_PICTURES)}: got {options.to}")
    if not options.to.parent.is_dir():
        parser.error(f"--to names a folder that does not exist: {options.to.parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
