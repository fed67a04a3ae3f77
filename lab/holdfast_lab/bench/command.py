"""The command line on a long file: its speed beside pyarrow, which only parses the file, and its memory."""

import shutil
import subprocess
import sys

import numpy as np

from holdfast_lab.bench.processes import environment
from holdfast_lab.bench.race import race
from holdfast_lab.bench.table import Row, Section

_PARSE = """
import sys, time
import pyarrow.csv

start = time.perf_counter()
pyarrow.csv.read_csv(sys.argv[1])
print(time.perf_counter() - start)
"""
# The reported peak of a process is at least that of its parent, so that a small process must start it.
_WATCH = """
import resource, subprocess, sys, time

start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_PART = 250_000  # rows that are generated at once
_COLUMNS = 20


def measure(run):
    rows = run.amount(10_000_000, 1_000_000, 1_000)
    title = f"the command line: {rows:,} rows x {_COLUMNS} columns of CSV, two threads, from start to end"
    try:
        import pyarrow.csv  # noqa: F401
        import safetensors  # noqa: F401
    except ImportError:
        yield Section(title, "million rows/s", [Row("holdfast learn", note="pip install 'holdfast[cli]'")])
        return
    path, peaks = run.scratch / "rows.csv", []
    _write(path, rows)

    def parse():
        done = subprocess.run(
            [sys.executable, "-c", _PARSE, str(path)], stdout=subprocess.PIPE, text=True, check=True
        )
        return float(done.stdout)

    def learn():
        seconds, peak = _learned(run, path)
        peaks.append(peak)
        return seconds

    times = race(run, title, {"pyarrow": parse, "learn": learn}, run.amount(3, 3, 1))
    ratio = times.ratio("pyarrow", "learn")
    yield Section(
        title,
        "million rows/s",
        [
            Row("pyarrow only parses it", rows / times.median("pyarrow") / 1e6),
            Row("holdfast learn", rows / times.median("learn") / 1e6, ratio, least=0.5),
        ],
        "of pyarrow",
    )
    compiled = peaks[1:]  # the first turn may compile, which takes about 150 MB more
    title = f"the command line: memory for {rows:,} rows, after compiling"
    yield Section(title, "MB", [Row("at most", max(compiled), most=500.0)])
    path.unlink()


def _learned(run, path):
    """Seconds, and the peak memory of the process in MB."""
    to = run.scratch / "rows.run"
    shutil.rmtree(to, ignore_errors=True)
    learn = [sys.executable, "-m", "holdfast.cli.main", "learn", str(path), "--target", "y", "--to", str(to)]
    done = subprocess.run(
        [sys.executable, "-c", _WATCH, *learn, "--quiet"],
        env=environment(run.scratch),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak / (1e6 if sys.platform == "darwin" else 1e3)


def _write(path, rows):
    """Numbers with four decimals; 1 % of the rows are a thousand times too large."""
    import pyarrow as pa
    import pyarrow.csv

    rng, truth = np.random.default_rng(0), np.linspace(-2.0, 2.0, _COLUMNS - 1)
    with path.open("wb") as file:
        for start in range(0, rows, _PART):
            count = min(_PART, rows - start)
            X = rng.normal(size=(count, _COLUMNS - 1))
            y = X @ truth + 0.1 * rng.normal(size=count)
            X[rng.random(count) < 0.01] *= 1e3
            columns = {f"x{i}": X[:, i].round(4) for i in range(_COLUMNS - 1)} | {"y": y.round(4)}
            form = pyarrow.csv.WriteOptions(include_header=start == 0)
            pyarrow.csv.write_csv(pa.table(columns), file, form)
