"""A million keys with ten features: how much memory and disk they take."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

KEYS, FEATURES, CHANGED = 1_000_000, 10, 10_000
_LEARN = """
import resource, sys
from holdfast.cli.main import main
options = ["--target", "y", "--key", "k", "--learner", "adagrad", "--no-sizes", "--quiet"]
status = main(["learn", *sys.argv[1:], *options])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
sys.exit(status)
"""


def write_rows(path, blocks):
    """A block of rows for each array of keys."""
    rng, weights = np.random.default_rng(0), np.linspace(-1.0, 1.0, FEATURES)
    columns = [("k", pa.string()), *((f"x{i}", pa.float64()) for i in range(FEATURES)), ("y", pa.float64())]
    with pq.ParquetWriter(path, pa.schema(columns)) as writer:
        for keys in blocks:
            X = rng.normal(size=(len(keys), FEATURES))
            names = pa.array(np.char.add("user-", keys.astype(str)))
            writer.write_table(pa.table([names, *X.T, X @ weights], schema=pa.schema(columns)))


@pytest.mark.exhaustive  # two minutes, and 3 GB
def test_a_million_keys_fit_into_three_gigabytes_and_few_changes_write_little(tmp_path):
    rng, source, run = np.random.default_rng(1), tmp_path / "rows.parquet", tmp_path / "run"
    blocks = np.concatenate([rng.permutation(KEYS) for _ in range(2)]).reshape(-1, 100_000)
    write_rows(source, blocks)
    command = [sys.executable, "-c", _LEARN, str(source), "--to", str(run)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(f"memory: {int(done.stdout):,} bytes")
    assert int(done.stdout) <= 3e9

    from holdfast.io.rows import DenseRows
    from holdfast.runs.run import open_run

    found = open_run(run)
    found.folder.lock()
    whole = sum(found.states.bytes.values())
    keys = np.sort(rng.choice(KEYS, CHANGED, replace=False))
    X = rng.normal(size=(CHANGED, FEATURES))
    found.games.table.touch(keys, 2 * KEYS + 1 + np.arange(CHANGED))
    found.games.play(keys, 0, DenseRows(X), X[:, 0], True)
    before = set(found.states.bytes)
    found.checkpoint()
    written = sum(found.states.bytes[number] for number in set(found.states.bytes) - before)
    print(f"states: {whole:,} bytes, of which {written:,} were written")
    assert written < 0.05 * whole
    found.folder.close()
