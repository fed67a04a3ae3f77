"""A table to learn from, and functions that run the command."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from holdfast.cli.main import main

ROWS = 600


@pytest.fixture(scope="session")
def table():
    """Three columns of numbers and a target; some rows and some targets are outliers."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, 3)).round(3)
    y = (X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=ROWS)).round(3)
    X[rng.random(ROWS) < 0.02] *= 1000.0
    y[rng.random(ROWS) < 0.02] = -5000.0
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}


@pytest.fixture(scope="session")
def source(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("sources") / "table.csv"
    pacsv.write_csv(pa.table(table), path)
    return path


@pytest.fixture
def learn(tmp_path, capsys):
    """Learn in this process; the folder of the run, the exit status and what was printed."""

    def run(path, *args, to="run"):
        status = main(["learn", str(path), "--to", str(tmp_path / to), *map(str, args)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return tmp_path / to, status, out + err

    return run


def holdfast(*args, **options):
    """Run the command in a new process."""
    environment = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "holdfast.cli.main", *map(str, args)]
    options = {"capture_output": True, "text": True} | options
    return subprocess.run(command, env=environment, **options)


def bits(folder):
    """What must be the same in two runs of the same rows."""
    import pyarrow.parquet as pq

    found = {name: (folder / name).read_bytes() for name in ("model.safetensors", "metrics.json")}
    for name in ("audit", "sizes"):
        parts = sorted((folder / name).glob("part-*.parquet"))
        tables = [pq.read_table(path) for path in parts]
        found[name] = pa.concat_tables(tables).combine_chunks().to_pydict() if tables else None
    return {name: repr(value) for name, value in found.items()}


def model_bytes(folder):
    return (Path(folder) / "model.safetensors").read_bytes()


def output(capsys, *args):
    """What a command prints; fails if it ends with an error."""
    status = main(list(map(str, args)))
    out, err = capsys.readouterr()
    assert status == 0, err
    return out
