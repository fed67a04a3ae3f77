"""Runs with many keys: what changed is saved, old keys are removed, new ones start from a shared prior."""

import csv
import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import bits
from runs.kills import killed_runs
from runs.small import called, refused, rewrite

from holdfast.fleet import parts as state_parts
from holdfast.fleet.prior import is_sweep, next_upkeep
from holdfast.runs.run import Run, open_run

ROWS, SEED = 700, 6
ARGS = ("--target", "y", "--key", "who", "--learner", "adagrad")


def rows_of(count, seed=0, wild=0.02):
    """Keys come and go: in every hundred rows there are twenty, half of which are new."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3)).round(3)
    X[rng.random(count) < wild] *= 1000.0
    who = [f"key {10 * (i // 100) + n}" for i, n in enumerate(rng.integers(0, 20, count).tolist())]
    y = (X @ [1.0, -2.0, 0.5] + 5.0 + 0.1 * rng.normal(size=count)).round(3)
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "who": who, "y": y})


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "rows.csv"
    pacsv.write_csv(rows_of(ROWS), path)
    return path


def metrics(run):
    return json.loads((run / "metrics.json").read_text())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_keys_that_were_evicted_and_killed_runs_have_the_same_bits(source, learn, tmp_path, kills):
    args = (*ARGS, "--evict", "150")
    expected, _, _ = learn(source, *args, to="whole")
    assert metrics(expected)["keys"]["evicted"] > 30
    for run in killed_runs(kills, SEED, tmp_path, source, *args):
        assert bits(run) == bits(expected), f"seed {SEED}, {run.name}"


def test_keys_with_three_labels_and_a_prior_resume_with_the_same_bits(learn, tmp_path):
    table = rows_of(400)
    kind = np.array(["low", "middle", "high"])[np.digitize(table.column("y").to_numpy(), [4.0, 6.0])]
    pacsv.write_csv(table.append_column("kind", pa.array(kind)), tmp_path / "rows.csv")
    args = ("--target", "kind", "--drop", "y", "--key", "who", "--learner", "adagrad", "--evict", "200")
    whole, _, _ = learn(tmp_path / "rows.csv", *args, to="whole")
    lines = (tmp_path / "rows.csv").read_bytes().splitlines(keepends=True)
    for count in (210, 301, len(lines)):
        (tmp_path / "growing.csv").write_bytes(b"".join(lines[:count]))
        run, status, said = learn(tmp_path / "growing.csv", *args, "--resume", to="run")
        assert status == 0, said
    assert open_run(run).upkeep.ready_prior() is not None
    assert bits(run) == bits(whole)


def test_a_key_is_evicted_when_it_has_had_no_row_for_so_long(source, learn):
    run, _, _ = learn(source, *ARGS, "--evict", "150")
    last = {}
    for row, key in enumerate(pacsv.read_csv(source).column("who").to_pylist(), 1):
        if row == 513:  # the last upkeep was after round 512
            last = {key: seen for key, seen in last.items() if seen > 512 - 150}
        last[key] = row
    assert pq.read_table(run / "keys.parquet").column("key").to_pylist() == list(last)


def test_upkeep_is_after_rounds_of_fixed_numbers():
    due, rounds = [], 0
    while rounds < 70_000:
        rounds = next_upkeep(rounds)
        due.append(rounds)
    assert due == [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 49152, 65536, 81920]
    assert [n for n in due if is_sweep(n, 200_000)] == [65536]
    assert all(is_sweep(n, 100) for n in due)


def test_a_checkpoint_writes_only_the_keys_that_changed(source, learn, tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED_KEYS", 50)
    written, checkpoint = [], Run.checkpoint

    def counted(run, last=False):
        before = set(run.states.bytes)
        checkpoint(run, last)
        new = set(run.states.bytes) - before
        written.append((int(np.isin(run.games.table.parts, list(new)).sum()), len(run.games.keys)))

    monkeypatch.setattr(Run, "checkpoint", counted)
    run, _, _ = learn(source, *ARGS, "--checkpoint", "50")
    assert len(written) > 10
    keys, most = metrics(run)["keys"]["count"], max(count for count, _ in written[2:])
    assert most < 0.75 * keys  # some are written again because their part is outdated
    needed = sum(open_run(run).states.bytes.values())
    on_disk = sum(path.stat().st_size for path in (run / "states").iterdir())
    assert on_disk < needed + 10_000 * len(list((run / "states").iterdir()))


def test_outdated_parts_are_written_again_and_small_ones_joined(monkeypatch):
    parts = state_parts.StateParts()
    parts.bytes = {0: 100, 1: 100, 2: 100}
    owner, sizes = np.array([0] * 10 + [1] * 2 + [2] * 1 + [-1] * 5), np.full(18, 10)
    assert parts._outdated(owner, sizes) == [2]
    owner = np.array([0] * 10 + [1] * 10 + [2] * 9)
    assert parts._outdated(owner, np.full(29, 10)) == []
    monkeypatch.setattr(state_parts, "_MOST_SMALL", 2)
    assert parts._outdated(owner, np.full(29, 10)) == [0, 1, 2]


def test_a_new_key_with_the_prior_learns_where_one_without_skips(learn, tmp_path):
    pacsv.write_csv(rows_of(3000, seed=1, wild=0.0), tmp_path / "rows.csv")
    shared, _, _ = learn(tmp_path / "rows.csv", *ARGS, to="shared")
    alone, _, _ = learn(tmp_path / "rows.csv", *ARGS, "--no-prior", to="alone")
    with_prior, without = metrics(shared), metrics(alone)
    assert without["skipped"] + without["warm_up"] > 0.3 * without["rounds"]
    assert with_prior["skipped"] + with_prior["warm_up"] < 0.1 * with_prior["rounds"]
    assert with_prior["error_of_all_rounds"] < 0.5 * without["error_of_all_rounds"]
    (tmp_path / "new.csv").write_text("a,b,c,who\n1,0,0,somebody new\n")
    answers = [called("predict", run, tmp_path / "new.csv", "--quiet")[1] for run in (shared, alone)]
    rows = [next(csv.DictReader(answer.splitlines())) for answer in answers]
    assert abs(float(rows[0]["prediction"]) - 6.0) < 1.0
    assert rows[1]["prediction"] == rows[0]["outlier"] == ""


def test_few_keys_and_certificates_have_no_prior(tmp_path, learn):
    table = rows_of(300)
    few = pa.table({**{n: table.column(n) for n in "abcy"}, "who": np.arange(300) % 5})
    pacsv.write_csv(few, tmp_path / "few.csv")
    runs = [learn(tmp_path / "few.csv", *ARGS, *more, to=str(len(more)))[0] for more in ((), ("--no-prior",))]
    assert bits(runs[0])["model.safetensors"] == bits(runs[1])["model.safetensors"]
    run, _, _ = learn(tmp_path / "few.csv", *ARGS[:4], "--no-scale", "--outliers", "3", to="proof")
    assert not open_run(run).settings.has_prior()


def test_the_next_file_goes_on_with_the_keys_of_the_run(source, learn, tmp_path):
    whole, _, _ = learn(source, *ARGS, "--evict", "150", to="whole")
    head, *lines = source.read_text().splitlines(keepends=True)
    files = [tmp_path / f"{i}.csv" for i in range(2)]
    for i, path in enumerate(files):
        path.write_text(head + "".join(lines[350 * i : 350 * i + 350]))
    run, _, _ = learn(files[0], *ARGS, "--evict", "150", to="parts")
    assert called("learn", files[1], "--into", run, "--quiet")[0] == 0
    for name in ("model.safetensors", "metrics.json"):
        assert bits(run)[name] == bits(whole)[name], name
    assert called("verify", run)[0] == 0


def test_with_many_keys_the_model_waits_for_as_many_rows_as_keys(source, tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.runs.results._FEW_KEYS", 5)
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED_KEYS", 20)
    written, before = [], Run.model
    monkeypatch.setattr(Run, "model", lambda run: (written.append(run.trace.rounds), before(run))[1])
    to = tmp_path / "run"
    assert called("learn", source, *ARGS, "--to", to, "--checkpoint", "20", "--quiet")[0] == 0
    keys = metrics(to)["keys"]["count"]
    assert 5 < keys < 200
    assert written[-1] == ROWS
    assert written[-1] - written[-2] <= keys + 20 < 2 * (written[-2] - written[-3])


@pytest.mark.parametrize("args", [("--evict", "10"), ("--no-prior",)])
def test_options_for_keys_need_keys(source, learn, args):
    _, status, said = learn(source, "--target", "y", *args)
    assert status == 2
    assert "add --key COLUMN" in said


def test_a_wrong_age_is_a_sentence(source, learn):
    _, status, said = learn(source, *ARGS, "--evict", "0")
    assert (status, "--evict counts rows, at least 1: got 0" in said) == (2, True)


def test_damaged_parts_of_states_are_a_sentence(source, learn, tmp_path):
    run, _, _ = learn(source, *ARGS)
    part = next((run / "states").iterdir())
    name, data, rng = f"states/{part.name}", part.read_bytes(), np.random.default_rng(1)
    for _ in range(6):
        other, changed = tmp_path / "other", bytearray(data)
        shutil.copytree(run, other)
        changed[rng.integers(0, min(len(data), 4000))] ^= 1 << int(rng.integers(0, 8))
        (other / name).write_bytes(changed)
        assert refused(called("inspect", other))  # by its checksum
        rewrite(other, name, bytes(changed))
        refused(called("inspect", other))
        refused(called("learn", source, *ARGS, "--to", other, "--resume", "--quiet"))
        shutil.rmtree(other)
    part.unlink()
    assert refused(called("inspect", run))


def test_a_replay_says_that_keys_start_from_nothing(source, tmp_path):
    run = tmp_path / "run"
    assert called("learn", source, *ARGS, "--to", run, "--quiet", "--evict", "300")[0] == 0
    said = called("audit", run, "--replay", "auto")[1]
    assert "The filters of each key start from nothing." in said
    assert "No key is evicted" in said
    notes = json.loads(called("audit", run, "--replay", "auto", "--json")[1])["notes"]
    assert said.splitlines()[-3:] == notes
