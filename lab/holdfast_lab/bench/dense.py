"""Goal 1: whole games on dense rows, beside other libraries and beside the limit of the memory."""

import holdfast as hf
from holdfast_lab.bench.peers import AGAINST, contest
from holdfast_lab.bench.race import race, timed
from holdfast_lab.bench.streams import dense
from holdfast_lab.bench.table import Row, Section

_GOALS = {"scikit-learn": 2.0, "scikit-learn, shuffle=False": None, "Vowpal Wabbit": 15.0, "River": 300.0}


def measure(run):
    """OGD on a ball with TopK(200), d = 100, float64: rounds a second of `play`, on two streams.

    The goals are for the stream with 200 outliers. River learns from the first 20,000 rounds only; they are
    enough to be larger than the caches.
    """
    rounds, dim = run.amount(200_000, 50_000, 100), 100
    player = hf.Filtered(hf.OGD(hf.Ball(10.0)), hf.TopK(200))
    options = {"keep": (), "compiled": run.compiled, "per": rounds}
    for share, goals in ((0.001, _GOALS), (0.0, dict.fromkeys(_GOALS))):
        X, y = dense(rounds, dim, share)
        title = f"dense: {rounds:,} rounds, d = {dim}, {'0.1 %' if share else 'no'} outliers, one core each"
        ours = timed(hf.play, player, hf.Replay(X, y, hf.Logistic()), **options)
        rows = contest(run, title, {"holdfast, logistic, TopK(200)": ours}, X, y, goals)
        yield Section(title, "million rounds/s", rows, AGAINST, headline=share > 0.0)
        yield _limit(run, title, timed(hf.play, player, hf.Replay(X, y, hf.Hinge()), **options), X, share)


def _limit(run, title, ours, X, share):
    """A game with the hinge loss beside one pass over the memory."""
    name = "holdfast, hinge, TopK(200)"
    times = race(run, title, {"one X.sum()": timed(X.sum, per=len(X)), name: ours}, run.amount(15, 9, 1))
    speed, least = times.ratio("one X.sum()", name), 0.5 if share else None
    rows = [
        Row("one X.sum()", 1e-6 / times.median("one X.sum()")),
        Row(name, 1e-6 / times.median(name), speed, least=least),
    ]
    return Section(f"{title}: the memory's limit", "million rounds/s", rows, "of X.sum()", headline=share > 0)
