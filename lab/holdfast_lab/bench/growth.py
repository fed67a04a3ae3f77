"""Goal 7: the cost of a round with longer streams, larger budgets and wider rows."""

import numpy as np

import holdfast as hf
from holdfast_lab.bench import drawing
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section

_PART = 1_000_000


def measure(run):
    """Rounds a second over T, k and d, and the exponent of the time of a round; in one picture."""
    panels = [_rounds(run), _budgets(run), _dims(run)]
    rows = []
    for panel, most in zip(panels, (0.05, 0.05, 1.1), strict=True):  # long rows do not fit the first cache
        points = [Row(f"{panel.letter} = {x:,}", y) for x, y in zip(panel.x, panel.y, strict=True)]
        yield Section(f"growth with {panel.letter}: {panel.title}", "million rounds/s", points)
        rows.append(Row(f"with {panel.letter}, {panel.title}", panel.power(), most=most))
    yield Section("growth: the time of a round is like a power", "exponent", rows, headline=True)
    if drawing.possible():
        drawing.growth(panels, run.to / "growth.png")


def _rounds(run):
    """Plays the same part several times, so that the memory does not grow with T."""
    lengths = [10**i for i in run.amount(range(4, 9), range(4, 8), range(1, 4))]
    X, y = dense(min(_PART, lengths[-1]), 2, share=0.01, dtype=np.float32)
    player = hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopShare(0.01))
    cases = {T: timed(_in_parts, run, player, X, y, T, per=T) for T in lengths}
    return _panel(run, "T", "d = 2, TopShare(0.01), float32", cases, 0.0)


def _in_parts(run, player, X, y, rounds):
    record = None
    for done in range(0, rounds, len(X)):
        part = hf.Replay(X[: rounds - done], y[: rounds - done], hf.Logistic())
        record = hf.play(player, part, keep=(), after=record, compiled=run.compiled)


def _budgets(run):
    rounds = run.amount(10_000_000, 1_000_000, 100)
    X, y = dense(rounds, 2, share=0.01, dtype=np.float32)
    replay = hf.Replay(X, y, hf.Logistic())
    cases = {
        k: timed(
            hf.play,
            hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopK(k)),
            replay,
            keep=(),
            compiled=run.compiled,
            per=rounds,
        )
        for k in [10**i for i in range(run.amount(6, 5, 3))]
    }
    return _panel(run, "k", f"d = 2, TopK(k), {rounds:,} rounds, float32", cases, 0.0)


def _dims(run):
    numbers = run.amount(20_000_000, 5_000_000, 1_000)
    cases = {}
    for dim in run.amount(*[[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000]] * 2, [1, 10, 100]):
        rounds = min(numbers // dim, numbers // 20)
        X, y = dense(rounds, dim, share=0.01)
        replay = hf.Replay(X, y, hf.Logistic())
        player = hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopK(100))
        cases[dim] = timed(hf.play, player, replay, keep=(), compiled=run.compiled, per=rounds)
    return _panel(run, "d", "TopK(100), float64", cases, -1.0)


def _panel(run, letter, title, cases, slope):
    times = race(run, f"growth with {letter}", cases, run.amount(3, 3, 1))
    return drawing.Panel(letter, title, list(cases), [1e-6 / times.median(x) for x in cases], slope)
