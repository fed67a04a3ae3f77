"""Long streams in batches of 1,000 rows: the estimators beside `StandardScaler` and SGD of scikit-learn."""

import time
from functools import partial
from typing import Any

import numpy as np

from holdfast_lab.bench.peers import ABSENT, version
from holdfast_lab.bench.race import race
from holdfast_lab.bench.table import Row, Section

_DIM, _BATCH = 20, 1_000


def measure(run):
    """Numbers and labels: the default, and `AdaGrad`; for numbers also the default of first order."""
    for kind in ("numbers", "labels"):
        title = f"long streams: {kind}, d = {_DIM}, partial_fit in batches of {_BATCH:,}"
        if version("scikit-learn"):
            yield _stream(run, kind, title)
        else:
            yield Section(title, "us a row", [Row("default", most=1.0, note=ABSENT)])


def _stream(run, kind, title):
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    from holdfast._compiled.compiling import expecting
    from holdfast.sklearn import RobustClassifier, RobustRegressor

    rows = run.amount(200_000, 100_000, 200)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, _DIM))
    y = X @ rng.normal(size=_DIM) + 0.1 * rng.normal(size=rows)
    ours: Any
    learners: tuple[str, ...]
    if kind == "labels":
        y, ours, sgd, learners = np.sign(y), RobustClassifier, SGDClassifier, ("adagrad",)
    else:
        ours, sgd, learners = RobustRegressor, SGDRegressor, ("adagrad", "first_order")
    models = {"default": partial(_learn, ours, X, y)}
    models |= {f'learner="{name}"': partial(_learn, partial(ours, learner=name), X, y) for name in learners}
    models[sgd.__name__] = partial(_learn_scaled, sgd, X, y)
    with expecting(np.inf if run.compiled else 0):
        times = race(run, title, models, run.amount(9, 5, 1))
    goals = dict(zip(models, (1.0, 1 / 3), strict=False))
    table = [
        Row(name, 1e6 * times.median(name), times.ratio(name, sgd.__name__), most=goals.get(name))
        for name in models
    ]
    return Section(title, "us a row", table, f"x {sgd.__name__}")


def _learn(make, X, y):
    """Seconds a row of partial_fit, for an estimator that scales."""
    model, known = make(), _classes(make, y)
    start = time.perf_counter()
    for i in range(0, len(X), _BATCH):
        model.partial_fit(X[i : i + _BATCH], y[i : i + _BATCH], **known)
    return (time.perf_counter() - start) / len(X)


def _learn_scaled(make, X, y):
    """Seconds a row of partial_fit, for one that needs a scaler."""
    from sklearn.preprocessing import StandardScaler

    scaler, model, known = StandardScaler(), make(), _classes(make, y)
    start = time.perf_counter()
    for i in range(0, len(X), _BATCH):
        scaled = scaler.partial_fit(X[i : i + _BATCH]).transform(X[i : i + _BATCH])
        model.partial_fit(scaled, y[i : i + _BATCH], **known)
    return (time.perf_counter() - start) / len(X)


def _classes(make, y):
    from sklearn.base import is_classifier

    return {"classes": np.unique(y)} if is_classifier(make()) else {}
