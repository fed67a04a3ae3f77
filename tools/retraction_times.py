"""How long it takes to take rows back: the tables of docs/wrong-rows.md.

    python tools/retraction_times.py [ROWS [KEYS ...]]

It learns from a million rows of 10 columns, and takes one row back, in copies of the run. Seconds are CPU
time of the whole command, with its start; each is measured twice. Games must be compiled before.

With KEYS, numbers of keys, it takes rows of a key back instead: from runs that have recorded what each round
answered, and from runs that have not (`--no-sizes`).
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv


def seconds(*args: object) -> tuple[float, str]:
    """CPU seconds and output of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "holdfast", *map(str, args)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def table(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, 10))
    return X, X @ rng.standard_normal(10) + 0.1 * rng.standard_normal(rows)


def main(rows: int) -> None:
    X, y = table(rows)
    with tempfile.TemporaryDirectory() as folder:
        source, run, copied = (Path(folder) / name for name in ("rows.csv", "run", "copy"))
        pacsv.write_csv(pa.table({f"c{i}": column for i, column in enumerate(X.T)} | {"y": y}), source)
        anew = []
        for _ in range(2):
            shutil.rmtree(run, ignore_errors=True)
            anew.append(seconds("learn", source, "--target", "y", "--to", run, "--quiet")[0])
        states = [path.stat().st_size for path in (run / "tree").iterdir()]
        for age in (1_000, 100_000, 1_000_000):
            which = ("--rows", max(rows - age + 1, 1), "--json")
            again = json.loads(seconds("retract", run, *which, "--dry-run")[1])["rounds"]
            times = []
            for _ in range(2):
                shutil.copytree(run, copied)
                times.append(seconds("retract", copied, *which)[0])
                shutil.rmtree(copied)
            share = again / min(age, rows)
            print(f"| {age:,} | {again:,} | {share:.3g} | {times[0]:.2f}, {times[1]:.2f} |", flush=True)
        print(f"| learn all anew | {rows:,} | | {anew[0]:.2f}, {anew[1]:.2f} |")
        print(f"{len(states)} earlier states, {sum(states) / 1e6:.1f} MB")


def with_keys(rows: int, keys: int) -> None:
    """The same with keys: all rows of one taken back, or one row."""
    X, y = table(rows)
    key = np.random.default_rng(2).integers(0, keys, rows)
    one = {
        "all rows of a key": key == key[0],
        "its last row": np.arange(rows) == np.flatnonzero(key == key[0])[-1],
    }
    with tempfile.TemporaryDirectory() as folder:
        source, run, copied, list_ = (Path(folder) / name for name in ("rows.csv", "run", "copy", "list.csv"))
        columns = {f"c{i}": column for i, column in enumerate(X.T)}
        pacsv.write_csv(pa.table(columns | {"y": y, "key": key}), source)
        for prior in ("--no-prior", ""):
            for sizes in ("", "--no-sizes"):
                shutil.rmtree(run, ignore_errors=True)
                options = [*filter(None, (prior, sizes)), "--quiet"]
                learned = seconds("learn", source, "--target", "y", "--key", "key", "--to", run, *options)[0]
                print(f"| {keys:,} | {prior} {sizes} | learn | | {learned:.2f} |", flush=True)
                for what, chosen in one.items():
                    pacsv.write_csv(pa.table({"skipped_row": 1 + np.flatnonzero(chosen)}), list_)
                    plan = json.loads(seconds("retract", run, "--from", list_, "--dry-run", "--json")[1])
                    played, times = plan.get("played", plan["rounds"]), []
                    for _ in range(2):
                        shutil.copytree(run, copied)
                        times.append(seconds("retract", copied, "--from", list_, "--quiet")[0])
                        shutil.rmtree(copied)
                    cells = (f"{keys:,}", f"{prior} {sizes}", what, f"{played:,} of {plan['rounds']:,}")
                    print(f"| {' | '.join(cells)} | {times[0]:.2f}, {times[1]:.2f} |", flush=True)


if __name__ == "__main__":
    count, *many = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (1_000_000,)
    for number in many:
        with_keys(count, number)
    if not many:
        main(count)
