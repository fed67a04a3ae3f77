"""The cost of the guard on a stream without outliers: as a player, and in the estimators."""

from typing import Any

import numpy as np

import holdfast as hf
from holdfast.defaults import recommended
from holdfast.options import LEARNER
from holdfast_lab.bench.peers import ABSENT, version
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section

_MOST = 1.15
_TASKS: dict[str, tuple[bool, Any]] = {"labels": (False, hf.Logistic()), "numbers": (True, hf.Absolute())}


def measure(run):
    """The default player beside its learner alone, and the estimators beside those with outliers=0."""
    rounds = run.amount(200_000, 100_000, 100)
    for dim in (20, 100):
        yield _players(run, rounds, dim)
        yield _estimators(run, rounds, dim)


def _players(run, rounds, dim):
    """`recommended` with a learner of first order, beside the same that keeps every round."""
    cases = {}
    for task, (regression, loss) in _TASKS.items():
        X, y = _table(rounds, dim, regression)
        replay = hf.Replay(X, y, loss)
        bare = hf.Filtered(hf.Scaled(LEARNER, target=regression), hf.Everything())
        guarded = recommended(regression, learner=LEARNER)
        for name, player in ((f"{task}, guarded", guarded), (f"{task}, unguarded", bare)):
            cases[name] = timed(hf.play, player, replay, keep=(), compiled=run.compiled, per=rounds)
    title = f"the guard: {rounds:,} rounds, d = {dim}, no outliers"
    times = race(run, title, cases, run.amount(15, 9, 1))
    return Section(title, "ns a round", list(_rows(times, _TASKS, "guarded", "unguarded")), "x unguarded")


def _estimators(run, rounds, dim):
    """`fit` with one epoch and `partial_fit`, with the defaults and with outliers=0."""
    title = f"the estimators: {rounds:,} rows, {dim} features, no outliers"
    against, tasks = "x outliers=0", [f"{task}, {how}" for task in _TASKS for how in ("fit", "partial_fit")]
    if not version("scikit-learn"):
        return Section(title, "ns a row", [Row(task, most=_MOST, note=ABSENT) for task in tasks], against)
    cases = {}
    for task, (regression, _) in _TASKS.items():
        X, y = _table(rounds, dim, regression)
        for outliers in ("auto", 0):
            cases[f"{task}, fit, {outliers}"] = timed(_fit, regression, outliers, X, y, per=rounds)
            cases[f"{task}, partial_fit, {outliers}"] = timed(_learn, regression, outliers, X, y, per=rounds)
    times = race(run, title, cases, run.amount(15, 9, 1))
    return Section(title, "ns a row", list(_rows(times, tasks, "auto", "0")), against)


def _rows(times, tasks, name, other):
    for task in tasks:
        ratio = times.ratio(f"{task}, {name}", f"{task}, {other}")
        yield Row(f"{task}, {name}", 1e9 * times.median(f"{task}, {name}"), ratio, most=_MOST)
        yield Row(f"{task}, {other}", 1e9 * times.median(f"{task}, {other}"))


def _table(rounds, dim, regression):
    X, y = dense(rounds, dim)
    if regression:
        rng = np.random.default_rng(1)
        y = X @ rng.standard_normal(dim) + rng.standard_normal(rounds)
    return X, y


def _fit(regression, outliers, X, y):
    _estimator(regression)(outliers, n_epochs=1, random_state=0).fit(X, y)


def _learn(regression, outliers, X, y):
    model = _estimator(regression)(outliers)
    model.partial_fit(X, y) if regression else model.partial_fit(X, y, classes=[-1.0, 1.0])


def _estimator(regression):
    from holdfast.sklearn import RobustClassifier, RobustRegressor

    return RobustRegressor if regression else RobustClassifier
