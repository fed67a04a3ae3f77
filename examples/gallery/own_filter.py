"""A filter of your own, in thirty lines

A filter is a class with two methods. `init` makes its state, and `decide` says whether to keep a round of
this size. This one keeps what is at most three times the median of the last 25 sizes. It works wherever
`TopK` works, also in compiled games. It has no guarantee, and a ramp shows why: 60 outliers, each just
small enough to be kept. The median follows them. The threshold of `TopK(60)` stays below twice the largest
good round, whatever 60 outliers do.

Result: in the ramp the median filter keeps outliers of up to 183.3, where good rounds are below one.
`TopK(60)` keeps none above 2.0.

Data: sizes drawn at random.
"""

from typing import NamedTuple

import numpy as np
from common import picture

import holdfast as hf
from holdfast.pages.palette import BLUE, GREY, RED


class Last(NamedTuple):
    """The last sizes, and how many there were in all."""

    sizes: np.ndarray
    count: int


@hf.rule
class Median:
    """Keep a round unless its size exceeds `slack` times the median of the last `window` sizes."""

    window: int = 25
    slack: float = 3.0

    def check(self):
        if self.window < 1:
            raise ValueError(f"window counts rounds, at least 1: got {self.window}")

    def init(self, dim):
        return Last(np.zeros(self.window), 0)

    def decide(self, state, size):
        known = state.sizes[: max(min(state.count, self.window), 1)]
        threshold = self.slack * float(np.median(known))
        state.sizes[state.count % self.window] = size
        return Last(state.sizes, state.count + 1), threshold, size <= threshold


def ramp(filter):
    """300 good sizes, 60 outliers just below the threshold, 140 good sizes; and the thresholds."""
    gate, rng = hf.Gate(filter), np.random.default_rng(0)
    decisions = []
    for t in range(500):
        good, outlier = rng.uniform(0.5, 1.0), 0.99 * gate.threshold
        verdict = gate.decide(outlier if 300 <= t < 360 else good)
        decisions.append((verdict.kept, verdict.size, verdict.threshold))
    return np.array(decisions)


filters = {"Median()": (RED, Median()), "TopK(60)": (BLUE, hf.TopK(60))}
with picture() as axes:
    for name, (color, filter) in filters.items():
        kept, sizes, thresholds = ramp(filter).T
        outliers = sizes[300:360][kept[300:360] == 1]
        print(f"{name:9} keeps {len(outliers)} of 60 outliers; the largest is {outliers.max():.1f}")
        axes.plot(np.where(sizes <= 1.0, sizes, np.nan), ".", color=GREY, ms=4)
        axes.plot(np.where(sizes > 1.0, sizes, np.nan), ".", color=color, ms=6)
        axes.plot(thresholds, color=color, lw=2, label=f"threshold of {name}")
    axes.set(yscale="log", ylim=(0.3, 300), xlim=(0, 500), xlabel="round")
    axes.set_yticks(ticks := [1, 10, 100], ticks)
    axes.minorticks_off()
    axes.set_title("Sizes and thresholds: a ramp of outliers, aimed at each filter")
    axes.legend(loc="upper left")
