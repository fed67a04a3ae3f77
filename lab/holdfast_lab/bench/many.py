"""Goal 6: many independent players in one call, on all cores."""

import os

import numpy as np

import holdfast as hf
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section


def measure(run):
    """`play_many` on streams of 20 rounds, d = 20, mixed by a column of keys: two workers beside one."""
    keys, rounds, dim = run.amount(100_000, 20_000, 10), 20, 20
    X, y = dense(keys * rounds, dim, share=0.01)
    owner = np.random.default_rng(1).permutation(np.repeat(np.arange(keys), rounds))
    player = hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopK(1))
    replay = hf.Replay(X, y, hf.Logistic())
    options = {"keep": (), "compiled": run.compiled}
    cases = {
        f"{workers} worker{'s' * (workers > 1)}": timed(
            hf.play_many, player, replay, owner, workers=workers, per=len(X), **options
        )
        for workers in (1, 2)
    }
    title = f"many at once: {keys:,} keys of {rounds} rounds, d = {dim}"
    times = race(run, title, cases, run.amount(9, 7, 1))
    rows = [Row(what, 1e-6 / times.median(what)) for what in cases]
    if (os.cpu_count() or 1) > 1:
        rows[1] = rows[1]._replace(ratio=times.ratio("1 worker", "2 workers"), least=1.7)
    yield Section(title, "million rounds/s", rows, "x one worker", headline=True)
