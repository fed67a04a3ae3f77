"""How fast holdfast is on this machine: `make bench`, or `python benchmarks/run.py --quick`.

Every figure is a median over repeats in which all cases of a section take turns, so that a busy minute
hits them alike. What can be compared with something simple is: a filter with one pass over the sizes, a
game with one `X.sum()`, a compiled start with starting numba at all.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import holdfast as hf


class Scale(NamedTuple):
    """How much of everything."""

    sizes: int  # that each filter decides on
    exact_sizes: int  # the same for filters that remember all of them
    jumps: int
    numbers: int  # in the X of each game
    interpreted: int  # rounds
    repeats: int
    processes: int
    compiled: bool = True


FULL = Scale(10_000_000, 1_000_000, 1_000_000, 20_000_000, 20_000, repeats=5, processes=9)
QUICK = Scale(1_000_000, 100_000, 100_000, 2_000_000, 5_000, repeats=5, processes=5)
TINY = Scale(1_000, 1_000, 100, 2_000, 100, repeats=1, processes=1, compiled=False)


class Row(NamedTuple):
    """One figure. `ratio` compares it with what its section names; a goal is met from below."""

    what: str
    value: float
    ratio: float | None = None
    goal: float | None = None

    def met(self):
        return None if self.goal is None else self.value <= self.goal


class Section(NamedTuple):
    """Figures in the same unit."""

    title: str
    unit: str
    rows: list[Row]
    against: str = ""


def main(argv=None):
    options = _options(argv)
    scale = TINY if options.tiny else QUICK if options.quick else FULL
    machine = describe_machine()
    print("\n".join(f"{name:<10}{value}" for name, value in machine.items()))
    if options.tiny:
        print("\nNothing is compiled, so no figure below means anything.")
    sections = []
    for name in options.only or MEASURES:
        for section in MEASURES[name](scale):
            if options.tiny:
                section = section._replace(rows=[row._replace(goal=None) for row in section.rows])
            print("\n" + text(section), flush=True)
            sections.append(section)
    goals = [row.met() for section in sections for row in section.rows if row.goal is not None]
    if goals:
        print(f"\n{sum(goals)} of {len(goals)} goals met.")
    write(options.to, machine, scale, sections)
    print(f"\nThe figures: {options.to}")


# -- import


def measure_import(scale):
    """What `import holdfast` takes on top of `import numpy`, with bytecode at hand as after installing."""
    with tempfile.TemporaryDirectory() as folder:
        cases = {name: partial(_import_time, name, folder) for name in ("numpy", "holdfast")}
        times = take_turns(cases, scale.processes)
    rows = [Row(f"import {name}", 1e3 * statistics.median(seconds)) for name, seconds in times.items()]
    extra = [1e3 * (ours - numpy) for numpy, ours in zip(times["numpy"], times["holdfast"], strict=True)]
    yield Section(
        "import", "ms", [*rows, Row("holdfast on top of numpy", statistics.median(extra), goal=50.0)]
    )


def _import_time(name, folder):
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-c",
        f"import {name}, sys; assert 'numba' not in sys.modules",
    ]
    done = subprocess.run(command, env=_environment(folder), capture_output=True, text=True, check=True)
    last = next(line for line in reversed(done.stderr.splitlines()) if line.endswith(f"| {name}"))
    return float(last.split("|")[1]) * 1e-6


# -- start

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


def measure_start(scale):
    """A whole process that plays one compiled game, when the game is on disk and when it is not."""
    with tempfile.TemporaryDirectory() as folder:
        scripts = {"trivial": _TRIVIAL, "game": _GAME.format(compiled=scale.compiled)}
        for name, code in scripts.items():
            (Path(folder) / f"{name}.py").write_text(code)
        cases = {name: partial(_process_time, name, folder) for name in scripts}
        cold = {name: case() for name, case in cases.items()}
        times = {
            name: statistics.median(seconds) for name, seconds in take_turns(cases, scale.processes).items()
        }
    ratio = times["game"] / times["trivial"]
    rows = [
        Row("numba and a trivial function, from disk", times["trivial"], 1.0),
        Row("a compiled game, from disk", times["game"], ratio),
        Row("a compiled game, compiled", cold["game"], cold["game"] / times["trivial"]),
    ]
    yield Section("a process from start to end", "s", rows, "x numba")
    yield Section("the cost of our start", "x numba", [Row("a compiled game, from disk", ratio, goal=1.5)])


def _process_time(name, folder):
    environment = _environment(folder) | {"NUMBA_CACHE_DIR": f"{folder}/{name}"}
    start = time.perf_counter()
    subprocess.run([sys.executable, f"{folder}/{name}.py"], env=environment, check=True)
    return time.perf_counter() - start


def _environment(folder):
    """Our own holdfast, and bytecode in a folder of its own: written once and read ever after."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = [str(Path(hf.__file__).parents[1]), *filter(None, [environment.get("PYTHONPATH")])]
    return environment | {"PYTHONPATH": os.pathsep.join(path), "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}


# -- filters


def sift(filter, state, sizes):
    """A filter alone: how many of the sizes it keeps."""
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
    """The worst a stream can do to a histogram: in every round the rank asked for is far from the last."""
    total = 0.0
    for i in range(len(sizes)):
        sketch = sketch.push(sizes[i])
        rank = 1 if i % 2 == 0 else sketch.seen()
        sketch, value = sketch.at(rank)
        total += value
    return total


def measure_filters(scale):
    """Nanoseconds a round of each filter, on sizes of which 1 % are a thousand times too large."""
    run = _caller(scale)
    n, m = scale.sizes, scale.exact_sizes
    sizes = some_sizes(n)
    kinds = ("binomial", "bernstein", "newsvendor")
    filters = {f"TopK({k})": hf.TopK(k) for k in (10, 1000)}
    filters |= {"TopShare(0.01)": hf.TopShare(0.01)}
    filters |= {f'Quantile(0.99, ranks="{kind}")': hf.Quantile(0.99, horizon=n, ranks=kind) for kind in kinds}
    cases = {"one pass over the sizes": lambda: run(add_up, sizes)}
    cases |= {name: partial(_sift, run, filter, sizes) for name, filter in filters.items()}
    times = _medians(cases, scale.repeats)
    bare = times["one pass over the sizes"]
    goals = dict.fromkeys(filters, 30.0)
    rows = [Row(what, 1e9 * s / n, s / bare, goals.get(what)) for what, s in times.items()]
    yield Section(f"a filter alone, {n:,} sizes", "ns a round", rows, "x one pass")

    few = sizes[:m].copy()
    exact = {"TopShare(0.01, exact=True)": hf.TopShare(0.01, exact=True)}
    for kind in kinds:
        exact[f'Quantile(0.99, ranks="{kind}", exact=True)'] = hf.Quantile(
            0.99, horizon=m, ranks=kind, exact=True
        )
    cases = {"one pass over the sizes": lambda: run(add_up, few)}
    cases |= {name: partial(_sift, run, filter, few) for name, filter in exact.items()}
    times = _medians(cases, scale.repeats)
    bare = times["one pass over the sizes"]
    rows = [Row(what, 1e9 * s / m, s / bare) for what, s in times.items()]
    yield Section(f"a filter alone that remembers all {m:,} sizes", "ns a round", rows, "x one pass")

    even = np.arange(scale.jumps) % 2 == 0
    jumps = {
        "between 1e-300 and 1e300": np.where(even, 1e-300, 1e300),
        "between 1e290 and 1e308": np.where(even, 1e290, 1e308),  # both far from where the search begins
    }
    cases = {what: partial(_jump, run, extremes) for what, extremes in jumps.items()}
    times = _medians(cases, scale.repeats)
    rows = [Row(what, 1e9 * s / scale.jumps, goal=5_000.0) for what, s in times.items()]
    yield Section("the histogram against a stream that makes it jump every round", "ns a round", rows)


def _sift(run, filter, sizes):
    return run(sift, filter, filter.init(1), sizes)


def _jump(run, sizes):
    return run(jump, hf.LogHistogram.empty(), sizes)


def some_sizes(n):
    rng = np.random.default_rng(0)
    sizes = rng.lognormal(size=n)
    sizes[rng.random(n) < 0.01] *= 1e3
    return sizes


# -- games


def measure_games(scale):
    """Rounds a second of whole games, then microseconds a round without a compiler."""
    filters = {
        "Everything()": hf.Everything(),
        "TopK(100)": hf.TopK(100),
        "TopShare(0.02)": hf.TopShare(0.02),
        "Quantile(0.97)": hf.Quantile(0.97, horizon=scale.numbers // 20),
    }
    players = {name: hf.Filtered(hf.OGD(hf.Ball(5.0)), filter) for name, filter in filters.items()}
    losses = {"logistic": hf.Logistic(), "hinge": hf.Hinge()}
    for dim in (20, 100):
        X, y = some_examples(scale.numbers // dim, dim)
        games = {
            f"{loss}, {name}": partial(_play, player, hf.Replay(X, y, losses[loss]), scale, keep=())
            for loss in losses
            for name, player in players.items()
        }
        games["logistic, TopShare(0.02), with all columns"] = partial(
            _play, players["TopShare(0.02)"], hf.Replay(X, y, losses["logistic"]), scale
        )
        times = _medians({"X.sum()": X.sum} | games, scale.repeats)
        rows = [Row(what, 1e-6 * len(X) / s, s / times["X.sum()"]) for what, s in times.items()]
        yield Section(f"a game, {len(X):,} rounds, d = {dim}", "million a second", rows, "x X.sum()")

    X, y = some_examples(scale.interpreted, 20)
    replay = hf.Replay(X, y, hf.Logistic())
    slow = scale._replace(compiled=False)
    games = {f"play, {name}": partial(_play, player, replay, slow) for name, player in players.items()}
    games |= {
        f"Player, {name}": partial(_predict_and_learn, player, X, y.tolist())
        for name, player in players.items()
    }
    times = _medians(games, scale.repeats)
    rows = [Row(what, 1e6 * s / len(X)) for what, s in times.items()]
    yield Section(f"an interpreted game, {len(X):,} rounds, d = 20, logistic", "us a round", rows)


def _play(player, adversary, scale, **options):
    return hf.play(player, adversary, compiled=scale.compiled, **options)


def _predict_and_learn(rule, X, y):
    player, loss = hf.Player(rule, dim=X.shape[1]), hf.Logistic()
    for x, label in zip(X, y, strict=True):
        player.predict()
        player.learn(x, label, loss)


def some_examples(rounds, dim):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rounds, dim))
    y = np.where(X @ rng.standard_normal(dim) + rng.logistic(size=rounds) > 0.0, 1.0, -1.0)
    bad = rng.random(rounds) < 0.01
    X[bad] *= 1e3
    y[bad] *= -1.0
    return X, y


# -- measuring


def take_turns(cases, repeats):
    """The seconds that each case returns in each of the repeats; a call before them is for warmth."""
    for case in cases.values():
        case()
    times = {name: [] for name in cases}
    for _ in range(repeats):
        for name, case in cases.items():
            times[name].append(case())
    return times


def _medians(cases, repeats):
    timed = {name: partial(_seconds, case) for name, case in cases.items()}
    return {name: statistics.median(seconds) for name, seconds in take_turns(timed, repeats).items()}


def _seconds(case):
    start = time.perf_counter()
    case()
    return time.perf_counter() - start


def _caller(scale):
    if not scale.compiled:
        return lambda function, *args: function(*args)
    from holdfast._compiled import call

    return call


def describe_machine():
    import numba

    try:
        models = [
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
        ]
        model = models[0].partition(":")[2].strip()
    except (OSError, IndexError):
        model = platform.processor() or platform.machine()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return {
        "holdfast": hf.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "machine": f"{model}, {os.cpu_count()} cores{load}, {platform.platform()}",
    }


# -- telling


def text(section):
    width = max(48, *(len(row.what) + 2 for row in section.rows))
    with_goals = any(row.goal is not None for row in section.rows)
    lines = [
        section.title,
        f"  {'':<{width}}{section.unit:>16}{section.against:>14}{'goal' if with_goals else '':>11}"
        f"{'met' if with_goals else '':>6}",
    ]
    for row in section.rows:
        ratio = "" if row.ratio is None else _figure(row.ratio)
        goal = "" if row.goal is None else f"<= {row.goal:,g}"
        met = {None: "", True: "yes", False: "NO"}[row.met()]
        lines.append(f"  {row.what:<{width}}{_figure(row.value):>16}{ratio:>14}{goal:>11}{met:>6}")
    return "\n".join(line.rstrip() for line in lines)


def _figure(value):
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.1f}" if value >= 10.0 else f"{value:.2f}"


def write(path, machine, scale, sections):
    told = [
        {
            "title": section.title,
            "unit": section.unit,
            "against": section.against,
            "rows": [row._asdict() | {"met": row.met()} for row in section.rows],
        }
        for section in sections
    ]
    path.write_text(
        json.dumps({"machine": machine, "scale": scale._asdict(), "sections": told}, indent=1) + "\n"
    )


MEASURES = {
    "import": measure_import,
    "start": measure_start,
    "filters": measure_filters,
    "games": measure_games,
}


def _options(argv):
    parser = argparse.ArgumentParser(
        description="Measure how fast holdfast is on this machine. The first run compiles for a minute."
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, and less certain figures")
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="nothing is compiled, and no figure means anything: only to see it run",
    )
    parser.add_argument("--only", nargs="+", choices=MEASURES, help="these measures, rather than all")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path(__file__).with_name("results.json"),
        metavar="PATH",
        help="where to write the figures as JSON (default: benchmarks/results.json)",
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
