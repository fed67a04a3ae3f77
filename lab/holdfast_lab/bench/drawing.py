"""Pictures: how the cost grows, and the speed of holdfast and of other libraries."""

import importlib.util
from typing import NamedTuple

import numpy as np

from holdfast.pages.palette import GREY, INK
from holdfast_lab.reproduce.drawing import OURS, styled_figure


class Panel(NamedTuple):
    """Million rounds a second over one parameter, and the ideal slope on logarithmic axes."""

    letter: str
    title: str
    x: list[int]
    y: list[float]
    slope: float

    def power(self):
        """The exponent of the time of a round, fitted to the upper half of the points."""
        half = len(self.x) // 2
        return -float(np.polyfit(np.log(self.x[half:]), np.log(self.y[half:]), 1)[0])


def possible():
    return importlib.util.find_spec("matplotlib") is not None


def growth(panels, path):
    """One panel for each parameter, with the ideal slope through the last point."""
    with styled_figure((3.9 * len(panels), 3.6)) as figure:
        for panel, axes in zip(panels, figure.subplots(1, len(panels), sharey=True), strict=True):
            x = np.array(panel.x, float)
            ideal = panel.y[-1] * (x / x[-1]) ** panel.slope
            seen = ideal <= 2.0 * max(panel.y)
            axes.plot(x[seen], ideal[seen], color=GREY, linestyle=(0, (4, 2)), label=_ideal(panel))
            axes.plot(x, panel.y, "o-", color=OURS, markersize=4, linewidth=2, label="measured")
            axes.set(xscale="log", yscale="log", xlabel=panel.letter)
            axes.set_title(panel.title, fontsize=9.5, color=INK)
            axes.grid(axis="y")
            axes.legend(frameon=False, fontsize=9, loc="lower left")
        figure.axes[0].set_ylabel("million rounds a second")
        figure.savefig(path, dpi=150)


def _ideal(panel):
    return "flat" if panel.slope == 0.0 else f"like {panel.letter}$^{{{panel.slope:.0f}}}$"


def speed(sections, path):
    """A bar for each row of each section."""
    heights = [len(section.rows) + 1 for section in sections]
    with styled_figure((9, 0.8 + 0.42 * sum(heights))) as figure:
        panels = figure.subplots(len(sections), 1, squeeze=False, height_ratios=heights)[:, 0]
        for section, axes in zip(sections, panels, strict=True):
            rows = section.rows[::-1]
            rates = [row.value or 0.0 for row in rows]
            colors = [OURS if row.what.startswith("holdfast") else GREY for row in rows]
            bars = axes.barh([row.what for row in rows], rates, color=colors, height=0.6)
            axes.bar_label(bars, [f"{rate:.3g}" if rate else "not installed" for rate in rates], padding=4)
            axes.set_xlim(right=1.15 * max(rates))
            axes.set_title(section.title, fontsize=9.5, loc="left", color=INK)
            axes.set_xlabel(section.unit)
            axes.tick_params(left=False)
            axes.spines["left"].set_visible(False)
        figure.savefig(path, dpi=150)
