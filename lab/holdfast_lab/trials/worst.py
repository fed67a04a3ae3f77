"""A search, by hill climbing, for the rounds with the largest regret / bound of a learner."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast_lab.trials import ratios

LENGTHS = (1, 3, 10, 40)  # rounds


class Case(NamedTuple):
    """A learner, the cost of a round, the function for regret / bound, and the lengths of its rows."""

    learner: Any
    cost: str
    ratio: Callable[..., float] = ratios.linear_ratio
    widths: tuple[int, ...] = (1, 2)


_BALL, _BOX = hf.Ball(1.0), hf.Box(-1.0, 1.0)

CASES = {
    "`OGD`, adaptive": Case(hf.OGD(_BALL), "O(dim); nonzeros on a ball"),
    "`OGD`, strongly convex": Case(hf.OGD(_BALL, hf.StronglyConvex(1.0)), "the same", ratios.bowl_ratio),
    "`AdaGrad` on a box": Case(hf.AdaGrad(_BOX), "O(nonzeros)"),
    "`AdaGrad` on a ball or simplex": Case(hf.AdaGrad(_BALL), "O(dim)"),
    "`AdaFTRL`": Case(hf.AdaFTRL(_BALL), "O(nonzeros)"),
    "`SoloFTRL`": Case(hf.learners.SoloFTRL(hf.domains.Everywhere()), "O(dim)"),
    "`AdaHedge`": Case(hf.AdaHedge(), "O(dim)", widths=(2, 3)),
    "`EG`": Case(hf.EG(0.5), "O(dim)", widths=(2, 3)),
    "`Clipped(Squint())`": Case(hf.learners.Clipped(hf.learners.Squint()), "O(etas dim)", widths=(2, 3)),
    "`Clipped(FreeGrad())`": Case(hf.learners.Clipped(hf.learners.FreeGrad()), "O(dim)"),
    "`FreeGrad`, with the largest size known": Case(hf.learners.FreeGrad(), "the same", ratios.hinted_ratio),
    "`ONS`": Case(hf.ONS(_BALL, 1.0), "O(dim²), dim³ where the ball binds", ratios.curved_ratio),
    "`Clipped(MetaGrad(Ball(1.0)))`": Case(
        hf.learners.Clipped(hf.MetaGrad(_BALL)), "O(etas dim²), etas dim³ where the ball binds"
    ),
    "`DiagonalMetaGrad`": Case(hf.learners.DiagonalMetaGrad(_BOX), "O(etas nonzeros)"),
    "`OnlineRidge`": Case(hf.OnlineRidge(), "O(dim²)", ratios.squared_ratio, (2, 3)),
    "`VAW`": Case(hf.VAW(), "O(dim²)", ratios.squared_ratio, (2, 3)),
    "`ScaleInvariant`": Case(hf.ScaleInvariant(), "O(nonzeros)", ratios.lipschitz_ratio, (2, 3)),
    "`Bettors`": Case(hf.learners.Bettors(), "O(nonzeros)", ratios.limited_ratio),
    "`Reserved`": Case(hf.learners.Reserved(1), "O(dim)", ratios.reserved_ratio),
}


class Found(NamedTuple):
    """The largest ratio after one round, and after any number of them."""

    first: float
    worst: float
    rounds: int  # at the worst ratio


def search(case, steps, seed=0, lengths=LENGTHS):
    """Climb `steps` steps for every length and width. The result depends on the arguments only."""
    by_length = {
        rounds: max(
            climb(lambda rows: case.ratio(case.learner, rows), rounds, width, steps, seed)
            for width in case.widths
        )
        for rounds in lengths
    }
    worst = max(by_length.values())
    return Found(by_length.get(1, 0.0), worst, next(n for n, ratio in by_length.items() if ratio == worst))


def climb(measure, rounds, width, steps, seed, starts=3):
    """The largest measure found by small changes that do not lower it, from a few random starts."""
    best = 0.0
    for start in range(starts):
        rng = np.random.default_rng([seed, rounds, width, start])
        rows = rng.choice([-1.0, 0.0, 0.5, 1.0], (rounds, width))
        here = measure(rows)
        for step in range(steps // starts):
            tried = changed(rows, rng, 0.5 ** (10.0 * step * starts / steps))
            there = measure(tried)
            if there >= here:
                rows, here = tried, there
        best = max(best, here)
    return best


def changed(rows, rng, reach):
    """Changed rounds: one is new, scaled or a copy, or all later ones are scaled, or some moved a little."""
    tried, t = rows.copy(), rng.integers(len(rows))
    change = rng.integers(7)
    if change == 0:
        tried[t] = rng.standard_normal(rows.shape[1])
    elif change == 1:
        tried[t] *= rng.choice([-1.0, 0.5, 2.0, 10.0])
    elif change == 2:
        tried[t:] *= rng.choice([-1.0, 0.5, 2.0])
    elif change == 3:
        tried[t] = tried[rng.integers(len(rows))]
    elif change == 4:
        tried[t] *= 1.0 + reach * rng.standard_normal()
    else:
        some = rng.random((len(rows), 1)) < rng.choice([0.2, 1.0])
        tried += reach * some * rng.standard_normal(rows.shape) * np.abs(tried).max(axis=1, keepdims=True)
    return np.where(np.abs(tried) < 1e-100, 0.0, np.clip(tried, -1e100, 1e100))
