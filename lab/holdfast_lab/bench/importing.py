"""The time of `import holdfast` beyond that of `import numpy`."""

import statistics
import subprocess
import sys
from functools import partial

from holdfast_lab.bench.processes import environment
from holdfast_lab.bench.race import race
from holdfast_lab.bench.table import Row, Section


def measure(run):
    """With cached bytecode, as after an installation, and without numba."""
    cases = {name: partial(_import_time, name, run.scratch) for name in ("numpy", "holdfast")}
    times = race(run, "import", cases, run.amount(9, 3, 1))
    rows = [Row(f"import {name}", 1e3 * times.median(name)) for name in cases]
    pairs = zip(times.seconds["numpy"], times.seconds["holdfast"], strict=True)
    extra = 1e3 * statistics.median(ours - numpy for numpy, ours in pairs)
    yield Section("import", "ms", [*rows, Row("holdfast beyond numpy", extra, most=50.0)])


def _import_time(name, folder):
    code = f"import {name}, sys; assert 'numba' not in sys.modules"
    command = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=True)
    last = next(line for line in reversed(done.stderr.splitlines()) if line.endswith(f"| {name}"))
    return float(last.split("|")[1]) * 1e-6
