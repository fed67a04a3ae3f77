"""A process that plays one compiled game, with and without the game in the disk cache."""

from functools import partial

from holdfast_lab.bench.processes import environment, wall_time
from holdfast_lab.bench.race import race
from holdfast_lab.bench.table import Row, Section

_TRIVIAL = """
from numba import njit

@njit(cache=True)
def f(x):
    return x + 1.0

f(1.0)
"""

_GAME = """
import numpy as np
import holdfast as hf

X = np.ones((1_000, 20))
player = hf.Filtered(hf.OGD(hf.Ball(5.0)), hf.TopShare(0.01))
hf.play(player, hf.Replay(X, X[:, 0], hf.Logistic()), compiled={compiled})
"""


def measure(run):
    scripts = {"trivial": _TRIVIAL if run.compiled else "", "game": _GAME.format(compiled=run.compiled)}
    cases = {}
    for name, code in scripts.items():
        path = run.scratch / f"{name}.py"
        path.write_text(code)
        folder = str(run.scratch / name)
        env = environment(run.scratch) | dict.fromkeys(("HOLDFAST_CACHE_DIR", "NUMBA_CACHE_DIR"), folder)
        cases[name] = partial(wall_time, [str(path)], env)
    cold = {name: case() for name, case in cases.items()}
    times = race(run, "start", cases, run.amount(9, 3, 1))
    trivial = times.median("trivial")
    rows = [
        Row("numba and a trivial function, from disk", trivial, 1.0),
        Row("a compiled game, from disk", times.median("game"), times.ratio("game", "trivial"), most=1.5),
        Row("a compiled game, compiled", cold["game"], cold["game"] / trivial),
    ]
    yield Section("a process from start to end", "s", rows, "x numba")
