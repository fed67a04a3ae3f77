"""A comparison of all learners: regret without outliers, with them, and with a filter; and time."""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast_lab.trials.streams import (
    SHARE,
    LearnerStream,
    absolute,
    bowls,
    experts,
    ordinary,
    scattered,
    single,
    squared,
)

FILTER = hf.TopShare(2.0 * SHARE)
DIM = 10  # for regret
DIMS = (10, 100, 1000)  # for time
_FEW = 20  # rounds


class Entry(NamedTuple):
    """A learner, a stream with the losses it needs, and what its filter measures."""

    learner: Any
    stream: Callable[..., LearnerStream]
    on: Any = hf.measures.Gradient()

    def player(self, filter):
        return hf.Filtered(self.learner, filter, on=self.on)


_BALL, _BOX = hf.Ball(1.0), hf.Box(-1.0, 1.0)
_ROWS, _EXPERTS, _LOSSES = hf.Features(), hf.measures.Range(), hf.measures.LossForm(1.0)
_CURVED = 1.0 / 25.0  # 1 / M², M the largest residual of `squared` in the ball

ENTRIES = {
    "`OGD`": Entry(hf.OGD(_BALL), absolute),
    "`AdaGrad` on a box": Entry(hf.AdaGrad(_BOX), absolute),
    "`AdaGrad` on a ball": Entry(hf.AdaGrad(_BALL), absolute),
    "`AdaFTRL`": Entry(hf.AdaFTRL(_BALL), absolute),
    "`SoloFTRL`, everywhere": Entry(hf.learners.SoloFTRL(hf.domains.Everywhere()), absolute),
    "`Clipped(FreeGrad())`": Entry(hf.learners.Clipped(hf.learners.FreeGrad()), absolute),
    "`Clipped(MetaGrad(Ball(1.0)))`": Entry(hf.learners.Clipped(hf.MetaGrad(_BALL)), absolute),
    "`DiagonalMetaGrad`": Entry(hf.learners.DiagonalMetaGrad(_BOX), absolute),
    "`ScaleInvariant`": Entry(hf.ScaleInvariant(), absolute, _ROWS),
    "`Bettors`": Entry(hf.learners.Bettors(largest=5.0), absolute),
    "`Reserved(10)`, everywhere": Entry(hf.learners.Reserved(10, size=5.0), absolute),
    "`OGD`, strongly convex": Entry(hf.OGD(_BALL, hf.StronglyConvex(1.0)), bowls),
    "`ONS`": Entry(hf.ONS(_BALL, _CURVED), squared),
    "`OnlineRidge`": Entry(hf.OnlineRidge(), squared, _LOSSES),
    "`VAW`": Entry(hf.VAW(), squared, _LOSSES),
    "`AdaHedge`": Entry(hf.AdaHedge(), experts, _EXPERTS),
    "`Clipped(Squint())`": Entry(hf.learners.Clipped(hf.learners.Squint()), experts, _EXPERTS),
    "`EG(0.05)`": Entry(hf.EG(0.05), experts, _EXPERTS),
}


class RaceSize(NamedTuple):
    """How much is measured."""

    rounds: int
    seeds: int
    turns: int  # each is timed
    entries: int  # of all rows that are timed, at most
    dims: tuple = DIMS
    compiled: bool = True


FULL = RaceSize(rounds=10_000, seeds=5, turns=9, entries=8_000_000)
QUICK = RaceSize(rounds=2_000, seeds=2, turns=3, entries=2_000_000)


class Line(NamedTuple):
    """The figures of one learner.

    Regret a round: without outliers, with one, with many, and with many and a filter. Microseconds a round,
    in each dimension.
    """

    name: str
    stream: str
    clean: float
    single: float
    outliers: float
    filtered: float
    microseconds: tuple


def measure(name, scale, entries=ENTRIES):
    entry = entries[name]
    alone, guarded = entry.player(hf.Everything()), entry.player(FILTER)
    cases = ((alone, ordinary), (alone, single), (alone, scattered), (guarded, scattered))
    figures = [_median_regret(player, entry.stream, sizes, scale) for player, sizes in cases]
    times = tuple(microseconds(guarded, entry.stream, dim, scale) for dim in scale.dims)
    clean, one, many, behind = figures
    return Line(name, entry.stream.__name__, clean, one, many, behind, times)


def _median_regret(player, stream, sizes, scale):
    played = (stream(sizes(scale.rounds, seed), DIM, seed) for seed in range(scale.seeds))
    return statistics.median(regret_a_round(player, each, scale.compiled) for each in played)


def regret_a_round(player, stream, compiled):
    """Regret on the inliers; infinite if a size is not finite."""
    keep = ("losses", "sizes", "products", "gradients")
    record = hf.play(player, stream.adversary, keep=keep, compiled=compiled)
    inliers = stream.inliers
    if not np.isfinite(record.size[inliers]).all():
        return math.inf
    if stream.comparator is not None:
        return hf.robust_regret(record, inliers, stream.comparator) / float(inliers.sum())
    total = record.column("gradients")[inliers].sum(axis=0)
    worst = -total / max(float(np.linalg.norm(total)), 1e-300)
    return hf.regret.linearised_regret(record, inliers, worst) / float(inliers.sum())


def microseconds(player, stream, dim, scale):
    """The fastest of several turns on a clean stream: slower ones were disturbed by other processes.

    The time of a game without rounds is subtracted.
    """
    adversary = stream(np.ones(max(scale.entries // dim, _FEW)), dim, 0).adversary
    rounds, most = _FEW, adversary.extent()[0]

    def seconds(rounds):
        start = time.perf_counter()
        hf.play(player, adversary, rounds, keep=(), compiled=scale.compiled)
        return time.perf_counter() - start

    seconds(rounds)  # compiles
    fixed = min(seconds(0) for _ in range(scale.turns))
    while rounds < most and seconds(rounds) < 10.0 * fixed + 0.01:
        rounds = min(4 * rounds, most)
    return 1e6 * (min(seconds(rounds) for _ in range(scale.turns)) - fixed) / rounds
