"""A tracker of widths and a level alone: a value in Python, and many compiled."""

from typing import Any

import numpy as np

import holdfast as hf
from holdfast.intervals.tracker import Tracker
from holdfast.intervals.widths import NUMBERS, follow_each
from holdfast.levels.baseline import Baseline
from holdfast.levels.level import follow_values
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.table import Row, Section

_TRACKERS: dict[str, Any] = {
    "Tracker(0.9)": Tracker(np.array([0.9])),
    "Tracker(0.9, filter=Everything())": Tracker(np.array([0.9]), filter=hf.Everything()),
    "Tracker of the estimators, 5 coverages": NUMBERS,
}
_LEVELS: dict[str, Any] = {"Level()": Baseline(), "Level(season=24)": Baseline(season=24)}


def measure(run):
    """Nanoseconds a value; the goals are 30, and 2,000 in Python."""
    n, m = run.amount((5_000_000, 20_000), (500_000, 5_000), (200, 200))
    rng = np.random.default_rng(0)
    scores, values = np.abs(rng.standard_normal(n)), rng.normal(20.0, 1.0, n)
    cases = {name: timed(_follow, run, each, scores, per=n) for name, each in _TRACKERS.items()}
    cases |= {name: timed(_level, run, each, values, per=n) for name, each in _LEVELS.items()}
    title = f"intervals and levels, {n:,} values"
    times = race(run, title, cases, run.amount(9, 5, 1))
    most = dict.fromkeys(cases, 30.0)
    yield Section(
        title, "ns a value", [Row(name, 1e9 * times.median(name), most=most[name]) for name in cases]
    )

    some = values[:m].tolist()
    alone = {name: timed(_one_by_one, each.season, some, per=m) for name, each in _LEVELS.items()}
    title = "Level.update, one value at a time in Python"
    times = race(run, title, alone, run.amount(15, 9, 1))
    rows = [Row(name, 1e6 * times.median(name), most=2.0 if name == "Level()" else None) for name in alone]
    yield Section(title, "us a value", rows)


def _follow(run, tracker, scores):
    return _call(run, follow_each, tracker.begin(), tracker, scores)


def _level(run, baseline, values):
    numbers, flags = np.zeros((len(values), 5)), np.zeros((len(values), 4), np.bool_)
    return _call(run, follow_values, baseline.begin(), baseline, values, numbers, flags)


def _one_by_one(season, values):
    level = hf.Level(season=season)
    for value in values:
        level.update(value)


def _call(run, function, *args):
    if not run.compiled:
        return function(*args)
    from holdfast._compiled import call

    return call(function, *args)
