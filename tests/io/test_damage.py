"""Damaged files lead to a run or to an error message, never to a traceback."""

import contextlib
import io
import json
import random
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from holdfast.cli.main import main

SEED = 20261143


def seeds(folder):
    """A small undamaged file of every kind."""
    columns = {"a": [i % 7 for i in range(30)], "b": ["x", "y", "z"] * 10, "y": [i * 1.5 for i in range(30)]}
    csv = "a,b,y\n" + "".join(f'{a},"{b}",{y}\n' for a, b, y in zip(*columns.values(), strict=True))
    pq.write_table(pa.table(columns), folder / "seed.parquet")
    feather.write_feather(pa.table(columns), folder / "seed.arrow", compression="uncompressed")
    rows = pa.table(columns).to_pylist()
    return {
        "csv": csv.encode(),
        "tsv": csv.replace(",", "\t").encode(),
        "jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode(),
        "svm": "".join(f"{row['y']} 1:{row['a']} 2:{row['y']}\n" for row in rows).encode(),
        "parquet": (folder / "seed.parquet").read_bytes(),
        "arrow": (folder / "seed.arrow").read_bytes(),
        "txt": csv.encode(),
    }


def damaged(data, rng):
    """The data with a few bytes changed, added, removed or repeated."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and data:
            data[place % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[place:place] = rng.choice(
                [b'"', b"\n", b",", b"\r", b"\0", b"\xff", b"1e999", b"nan", b"{", b":", b"#"]
            )
        elif kind == 2:
            del data[place : place + rng.randint(1, 20)]
        elif kind == 3:
            data[place:place] = data[max(place - 40, 0) : place]
        else:
            del data[place:]
    return bytes(data)


@pytest.mark.parametrize("files", [150, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_damaged_files_lead_to_a_run_or_to_a_sentence(tmp_path, monkeypatch, files):
    monkeypatch.setattr("os.fsync", lambda handle: None)  # not needed here, and slow
    rng, statuses = random.Random(SEED), []
    whole = seeds(tmp_path)
    for i in range(files):
        kind = rng.choice(list(whole))
        path = tmp_path / f"rows.{kind}"
        path.write_bytes(damaged(whole[kind], rng))
        said = io.StringIO()
        target = "label" if kind == "svm" else "y"
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main(
                ["learn", str(path), "--target", target, "--to", str(tmp_path / "run"), "--no-sizes"]
            )
        assert status in (0, 2), f"file {i} of seed {SEED}: {said.getvalue()}"
        assert status == 0 or said.getvalue().splitlines()[-1].startswith("holdfast: ")
        statuses.append(status)
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
    assert 0.1 < np.mean(np.equal(statuses, 0)) < 0.9
