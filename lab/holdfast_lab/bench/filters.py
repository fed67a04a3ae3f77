"""A filter alone, without a game, and its histogram on the worst streams for it."""

from typing import Any

import numpy as np

import holdfast as hf
from holdfast_lab.bench import streams
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.table import Row, Section

_ONE_PASS = "one pass over the sizes"
_KINDS = ("binomial", "bernstein", "newsvendor")
_WINDOWED = "TopShare(0.01, window=1000)"


def measure(run):
    """Nanoseconds a round of each filter; 1 % of the sizes are a thousand times too large."""
    n, m, jumps = run.amount(
        (10_000_000, 1_000_000, 1_000_000), (1_000_000, 100_000, 100_000), (200, 200, 100)
    )
    sizes = streams.sizes(n)
    filters: dict[str, Any] = {f"TopK({k})": hf.TopK(k) for k in (10, 1000)}
    filters |= {"TopShare(0.01)": hf.TopShare(0.01)}
    filters |= {_WINDOWED: hf.TopShare(0.01, window=1_000)}
    filters |= {
        f'Quantile(0.99, ranks="{kind}")': hf.Quantile(0.99, horizon=n, ranks=kind) for kind in _KINDS
    }
    yield _alone(run, f"a filter alone, {n:,} sizes", filters, sizes, most=30.0)

    yield _in_a_game(run)

    exact: dict[str, Any] = {"TopShare(0.01, exact=True)": hf.TopShare(0.01, exact=True)}
    for kind in _KINDS:
        name = f'Quantile(0.99, ranks="{kind}", exact=True)'
        exact[name] = hf.Quantile(0.99, horizon=m, ranks=kind, exact=True)
    yield _alone(run, f"a filter alone that stores all {m:,} sizes", exact, sizes[:m].copy())

    even = np.arange(jumps) % 2 == 0
    extremes = {
        "between 1e-300 and 1e300": np.where(even, 1e-300, 1e300),
        "between 1e290 and 1e308": np.where(even, 1e290, 1e308),  # both far from where the search starts
    }
    title = "the histogram on a stream whose rank jumps every round"
    cases = {what: timed(_jump, run, x, per=jumps) for what, x in extremes.items()}
    times = race(run, title, cases, run.amount(5, 5, 1))
    yield Section(title, "ns a round", [Row(what, 1e9 * times.median(what), most=5_000.0) for what in cases])


def _alone(run, title, filters, sizes, most=None):
    cases = {_ONE_PASS: timed(_call, run, add_up, sizes, per=len(sizes))}
    for name, filter in filters.items():
        cases[name] = timed(_sift, run, filter, sizes, per=len(sizes))
    times = race(run, title, cases, run.amount(5, 5, 1))
    rows = [Row(_ONE_PASS, 1e9 * times.median(_ONE_PASS))]
    rows += [Row(name, 1e9 * times.median(name), most=most) for name in filters]
    return Section(title, "ns a round", rows)


def _in_a_game(run):
    """What filters with and without a window cost in a game, beside none."""
    rounds, dim = run.amount(200_000, 50_000, 100), 100
    X, y = streams.dense(rounds, dim)
    filters: dict[str, Any] = {
        "Everything()": hf.Everything(),
        "TopShare(0.01)": hf.TopShare(0.01),
        _WINDOWED: hf.TopShare(0.01, window=1_000),
        "TopK(20, window=1000)": hf.TopK(20, window=1_000),
    }
    replay, cases = hf.Replay(X, y, hf.Logistic()), {}
    for name, filter in filters.items():
        player = hf.Filtered(hf.OGD(hf.Ball(10.0)), filter)
        cases[name] = timed(hf.play, player, replay, keep=(), compiled=run.compiled, per=rounds)
    title = f"a filter in a game: {rounds:,} rounds, d = {dim}, no outliers"
    times = race(run, title, cases, run.amount(15, 9, 1))
    ratios = {name: times.ratio(name, "Everything()") for name in filters}
    most = {_WINDOWED: 1.10}
    rows = [Row(name, 1e9 * times.median(name), ratios[name], most=most.get(name)) for name in filters]
    return Section(title, "ns a round", rows, "x Everything()")


def sift(filter, state, sizes):
    """The number of sizes that a filter keeps."""
    kept = 0
    for i in range(len(sizes)):
        state, _, keep = filter.decide(state, sizes[i])
        if keep:
            kept += 1
    return kept


def add_up(sizes):
    total = 0.0
    for i in range(len(sizes)):
        total += sizes[i]
    return total


def jump(sketch, sizes):
    """In every round the requested rank is far from the last one."""
    total = 0.0
    for i in range(len(sizes)):
        sketch = sketch.push(sizes[i])
        rank = 1 if i % 2 == 0 else sketch.seen()
        sketch, value = sketch.at(rank)
        total += value
    return total


def _sift(run, filter, sizes):
    return _call(run, sift, filter, filter.init(1), sizes)


def _jump(run, sizes):
    return _call(run, jump, hf.sketches.LogHistogram.empty(), sizes)


def _call(run, function, *args):
    if not run.compiled:
        return function(*args)
    from holdfast._compiled import call

    return call(function, *args)
