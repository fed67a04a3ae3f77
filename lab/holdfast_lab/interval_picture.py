"""The picture of docs/intervals.md: `python -m holdfast_lab.interval_picture docs/images/intervals.png`.

Coverage and width of 90 % intervals over time, for a forecast of 0: bad rows come, later the noise doubles.
"""

import sys

import numpy as np

from holdfast.pages.palette import BLUE, GREEN, INK, MATPLOTLIB, RED
from holdfast_lab.trials.intervals import COVERAGE, METHODS, OURS, Scored

ROUNDS, ATTACK, LOUDER, _FIRST = 9_000, slice(2_000, 5_000), 7_000, 500
_RECENT = 500  # good rows, over which coverage is shown
_COLORS = {OURS: BLUE, "split conformal": GREEN, "ACI": RED}


def errors(seed=0):
    """The sizes of the errors, and which rows are good: 12 % of those in the attack are bad."""
    rng = np.random.default_rng(seed)
    found, good = np.abs(rng.standard_normal(ROUNDS)), np.ones(ROUNDS, bool)
    found[LOUDER:] *= 2.0
    good[ATTACK] = rng.random(ATTACK.stop - ATTACK.start) > 0.12
    return np.where(good, found, 1_000.0 * found), good


def split_conformal(rows):
    """The quantile of the first 500 errors, for ever."""
    width = float(np.quantile(rows.scores[:_FIRST], COVERAGE))
    return np.where(np.arange(len(rows.scores)) < _FIRST, np.inf, width)


def widths(scores, good):
    """The width of each method in each row."""
    methods = METHODS | {"split conformal": split_conformal}
    return {name: methods[name](Scored(scores, good, good)) for name in _COLORS}


def covered(scores, good, width):
    """The share of the last 500 good rows that were covered."""
    inside = (scores <= width)[good]
    return np.convolve(inside, np.full(_RECENT, 1.0 / _RECENT), "valid")


def draw(path):
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    scores, good = errors()
    rows = np.flatnonzero(good)[_RECENT - 1 :]
    with rc_context(MATPLOTLIB):
        figure = Figure(figsize=(8.8, 4.6), facecolor="white", layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for name, width in widths(scores, good).items():
            above.plot(rows, covered(scores, good, width), color=_COLORS[name], linewidth=1.4, label=name)
            below.plot(np.where(np.isfinite(width), width, np.nan), color=_COLORS[name], linewidth=1.2)
        above.axhline(COVERAGE, color=INK, linewidth=0.8, linestyle=":")
        for axes in (above, below):
            axes.axvspan(ATTACK.start, ATTACK.stop, color="#00000010")
            axes.axvline(LOUDER, color=INK, linewidth=0.8, linestyle="--")
        above.set(ylabel="good rows covered", ylim=(0.5, 1.02))
        below.set(ylabel="half width", yscale="log", xlabel="row (grey: 12 % bad; dashed: noise doubles)")
        above.legend(loc="lower left", ncols=3, fontsize=9, frameon=False)
        figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    draw(sys.argv[1])
