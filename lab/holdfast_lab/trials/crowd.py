"""`holdfast learners --crowd`: with many experts the cost of the filter is small beside the bound."""

from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast.rule import rule
from holdfast.terminal import overwrite, tell
from holdfast.vectors import dot
from holdfast_lab.bench.table import put_between_markers
from holdfast_lab.trials.learners_table import about

CROWD = ("<!-- holdfast learners --crowd: begin -->", "<!-- holdfast learners --crowd: end -->")
ROUNDS, OUTLIERS = 1_000, 5
COUNTS = (10, 1_000, 100_000)
_STRIDE = 997
_HEAD = ("experts", "clean", "outliers, no filter", "outliers, TopK(5)", "bound of AdaHedge", "of the filter")


@rule
class Many:
    """The losses of many experts, without an array of all of them.

    In each round they are another part of `numbers`, times `quality` (one number for each expert), times the
    factor of the round.
    """

    numbers: Any
    quality: Any
    factors: Any

    def extent(self):
        return len(self.factors), len(self.quality)

    def start(self):
        return np.zeros(len(self.quality))

    def reveal(self, state, t, w):
        state[:] = self.quality * self.numbers[_STRIDE * t : _STRIDE * t + len(self.quality)]
        return state, self.factors[t] * dot(w, state), self.factors[t], state


class Cost(NamedTuple):
    """Regret on the inliers in three games, the bound without a filter, and what the filter adds to it."""

    experts: int
    clean: float
    alone: float
    filtered: float
    bound: float
    overhead: float


def measure(experts, rounds=ROUNDS, k=OUTLIERS, compiled=True):
    """Against the best expert on the inliers; a tenth of the experts lose a fifth less than the others.

    Losses are between 0 and 1. Those of k outliers are multiplied by -10⁹, so that bad experts look good.
    """
    inliers = np.arange(rounds) % (rounds // k) != rounds // (2 * k)
    numbers = np.random.default_rng(0).random(experts + _STRIDE * rounds)
    quality = np.where(np.arange(experts) < experts // 10, 0.8, 1.0)
    totals = quality * sum(numbers[_STRIDE * t : _STRIDE * t + experts] for t in np.flatnonzero(inliers))
    spoiled = np.where(inliers, 1.0, -1e9)

    def regret(filter, factors):
        player = hf.Filtered(hf.AdaHedge(), filter, on=hf.measures.Range())
        record = hf.play(player, Many(numbers, quality, factors), compiled=compiled)
        return record, float(record.column("losses")[inliers].sum() - np.min(totals))

    _, clean = regret(hf.Everything(), np.ones(rounds))
    _, alone = regret(hf.Everything(), spoiled)
    record, filtered = regret(hf.TopK(k), spoiled)
    B = hf.AdaHedge().bound(record.state[0].learner, np.eye(1, experts)[0])
    G = float(record.size[inliers].max())
    return Cost(experts, clean, alone, filtered, B, 4.0 * G * k)


def measure_crowds(quick=False, page=None, counts=COUNTS, compiled=True):
    """Measure and print; with `page`, write the table into that file."""
    rows = [f"| {' | '.join(_HEAD)} |", "|--:|" + "--:|" * (len(_HEAD) - 1)]
    for experts in counts[:2] if quick else counts:
        overwrite(f"{experts:,} experts")
        cost = measure(experts, compiled=compiled)
        rows.append(f"| {experts:,} | " + " | ".join(f"{value:.1f}" for value in cost[1:]) + " |")
        tell(rows[-1])
    if page is not None:
        put_between_markers(page, "\n".join([*rows, "", about(quick, page, " --crowd"), ""]), CROWD)
