"""Goal 3: sparse rows, at a cost that grows with the nonzeros and not with the columns."""

import importlib.util

import holdfast as hf
from holdfast_lab.bench.peers import ABSENT, AGAINST, contest
from holdfast_lab.bench.race import timed
from holdfast_lab.bench.streams import FIELDS, sparse
from holdfast_lab.bench.table import Row, Section

_GOALS = {"scikit-learn": 1.0, "scikit-learn, shuffle=False": None, "Vowpal Wabbit": 3.0}


def measure(run):
    """OGD on a ball with TopK(200) on hashed features: CSR, 2^20 columns, 50 nonzeros a row, 1 % outliers."""
    rounds, bits = run.amount(200_000, 50_000, 50), run.amount(20, 20, 10)
    title = f"sparse: {rounds:,} rounds, {FIELDS} of 2^{bits} hashed columns a row (Zipf), one core each"
    if importlib.util.find_spec("scipy") is None:
        rows = [Row(f"holdfast beside {name}", least=least, note=ABSENT) for name, least in _GOALS.items()]
        yield Section(title, "million rounds/s", rows)
        return
    X, y = sparse(rounds, 2**bits, share=0.01)
    player = hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopK(200))
    replay = hf.Replay(X, y, hf.Logistic())
    ours = timed(hf.play, player, replay, keep=(), compiled=run.compiled, per=rounds)
    rows = contest(run, title, {"holdfast, logistic, TopK(200)": ours}, X, y, _GOALS)
    yield Section(title, "million rounds/s", rows, AGAINST, headline=True)
