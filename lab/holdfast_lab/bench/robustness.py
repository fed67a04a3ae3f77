"""Goal 2: the cost of a filter on a stream without outliers."""

from typing import Any

import holdfast as hf
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section


def measure(run):
    """OGD with each filter beside OGD with `Everything`, on the same clean stream, d = 100, logistic."""
    rounds, dim = run.amount(200_000, 100_000, 100), 100
    X, y = dense(rounds, dim)
    replay = hf.Replay(X, y, hf.Logistic())
    filters: dict[str, tuple[Any, float | None]] = {
        "Everything()": (hf.Everything(), None),
        "TopK(200)": (hf.TopK(200), 1.05),
        "TopShare(0.01)": (hf.TopShare(0.01), 1.08),
        "Quantile(0.99, horizon=T)": (hf.Quantile(0.99, horizon=rounds), 1.08),
    }
    cases = {
        name: timed(
            hf.play,
            hf.Filtered(hf.OGD(hf.Ball(10.0)), filter),
            replay,
            keep=(),
            compiled=run.compiled,
            per=rounds,
        )
        for name, (filter, _) in filters.items()
    }
    title = f"the cost of robustness: {rounds:,} rounds, d = {dim}, no outliers"
    times = race(run, title, cases, run.amount(25, 15, 1))
    rows = [
        Row(name, 1e9 * times.median(name), times.ratio(name, "Everything()"), most=most)
        for name, (_, most) in filters.items()
    ]
    yield Section(title, "ns a round", rows, "x Everything()", headline=True)
