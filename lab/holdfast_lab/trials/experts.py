"""Experts on real data: portfolios of stocks and teams of forecasters, with and without a filter."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast_lab.trials.corruptions import SHARE, SPARED

_BASIS_POINTS = 1e4


class Experts(NamedTuple):
    """The forecasts of all experts in each round, the outcome, and the rounds that the source marks."""

    E: np.ndarray
    y: np.ndarray
    marked: np.ndarray

    def __getitem__(self, rounds):
        return Experts(self.E[rounds], self.y[rounds], self.marked[rounds])


# -- corruptions: they overwrite the bad rounds


def natural(table, bad, rng):
    bad[:] = False


def one_stock(table, bad, rng):
    """The price relative of one stock x 1000, a random one in each round."""
    days = np.flatnonzero(bad)
    table.E[days, rng.integers(table.E.shape[1], size=len(days))] *= 1000.0


def worst_stock(table, bad, rng):
    """The price relative of the stock that is worst in hindsight, x 1000."""
    table.E[bad, np.log(table.E).sum(axis=0).argmin()] *= 1000.0


def forecasts(table, bad, rng):
    """All forecasts x 1000."""
    table.E[bad] *= 1000.0


def outcome(table, bad, rng):
    """The outcome x -1000."""
    table.y[bad] *= -1000.0


# -- the games, and the rates of `EG`


def portfolio(table):
    return hf.Replay(table.E, table.y, hf.learners.LogWealth())


def mixture(table):
    """The loss of an expert is its absolute error."""
    return hf.Gradients(np.abs(table.E - table.y[:, None]))


def rate_for_portfolios(table):
    return 0.05


def rate_for_errors(table):
    """sqrt(8 ln K / T) over the largest range of losses in the first rounds, which are not corrupted."""
    ranges = np.ptp(mixture(table[:SPARED]).G, axis=1)
    rounds, count = table.E.shape
    return math.sqrt(8.0 * math.log(count) / rounds) / float(ranges.max())


class Data(NamedTuple):
    """A data set: its game, the rate of `EG`, the unit of its scores, and its corruptions."""

    game: Callable[[Experts], Any]
    rate: Callable[[Experts], float]
    unit: float  # a score is the mean loss times this
    score: str
    kinds: dict[str, Callable]


DATA = {
    "nyse_new": Data(
        portfolio,
        rate_for_portfolios,
        -_BASIS_POINTS,
        "growth of wealth, in basis points a day",
        {"natural": natural, "a stock x1000": one_stock, "worst stock x1000": worst_stock},
    ),
    "covid_deaths": Data(
        mixture,
        rate_for_errors,
        1.0,
        "mean absolute error of an expert drawn by the weights, in deaths",
        {"natural": natural, "forecasts x1000": forecasts, "outcome x-1000": outcome},
    ),
}


def load(folder, name):
    """The experts are the columns e_*; y and `outlier` are optional."""
    import pandas as pd

    frame = pd.read_csv(folder / name / "data.csv.gz")
    E = frame[[column for column in frame.columns if column.startswith("e_")]].to_numpy(np.float64)
    if E.shape[1] < 2:
        raise ValueError(f"{name}: expected columns e_*, an expert each: got {', '.join(frame.columns)}")
    y = frame["y"].to_numpy(np.float64) if "y" in frame else np.zeros(len(E))
    marked = frame["outlier"].to_numpy(bool) if "outlier" in frame else np.zeros(len(E), bool)
    return Experts(np.ascontiguousarray(E), y, marked)


def available(folder):
    """The names of the data sets in the folder; raises if there is none."""
    names = [name for name in DATA if (folder / name / "data.csv.gz").is_file()]
    if not names:
        raise FileNotFoundError(f"{folder} holds no NAME/data.csv.gz, NAME one of {', '.join(DATA)}")
    return names


def corrupt(table, kind, seed):
    """A corrupted copy, and its good rounds: neither corrupted nor marked."""
    rng = np.random.default_rng(seed)
    bad = rng.random(len(table.y)) < SHARE
    bad[:SPARED] = False
    copy = Experts(table.E.copy(), table.y.copy(), table.marked)
    kind(copy, bad, rng)
    return copy, ~bad & ~table.marked


class Result(NamedTuple):
    """One learner on one data set under one corruption: its score by filter, a median over the seeds."""

    data: str
    kind: str
    learner: str
    scores: dict[str, float]


FILTERS = ("oracle", "no filter", "TopK", "TopShare(0.02)")


def compare_experts(folder, name, seeds, compiled=True):
    """Yield the results of a data set, for each corruption and learner."""
    data, table = DATA[name], load(folder, name)
    for kind, spoil in data.kinds.items():
        runs = [corrupt(table, spoil, seed) for seed in range(seeds if spoil is not natural else 1)]
        for learner in ("AdaHedge", "Squint", "EG"):
            scores = [_scores(data, learner, spoiled, good, compiled) for spoiled, good in runs]
            yield Result(
                name, kind, learner, {f: float(np.median([each[f] for each in scores])) for f in FILTERS}
            )


def references(folder, name):
    """The scores of equal weights and of the best expert, on the rounds that are not marked."""
    data, table = DATA[name], load(folder, name)
    good, count = _scored(~table.marked), table.E.shape[1]
    weights = [np.full(count, 1.0 / count), *np.eye(count)]
    scores = [_score(data, hf.learners.Fixed(u), hf.Everything(), table, good, False) for u in weights]
    return scores[0], min(scores[1:], key=lambda score: score / data.unit)


def _scores(data, name, table, good, compiled):
    """The scores by filter. `TopK` has the true number of bad rounds; the oracle meets only good ones."""
    learner = {
        "AdaHedge": hf.AdaHedge(),
        "Squint": hf.learners.Clipped(hf.learners.Squint()),
        "EG": hf.EG(data.rate(table)),
    }[name]
    compiled = compiled and name == "Squint"  # interpreted, a round takes a millisecond
    filters = (hf.Everything(), hf.TopK(int((~good).sum())), hf.TopShare(0.02))
    scored, all_good = _scored(good), np.ones(int(good.sum()), bool)
    oracle = _score(data, learner, hf.Everything(), table[good], all_good & scored[good], compiled)
    others = (_score(data, learner, filter, table, scored, compiled) for filter in filters)
    return dict(zip(FILTERS, (oracle, *others), strict=True))


def _score(data, learner, filter, table, scored, compiled):
    player = hf.Filtered(learner, filter, on=hf.measures.Range())
    record = hf.play(player, data.game(table), keep=("losses",), compiled=compiled)
    return data.unit * float(record.column("losses")[scored].mean())


def _scored(good):
    scored = good.copy()
    scored[:SPARED] = False
    return scored
