"""Goal 4: one round at a time from Python, d = 20."""

import time

import holdfast as hf
from holdfast_lab.bench.peers import ABSENT, version
from holdfast_lab.bench.race import race
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section

_COMPILED = "Player(compiled=True), predict + learn"


def measure(run):
    """`Player.predict` and `learn` beside River's `predict_one` and `learn_one`, d = 20, logistic.

    Rows are arrays for holdfast and dictionaries for River, in lists that are made before. The first round of
    a compiled player, in which it compiles, is not timed.
    """
    rounds, dim = run.amount(5_000, 2_000, 20), 20
    X, y = dense(rounds, dim, share=0.01)
    cases = {
        _COMPILED: _ours(X, y, compiled=run.compiled),
        "Player(compiled=False), predict + learn": _ours(X, y, compiled=False),
    }
    name = f"River {version('River')}, predict_one + learn_one"
    if version("River"):
        cases[name] = _river(X, y)
    title = f"one round at a time: d = {dim}, logistic, TopK(200)"
    times = race(run, title, cases, run.amount(15, 9, 1))
    rows = [Row(what, 1e6 * times.median(what)) for what in cases]
    if version("River"):
        rows[0] = rows[0]._replace(ratio=times.ratio(_COMPILED, name), most=0.5)
    else:
        rows.append(Row("River, predict_one + learn_one", most=0.5, note=ABSENT))
    yield Section(title, "us a round", rows, "x River", headline=True)


def _ours(X, y, compiled):
    rule, loss = hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopK(200)), hf.Logistic()
    rounds = list(zip(X, y.tolist(), strict=True))

    def case():
        player = hf.Player(rule, dim=X.shape[1], compiled=compiled)
        player.learn(*rounds[0], loss)
        start = time.perf_counter()
        for x, label in rounds:
            player.predict()
            player.learn(x, label, loss)
        return (time.perf_counter() - start) / len(rounds)

    return case


def _river(X, y):
    from river.linear_model import LogisticRegression

    rounds = [(dict(enumerate(x.tolist())), bool(label > 0.0)) for x, label in zip(X, y, strict=True)]

    def case():
        model = LogisticRegression()
        start = time.perf_counter()
        for x, label in rounds:
            model.predict_one(x)
            model.learn_one(x, label)
        return (time.perf_counter() - start) / len(rounds)

    return case
