"""Places of contestants over many scenarios, with confidence."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from holdfast_lab.gauntlet.scores import Score

DRAWS = 1000  # of scenarios, for the confidence
_EQUAL = 1e-3  # excesses that differ by less are equal


class Place(NamedTuple):
    """The mean rank of a contestant, 1 for the best, and 95 % confidence over the scenarios."""

    rank: float
    low: float
    high: float


def places(scores: Mapping[str, Mapping[str, Score]]) -> dict[str, Place]:
    """From scores[scenario][contestant]. Who did not play a scenario is not ranked in it.

    The ranks of a scenario go from 1 to the number of all contestants, also where fewer played it. Ties share
    their ranks, and all who broke are last. Scenarios are drawn again 1,000 times for the confidence, always
    the same draws.

    >>> fine, bad = Score(1.0, 0.0), Score(None, None, broken=True)
    >>> places({"a": {"x": fine, "y": bad}, "b": {"x": fine, "y": bad}})
    {'x': Place(rank=1.0, low=1.0, high=1.0), 'y': Place(rank=2.0, low=2.0, high=2.0)}
    """
    names = list(dict.fromkeys(name for row in scores.values() for name in row))
    table = np.full((len(scores), len(names)), np.nan)
    for i, row in enumerate(scores.values()):
        ranks = _ranks([_figure(score) for score in row.values()])
        scale = (len(names) - 1) / max(len(row) - 1, 1)
        for name, rank in zip(row, ranks, strict=True):
            table[i, names.index(name)] = 1.0 + (rank - 1.0) * scale
    draws = np.random.default_rng(0).integers(len(scores), size=(DRAWS, len(scores)))
    found = {}
    for j, name in enumerate(names):
        column = table[:, j]
        drawn = column[draws]
        counts = np.isfinite(drawn).sum(axis=1)
        means = np.nansum(drawn, axis=1)[counts > 0] / counts[counts > 0]
        low, high = np.quantile(means, (0.025, 0.975))
        found[name] = Place(float(np.nanmean(column)), float(low), float(high))
    return found


def _figure(score: Score) -> float:
    return np.inf if score.excess is None else round(score.excess / _EQUAL) * _EQUAL


def _ranks(figures: list[float]) -> np.ndarray:
    """1 for the smallest; ties share the mean of their ranks."""
    values = np.array(figures)
    below = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return below + (equal + 1) / 2.0
