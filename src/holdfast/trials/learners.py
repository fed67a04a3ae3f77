"""All learners beside each other: regret without outliers, with them, and with a filter; and time."""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast.rule import rule
from holdfast.vectors import add, dot

SHARE = 0.01  # of the rounds are outliers, 1e3 to 1e9 times as large as others, and the wrong way round
FILTER = hf.TopShare(2.0 * SHARE)
DIM = 10  # where regret is measured
DIMS = (10, 100, 1000)  # where time is
_MANY = 100  # weights, for learners whose rounds may cost dim³
_FEW = 20  # rounds


class Stream(NamedTuple):
    """What learners with the same needs meet, and what they are compared with."""

    adversary: Any
    inliers: np.ndarray
    comparator: Any = None  # the worst of length 1 for the linearised losses, if None


@rule
class Bowls:
    """Round t reveals f(w) = ½ ‖w - c_t‖², which is strongly convex.

    Parameters
    ----------
    C : array of shape (rounds, dim)
        The c_t.
    """

    C: Any

    def extent(self):
        return self.C.shape

    def start(self):
        return np.zeros(self.C.shape[1])

    def reveal(self, state, t, w):
        state[:] = 0.0
        add(state, 1.0, w)
        add(state, -1.0, self.C[t])
        return state, 0.5 * dot(state, state), 1.0, state


def bowls(rounds, dim, share, seed):
    """Around points of a cube, drawn around a point of their own; regret."""
    rng = np.random.default_rng(seed)
    C = _unit(rng, dim) / 2.0 + rng.uniform(-1.0, 1.0, (rounds, dim)) / math.sqrt(dim)
    sizes = _sizes(rng, rounds, share)
    inliers = sizes == 1.0
    best = C[inliers].mean(axis=0)
    C[~inliers] *= -sizes[~inliers, None]
    return Stream(Bowls(C), inliers, best)


def absolute(rounds, dim, share, seed):
    """A linear model with noise, and the absolute loss; linearised regret against all u of length 1."""
    X, y, inliers, _ = _rows(rounds, dim, share, seed)
    return Stream(hf.Replay(X, y, hf.Absolute()), inliers)


def squared(rounds, dim, share, seed):
    """The same with the squared loss; regret against the best u."""
    X, y, inliers, best = _rows(rounds, dim, share, seed)
    return Stream(hf.Replay(X, y, hf.Squared()), inliers, best)


def experts(rounds, dim, share, seed):
    """Losses from 0 to 1, the first expert's mostly smaller; regret against the best expert."""
    rng = np.random.default_rng(seed)
    G = rng.random((rounds, dim))
    G[:, 0] *= 0.9
    sizes = _sizes(rng, rounds, share)
    inliers = sizes == 1.0
    best = np.eye(dim)[G[inliers].sum(axis=0).argmin()]
    G[~inliers] = sizes[~inliers, None] * (1.0 - G[~inliers])
    return Stream(hf.Gradients(G), inliers, best)


def _rows(rounds, dim, share, seed):
    rng = np.random.default_rng(seed)
    X, u = rng.uniform(-1.0, 1.0, (rounds, dim)), _unit(rng, dim) / 2.0
    y = X @ u + 0.1 * rng.standard_normal(rounds)
    sizes = _sizes(rng, rounds, share)
    inliers = sizes == 1.0
    best = np.linalg.lstsq(X[inliers], y[inliers], rcond=None)[0]
    return X * sizes[:, None], y * np.where(inliers, 1.0, -sizes), inliers, best


def _unit(rng, dim):
    u = rng.standard_normal(dim)
    return u / np.linalg.norm(u)


def _sizes(rng, rounds, share):
    """By how much each round is multiplied: 1 for the inliers."""
    bad, far = rng.random(rounds) < share, 10.0 ** rng.uniform(3.0, 9.0, rounds)
    return np.where(bad, far, 1.0)


class Entry(NamedTuple):
    """A learner, the stream that has what it needs, and what its filter measures."""

    learner: Any
    stream: Callable[..., Stream]
    on: Any = hf.Gradient()
    cubic: bool = False  # whether a round may cost dim³

    def player(self, filter):
        return hf.Filtered(self.learner, filter, on=self.on)


_BALL, _BOX, _EXPERTS, _LOSSES = hf.Ball(1.0), hf.Box(-1.0, 1.0), hf.Range(), hf.LossForm(1.0)
_CURVED = 1.0 / 25.0  # 1 / M², M the largest residual of `squared` in the ball

ENTRIES = {
    "`OGD`": Entry(hf.OGD(_BALL), absolute),
    "`AdaGrad` on a box": Entry(hf.AdaGrad(_BOX), absolute),
    "`AdaGrad` on a ball": Entry(hf.AdaGrad(_BALL), absolute),
    "`AdaFTRL`": Entry(hf.AdaFTRL(_BALL), absolute),
    "`SoloFTRL`, everywhere": Entry(hf.SoloFTRL(hf.Everywhere()), absolute),
    "`Clipped(FreeGrad())`": Entry(hf.Clipped(hf.FreeGrad()), absolute),
    "`Clipped(MetaGrad(Ball(1.0)))`": Entry(hf.Clipped(hf.MetaGrad(_BALL)), absolute, cubic=True),
    "`DiagonalMetaGrad`": Entry(hf.DiagonalMetaGrad(_BOX), absolute),
    "`ScaleInvariant`": Entry(hf.ScaleInvariant(), absolute),
    "`OGD`, strongly convex": Entry(hf.OGD(_BALL, hf.StronglyConvex(1.0)), bowls),
    "`ONS`": Entry(hf.ONS(_BALL, _CURVED), squared, cubic=True),
    "`OnlineRidge`": Entry(hf.OnlineRidge(), squared, _LOSSES),
    "`VAW`": Entry(hf.VAW(), squared, _LOSSES),
    "`AdaHedge`": Entry(hf.AdaHedge(), experts, _EXPERTS),
    "`Clipped(Squint())`": Entry(hf.Clipped(hf.Squint()), experts, _EXPERTS),
    "`EG(0.05)`": Entry(hf.EG(0.05), experts, _EXPERTS),
}


class Scale(NamedTuple):
    """How much is measured."""

    rounds: int
    seeds: int
    turns: int  # of the stopwatch
    entries: int  # of the rows that it is held to, at most
    dims: tuple = DIMS
    compiled: bool = True


FULL = Scale(rounds=10_000, seeds=5, turns=9, entries=8_000_000)
QUICK = Scale(rounds=2_000, seeds=2, turns=3, entries=2_000_000)


class Line(NamedTuple):
    """The figures of one learner: regret a round three times, and microseconds a round at each dimension."""

    name: str
    stream: str
    clean: float
    outliers: float
    filtered: float
    microseconds: tuple


def measure(name, scale, entries=ENTRIES):
    entry = entries[name]
    alone, guarded = entry.player(hf.Everything()), entry.player(FILTER)
    cases = ((alone, 0.0), (alone, SHARE), (guarded, SHARE))
    figures = [_median_regret(player, entry.stream, share, scale) for player, share in cases]
    times = tuple(
        math.nan if entry.cubic and dim > _MANY else microseconds(guarded, entry.stream, dim, scale)
        for dim in scale.dims
    )
    return Line(name, entry.stream.__name__, *figures, times)


def _median_regret(player, stream, share, scale):
    seeds = range(scale.seeds)
    return statistics.median(
        regret_a_round(player, stream(scale.rounds, DIM, share, seed), scale.compiled) for seed in seeds
    )


def regret_a_round(player, stream, compiled):
    """On the inliers; infinite if the player lost its way among numbers that are none."""
    keep = ("losses", "sizes", "products", "gradients")
    record = hf.play(player, stream.adversary, keep=keep, compiled=compiled)
    inliers = stream.inliers
    if not np.isfinite(record.sizes[inliers]).all():
        return math.inf
    if stream.comparator is not None:
        return hf.robust_regret(record, inliers, stream.comparator) / float(inliers.sum())
    total = record.gradients[inliers].sum(axis=0)
    worst = -total / max(float(np.linalg.norm(total)), 1e-300)
    return hf.linearised_regret(record, inliers, worst) / float(inliers.sum())


def microseconds(player, stream, dim, scale):
    """The median of several turns, on a clean stream. What does not grow with the rounds is left out."""
    adversary = stream(max(scale.entries // dim, _FEW), dim, 0.0, 0).adversary
    rounds, most = _FEW, adversary.extent()[0]

    def seconds(rounds):
        start = time.perf_counter()
        hf.play(player, adversary, rounds, keep=(), compiled=scale.compiled)
        return time.perf_counter() - start

    seconds(rounds)  # compiles
    fixed = statistics.median(seconds(0) for _ in range(scale.turns))
    while rounds < most and seconds(rounds) < 10.0 * fixed + 0.01:
        rounds = min(4 * rounds, most)
    return 1e6 * (statistics.median(seconds(rounds) for _ in range(scale.turns)) - fixed) / rounds
