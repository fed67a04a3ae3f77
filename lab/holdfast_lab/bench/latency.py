"""Short jobs: one row at a time, small fits, the first fit of a process, and what default columns cost."""

import time
from functools import partial
from typing import Any

import numpy as np

import holdfast as hf
from holdfast.defaults import recommended
from holdfast_lab.bench.peers import ABSENT, version
from holdfast_lab.bench.processes import environment, printed
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section

_DIM = 20
_FITS = 12
_FIRST = """
import time
import numpy as np
from holdfast.sklearn import {estimator}

rng = np.random.default_rng(0)
X = rng.normal(size=({rows}, 20))
y = X[:, 0] + 0.1 * rng.normal(size={rows}){labels}
start = time.perf_counter()
{estimator}(random_state=0).fit(X, y)
print(time.perf_counter() - start)
"""


def measure(run):
    """The estimators beside SGD, all compiled before; `play` with its default columns beside `keep=()`."""
    if version("scikit-learn"):
        for classes, most in ((2, 0.7), (3, 1.0)):
            yield _one_row(run, classes, most)
        yield _grid(run)
        yield _first_fit(run)
    else:
        yield Section("one row at a time", "us a row", [Row("partial_fit", most=0.7, note=ABSENT)])
    yield _columns(run)


def _one_row(run, classes, most):
    from sklearn.linear_model import SGDClassifier

    from holdfast._compiled.compiling import expecting
    from holdfast.sklearn import RobustClassifier

    rows = run.amount(200, 100, 5)
    X, y = _labelled(rows + 100, classes)
    models = {"holdfast": RobustClassifier(), "SGDClassifier": SGDClassifier()}
    cases = {}
    for name, model in models.items():
        with expecting(np.inf if run.compiled else 0):
            model.partial_fit(X[:100], y[:100], classes=np.arange(classes))
            model.partial_fit(X[:1], y[:1])
        for method in ("partial_fit", "predict"):
            cases[f"{name}, {method}"] = partial(_rows, model, method, X[100:], y[100:])
    title = f"one row at a time: d = {_DIM}, {classes} classes"
    times = race(run, title, cases, run.amount(15, 9, 1))
    rows_of = []
    for method, goal in (("partial_fit", most), ("predict", 1.0)):
        ours, other = f"holdfast, {method}", f"SGDClassifier, {method}"
        rows_of.append(Row(ours, 1e6 * times.median(ours), times.ratio(ours, other), most=goal))
        rows_of.append(Row(other, 1e6 * times.median(other)))
    return Section(title, "us a row", rows_of, "x SGDClassifier")


def _rows(model, method, X, y):
    call = getattr(model, method)
    start = time.perf_counter()
    for i in range(len(X)):
        call(X[i : i + 1], y[i : i + 1]) if method == "partial_fit" else call(X[i : i + 1])
    return (time.perf_counter() - start) / len(X)


def _grid(run):
    from sklearn.linear_model import SGDClassifier
    from sklearn.model_selection import GridSearchCV

    from holdfast._compiled.compiling import expecting
    from holdfast.sklearn import RobustClassifier

    rows = run.amount(8_000, 8_000, 80)  # 6,000 of them in each fit
    X, y = _labelled(rows, 2)
    first_order = GridSearchCV(
        RobustClassifier(learner="adagrad"), {"outliers": [0.05, 0.1, 0.2]}, cv=4, refit=False
    )
    ours = GridSearchCV(RobustClassifier(), {"outliers": [0.05, 0.1, 0.2]}, cv=4, refit=False)
    sgd = GridSearchCV(SGDClassifier(), {"alpha": [1e-5, 1e-4, 1e-3]}, cv=4, refit=False)
    for search in (first_order, ours):
        with expecting(np.inf if run.compiled else 0):
            search.estimator.fit(X[:100], y[:100])
    models = {"holdfast, first order": first_order, "holdfast, default": ours, "SGDClassifier": sgd}
    cases = {name: timed(model.fit, X, y) for name, model in models.items()}
    title = f"GridSearchCV: {_FITS} fits of {3 * rows // 4:,} rows"
    times = race(run, title, cases, run.amount(5, 3, 1))
    goals = {"holdfast, first order": 3.0}
    table = [
        Row(name, times.median(name), times.ratio(name, "SGDClassifier"), most=goals.get(name))
        for name in cases
    ]
    return Section(title, "s", table, "x SGDClassifier")


def _first_fit(run):
    rows = run.amount(6_000, 6_000, 60)
    table = []
    for estimator, labels in (("RobustClassifier", " > 0.0"), ("RobustRegressor", "")):
        seconds = []
        for i in range(run.amount(5, 3, 1)):
            env = environment(run.scratch) | {"HOLDFAST_CACHE_DIR": str(run.scratch / f"{estimator}-{i}")}
            code = _FIRST.format(rows=rows, estimator=estimator, labels=labels)
            seconds.append(float(printed(code, env)))
        table.append(Row(f"{estimator}.fit", float(np.median(seconds)), most=3.0))
    return Section(f"the first fit of a process, {rows:,} rows, from an empty cache", "s", table)


def _columns(run):
    """What `play` costs as users call it, with its default columns."""
    rounds, dim = run.amount(200_000, 100_000, 100), 100
    X, y = dense(rounds, dim)
    games: dict[str, tuple[Any, Any]] = {
        "the player of RobustClassifier": (recommended(False), hf.Hinge()),
        "OGD with TopK(200), logistic": (hf.Filtered(hf.OGD(hf.Ball(10.0)), hf.TopK(200)), hf.Logistic()),
    }
    cases = {}
    for name, (player, loss) in games.items():
        replay = hf.Replay(X, y, loss)
        cases[name] = timed(hf.play, player, replay, compiled=run.compiled, per=rounds)
        cases[f"{name}, keep=()"] = timed(hf.play, player, replay, keep=(), compiled=run.compiled, per=rounds)
    title = f"default columns: {rounds:,} rounds, d = {dim}"
    times = race(run, title, cases, run.amount(15, 9, 1))
    table = []
    for name in games:
        bare = f"{name}, keep=()"
        table.append(Row(name, 1e9 * times.median(name), times.ratio(name, bare), most=1.2))
        table.append(Row(bare, 1e9 * times.median(bare)))
    return Section(title, "ns a round", table, "x keep=()")


def _labelled(rows, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, _DIM))
    y = (X[:, 0] + 0.1 * rng.normal(size=rows) > 0.0).astype(int)
    return X, y + (X[:, 1] > 1.0) if classes > 2 else y
