"""The figures of all experiments in one style: measured means with their bands, and bounds as lines."""

import contextlib
import math
from typing import Any

import numpy as np

from holdfast.pages.palette import BLUE, GREEN, INK, MATPLOTLIB, PINK, RED

OURS, PAPER, LOWER, FILTERED, PLAIN, OTHER = BLUE, PINK, GREEN, BLUE, RED, INK
STYLE = MATPLOTLIB | {"font.size": 11, "svg.hashsalt": "holdfast", "svg.fonttype": "path"}


@contextlib.contextmanager
def styled_figure(size):
    """A figure of matplotlib, inches wide and high, in the style of all figures."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=size, layout="constrained", facecolor="white")


def summary(rows, by, value):
    """For each value of the parameter `by`: the mean of a measurement and its 95 % band over the seeds."""
    groups: dict[Any, list[float]] = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row[value])
    x = sorted(groups)
    mean = np.array([np.mean(groups[key]) for key in x])
    band = [
        1.96 * np.std(values, ddof=1) / math.sqrt(n) if (n := len(values := groups[key])) > 1 else 0.0
        for key in x
    ]
    return np.array(x, float), mean, np.array(band)


def measured(axes, rows, by, value, label, color, floor=None):
    """A measured mean with its band."""
    x, mean, band = summary(rows, by, value)
    low, high = mean - band, mean + band
    if floor is not None:
        mean, low, high = (np.maximum(line, floor) for line in (mean, low, high))
    axes.plot(x, mean, "o-", color=color, markersize=4, linewidth=2, label=label)
    axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)


def bound(axes, rows, by, value, label, color, dashes=(4, 2)):
    """A right-hand side, averaged over the seeds where it depends on them."""
    x, mean, _ = summary(rows, by, value)
    axes.plot(x, mean, color=color, linewidth=1.6, linestyle=(0, dashes), label=label)


def finish(axes, xlabel, ylabel):
    """Logarithmic axes with few labels, and the legend below the plot."""
    from matplotlib.ticker import LogFormatterSciNotation, NullFormatter

    lowest = min(line.get_ydata()[line.get_ydata() > 0].min() for line in axes.lines if len(line.get_ydata()))
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    axes.set_ylim(bottom=lowest / 2.0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=True))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    longest = max(len(line.get_label()) for line in axes.lines)
    place = {"loc": "upper left", "bbox_to_anchor": (-0.02, -0.14), "ncols": 3 if longest < 26 else 2}
    axes.legend(frameon=False, fontsize=9.5, **place)


def slope(rows, by, value):
    """The exponent of growth, fitted on logarithmic axes."""
    x, mean, _ = summary(rows, by, value)
    return float(np.polyfit(np.log(x), np.log(np.maximum(mean, 1e-300)), 1)[0])
