"""The first use in a new process with empty caches: estimators, and the command line."""

import shutil
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from holdfast_lab.bench.peers import ABSENT, version
from holdfast_lab.bench.processes import environment, wall_time
from holdfast_lab.bench.race import Times, race
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

# Prints the seconds of the import and those of the work.
_WORK = """
import time
start = time.perf_counter()
{imports}
imported = time.perf_counter()
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=({rows}, 20))
y = X[:, 0] + 0.1 * rng.normal(size={rows}){labels}
begun = time.perf_counter()
{work}
print(imported - start, time.perf_counter() - begun)
"""
_SKLEARN = "from sklearn.linear_model import SGDClassifier, SGDRegressor"
_HOLDFAST = "from holdfast.sklearn import RobustClassifier, RobustRegressor"
_SEARCH = "from sklearn.model_selection import GridSearchCV"
_SEARCHED = "GridSearchCV({model}, {grid}, cv=3).fit(X, y)"
_COLUMNS = 20


def measure(run):
    if version("scikit-learn"):
        yield from _estimators(run)
    else:
        yield Section("the first fit of a process", "s", [Row("fit", most=2.0, note=ABSENT)])
    yield _command_line(run)
    if version("numba"):
        yield _stored(run)


def _estimators(run):
    """Imports and first fits of the two estimators, each beside the SGD of scikit-learn in the same turns."""
    rows, turns = run.amount(6_000, 6_000, 60), run.amount(9, 5, 1)
    fits, whole, imports = [], [], []
    for label in (False, True) if run.compiled else (False,):
        names = ("SGDClassifier", "RobustClassifier") if label else ("SGDRegressor", "RobustRegressor")
        many = (f"grid of 12 {names[0]}", f"grid of 12 {names[1]}")
        # parameters on which the number of passes does not depend
        values = ({"alpha": [1e-5, 1e-4, 1e-3, 1e-2]}, {"patience": [250, 500, 1000, 2000]})
        works = {}
        for name, search, from_, grid in zip(names, many, (_SKLEARN, _HOLDFAST), values, strict=True):
            works[name] = from_, f"{name}().fit(X, y)"
            if run.compiled:
                works[search] = f"{from_}\n{_SEARCH}", _SEARCHED.format(model=f"{name}()", grid=grid)
        found = _raced(run, works, rows, label, turns)
        inner = found["work"]
        for sgd, ours in (names, many) if run.compiled else (names,):
            fits.append(Row(sgd, inner.median(sgd), 1.0))
            fits.append(Row(ours, inner.median(ours), inner.ratio(ours, sgd), most=2.0))
        outer = found["process"]
        whole.append(Row(names[0], outer.median(names[0]), 1.0))
        whole.append(Row(names[1], outer.median(names[1]), outer.ratio(names[1], names[0]), most=1.3))
        imports.append((found["import"].seconds[names[0]], found["import"].seconds[names[1]]))
    shape = f"{rows:,} x 20"
    yield Section(
        f"the first fit of {shape} in a new process, without imports", "s", fits, "x SGD", headline=True
    )
    yield Section(
        f"the same from start to end of the process: a fit of {shape}", "s", whole, "x SGD", headline=True
    )
    pairs = [pair for theirs, ours in imports for pair in zip(theirs, ours, strict=True)]
    beyond = statistics.median(ours - theirs for theirs, ours in pairs)
    yield Section(
        "import in a new process",
        "ms",
        [
            Row("sklearn.linear_model", 1e3 * statistics.median(theirs for theirs, _ in pairs)),
            Row("holdfast.sklearn beyond that", 1e3 * beyond, most=50.0),
        ],
        headline=True,
    )


def _raced(run, works, rows, label, turns):
    """Seconds of the import, of the work and of the process, for each work."""
    parts: dict[str, dict[str, list[float]]] = {"import": {}, "work": {}, "process": {}}
    labels = "\ny = (y > 0.0).astype(int)" if label else ""

    def case(name, imports, work):
        code = _WORK.format(imports=imports, work=work, rows=rows, labels=labels)
        start = time.perf_counter()
        printed = _run([sys.executable, "-c", code], _empty_cache(run)).split()
        seconds = {"import": float(printed[0]), "work": float(printed[1])}
        for part, value in (seconds | {"process": time.perf_counter() - start}).items():
            parts[part].setdefault(name, []).append(value)
        return 0.0

    title = f"first fits, {'labels' if label else 'numbers'}"
    race(run, title, {name: partial(case, name, *each) for name, each in works.items()}, turns)
    # the first of each is the warm-up, which writes bytecode
    return {part: Times({name: each[1:] for name, each in found.items()}) for part, found in parts.items()}


def _command_line(run):
    """`holdfast learn` and `holdfast predict` from start to end, and the CPU time of user code."""
    rows = run.amount(10_000, 10_000, 100)
    title = f"the command line from a cold start: {rows:,} rows x {_COLUMNS} columns of CSV"
    try:
        import pyarrow  # noqa: F401
        import safetensors  # noqa: F401
        import shtab  # noqa: F401
    except ImportError:
        return Section(title, "s", [Row("holdfast learn", most=1.0, note="pip install 'holdfast[cli]'")])
    many, one, to = run.scratch / "many.csv", run.scratch / "one.csv", run.scratch / "first.run"
    _write(many, rows)
    _write(one, 1)
    command = [sys.executable, "-m", "holdfast.cli.main"]
    calls = {
        "holdfast --version": [*command, "--version"],
        "holdfast learn": [*command, "learn", str(many), "--target", "y", "--to", str(to), "--quiet"],
        "holdfast predict, one row": [*command, "predict", str(to), str(one), "--quiet"],
    }
    spent: dict[str, list[float]] = {name: [] for name in calls}

    def case(name):
        if name == "holdfast learn":
            shutil.rmtree(to, ignore_errors=True)
        start, before = time.perf_counter(), _user_time()
        _run(calls[name], _empty_cache(run))
        spent[name].append(_user_time() - before)
        return time.perf_counter() - start

    times = race(run, "command line", {name: partial(case, name) for name in calls}, run.amount(9, 5, 1))
    goals = {"holdfast learn": 1.0, "holdfast predict, one row": 0.3}
    lines = []
    for name in calls:
        lines.append(Row(name, times.median(name), most=goals.get(name)))
        lines.append(Row(f"{name}: CPU time of user code", statistics.median(spent[name][1:])))
    return Section(title, "s", lines, headline=True)


def _write(path, rows):
    """Numbers with four decimals; 1 % of the rows are a thousand times too large."""
    rng, truth = np.random.default_rng(0), np.linspace(-2.0, 2.0, _COLUMNS)
    X = rng.normal(size=(rows, _COLUMNS))
    y = X @ truth + 0.1 * rng.normal(size=rows)
    X[rng.random(rows) < 0.01] *= 1e3
    names = ",".join([*(f"x{i}" for i in range(_COLUMNS)), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.4f", ",", header=names, comments="")


def _empty_cache(run):
    """Environment variables, with a new folder for what is compiled."""
    folder = run.scratch / "cache"
    shutil.rmtree(folder, ignore_errors=True)
    return environment(run.scratch) | dict.fromkeys(("HOLDFAST_CACHE_DIR", "NUMBA_CACHE_DIR"), str(folder))


def _run(command, env):
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def _user_time():
    """The CPU time of user code of all processes that this one started and that have ended."""
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _stored(run):
    """A game that is not prebuilt: compiled, and from the cache on disk."""
    scripts = {"trivial": _TRIVIAL if run.compiled else "", "game": _GAME.format(compiled=run.compiled)}
    cases = {}
    for name, code in scripts.items():
        path = Path(run.scratch / f"{name}.py")
        path.write_text(code)
        folder = str(run.scratch / name)
        env = environment(run.scratch) | dict.fromkeys(("HOLDFAST_CACHE_DIR", "NUMBA_CACHE_DIR"), folder)
        cases[name] = partial(wall_time, [str(path)], env)
    cold = {name: case() for name, case in cases.items()}
    times = race(run, "start", cases, run.amount(9, 3, 1))
    trivial = times.median("trivial")
    rows = [
        Row("numba and a trivial function, from disk", trivial, 1.0),
        Row(
            "a game that is not prebuilt, from disk",
            times.median("game"),
            times.ratio("game", "trivial"),
            most=1.5,
        ),
        Row("a game that is not prebuilt, compiled", cold["game"], cold["game"] / trivial),
    ]
    return Section("a process from start to end", "s", rows, "x numba")
