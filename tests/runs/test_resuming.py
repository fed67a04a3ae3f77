"""A run that was stopped, killed or had no disk space resumes, and ends with the same bits."""

import json
import os
import resource
import signal
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from cli.conftest import ROWS, bits, holdfast
from runs.kills import killed_runs
from runs.small import called

from holdfast.runs.compile_choice import CompileChoice
from holdfast.runs.run import Run

SEED = 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("args", [(), ("--delay", "50")])
@pytest.mark.parametrize("kills", [5, pytest.param(250, marks=pytest.mark.exhaustive)])
def test_after_many_kills_no_round_is_lost_or_repeated(growing, learn, tmp_path, kills, args):
    expected, _, _ = learn(growing, "--target", "y", *args, to="whole")
    for run in killed_runs(kills, SEED, tmp_path, growing, "--target", "y", *args):
        assert bits(run) == bits(expected), f"seed {SEED}, {run.name}"


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_stops_after_a_round_and_everything_is_saved(source, learn, monkeypatch, number, status):
    """The signal comes right after the first checkpoint."""
    before = signal.signal(number, signal.default_int_handler)  # or it is ignored if these tests ignore it
    try:
        check_signal(source, learn, monkeypatch, number, status)
    finally:
        signal.signal(number, before)


def check_signal(source, learn, monkeypatch, number, status):
    expected, _, _ = learn(source, "--target", "y", to="whole")
    once, checkpoint = iter([number]), Run.checkpoint

    def interrupted(run, last=False):
        checkpoint(run, last)
        for sent in once:
            os.kill(os.getpid(), sent)

    monkeypatch.setattr(Run, "checkpoint", interrupted)
    run, found, said = learn(source, "--target", "y", "--checkpoint", "100")
    assert found == status
    assert "Stopped, and saved" in said
    assert 100 <= json.loads((run / "metrics.json").read_text())["rounds"] < ROWS
    run, found, _ = learn(source, "--target", "y", "--checkpoint", "100", "--resume")
    assert found == 0
    assert bits(run) == bits(expected)


@pytest.fixture
def growing(source, tmp_path):
    """The first 199 rows of the source, in another file."""
    path = tmp_path / "growing.csv"
    path.write_bytes(b"".join(source.read_bytes().splitlines(keepends=True)[:200]))
    return path


def test_new_rows_are_learned_from_with_resume(source, growing, learn):
    learn(growing, "--target", "y", to="run")
    growing.write_bytes(source.read_bytes())
    found, status, said = learn(growing, "--target", "y", "--resume", to="run")
    assert status == 0
    assert "going on after round 199" in said
    expected, _, _ = learn(source, "--target", "y", to="whole")
    assert bits(found) == bits(expected)


@pytest.mark.parametrize("change", ["header", "first rows", "rows learned from", "shorter"])
def test_a_run_does_not_resume_with_another_source(source, learn, tmp_path, monkeypatch, change):
    monkeypatch.setattr("holdfast.io.byte_stream.BLOCK", 6000)
    monkeypatch.setattr("holdfast.io.head.ROWS", 50)
    lines = source.read_bytes().splitlines(keepends=True)
    path = tmp_path / "rows.csv"
    path.write_bytes(b"".join(lines[:500]))
    run, _, _ = learn(path, "--target", "y")
    before = bits(run)
    if change == "header":
        lines[0] = lines[0].replace(b"a", b"z")
    elif change == "first rows":
        lines[3] = b"9,9,9,9\n"
    elif change == "rows learned from":
        lines[300:500] = lines[299:499]
    else:
        lines = lines[:200]
    path.write_bytes(b"".join(lines))
    _, status, said = learn(path, "--target", "y", "--resume")
    assert status == 2
    assert f"holdfast: {path}" in said
    assert "another folder with --to" in said
    assert {name: bits(run)[name] for name in ("model.safetensors", "audit", "sizes")} == {
        name: before[name] for name in ("model.safetensors", "audit", "sizes")
    }


@pytest.mark.parametrize("kind", ["parquet", "arrows", "jsonl"])
def test_a_run_does_not_resume_with_another_table(table, learn, tmp_path, kind):
    from files import written

    path = tmp_path / f"rows.{kind}"
    learn(written(table, path), "--target", "y")
    written(table | {"b": table["b"] + 1.0}, path)
    _, status, said = learn(path, "--target", "y", "--resume")
    assert (status, "not what the run has learned from before" in said) == (2, True)
    written(table, path)
    assert learn(path, "--target", "y", "--resume")[1] == 0


@pytest.mark.parametrize("args", [("--target", "y", "--key", "who"), ("--target", "who", "--drop", "y")])
def test_games_of_keys_and_labels_resume_with_the_same_bits(table, learn, tmp_path, args):
    who = np.array(["p", "q", "r"])[np.arange(len(table["a"])) * 7 % 11 % 3]
    pacsv.write_csv(pa.table(table | {"who": who}), tmp_path / "rows.csv")
    whole, _, _ = learn(tmp_path / "rows.csv", *args, to="whole")
    lines = (tmp_path / "rows.csv").read_bytes().splitlines(keepends=True)
    for count in (301, len(lines)):
        (tmp_path / "growing.csv").write_bytes(b"".join(lines[:count]))
        run, status, _ = learn(tmp_path / "growing.csv", *args, "--resume", "--checkpoint", "90", to="run")
        assert status == 0
    assert bits(run) == bits(whole)


def test_resume_without_a_run_begins_one_and_without_resume_none_is_overwritten(source, learn):
    run, status, _ = learn(source, "--target", "y", "--resume")
    assert status == 0
    before = bits(run)
    _, status, said = learn(source, "--target", "y")
    assert status == 2
    assert "go on with --resume" in said
    assert bits(run) == before


def test_a_run_does_not_resume_with_other_settings(source, learn):
    learn(source, "--target", "y")
    _, status, said = learn(source, "--target", "y", "--resume", "--outliers", "3%")
    assert status == 2
    assert "begun with --outliers auto" in said


def test_two_processes_cannot_learn_into_one_folder(source, learn, tmp_path):
    from holdfast.runs.folder import Folder

    run, _, _ = learn(source, "--target", "y")
    other = Folder(run)
    other.lock()
    _, status, said = learn(source, "--target", "y", "--resume")
    other.close()
    assert status == 2
    assert "another process" in said


def test_a_file_that_cannot_be_written_is_a_sentence_and_leaves_the_last_checkpoint(source, growing, learn):
    expected, _, _ = learn(source, "--target", "y", to="whole")
    run, _, _ = learn(growing, "--target", "y", to="run")
    before = (run / "checkpoint.safetensors").read_bytes()
    growing.write_bytes(source.read_bytes())
    most = len(before) // 2  # no file may be larger: writing fails as on a full disk
    done = holdfast(
        *("learn", growing, "--target", "y", "--to", run, "--resume"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("holdfast: ")
    assert "what was saved before stands" in done.stderr
    assert "Traceback" not in done.stderr
    assert (run / "checkpoint.safetensors").read_bytes() == before
    assert not list(run.glob(".*"))
    learn(growing, "--target", "y", "--resume", to="run")
    assert bits(run) == bits(expected)


@pytest.fixture
def disk(tmp_path):
    """A file system of 600 kB, which can be full, or read-only also for root."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_leaves_the_last_checkpoint(source, growing, learn, disk):
    expected, _, _ = learn(source, "--target", "y", to="whole")
    run, status, _ = learn(growing, "--target", "y", to="disk/run")
    assert status == 0
    before = (run / "checkpoint.safetensors").read_bytes()
    growing.write_bytes(source.read_bytes())
    with (disk / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    _, status, said = learn(growing, "--target", "y", "--resume", to="disk/run")
    assert status == 1
    assert f"{run}/" in said
    assert "the disk is full; what was saved before stands: make room, then run this again" in said
    assert "(learn: with --resume)" in said
    assert (run / "checkpoint.safetensors").read_bytes() == before
    _, status, said = learn(growing, "--target", "y", to="disk/another")
    assert status == 1
    assert "the disk is full" in said
    status, _, said = called("predict", run, source, "--to", disk / "answers.csv")
    assert status == 1
    assert f"holdfast: {disk / 'answers.csv'}: the disk is full" in said
    (disk / "filler").unlink()
    _, status, _ = learn(growing, "--target", "y", "--resume", to="disk/run")
    assert status == 0
    assert bits(run) == bits(expected)


def test_a_disk_that_is_read_only_is_a_sentence(source, learn, disk):
    run, _, _ = learn(source, "--target", "y", to="disk/run")
    before = bits(run)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for more in (("--resume",), ("--to", str(disk / "another"))):
        _, status, said = learn(source, "--target", "y", *more, to="disk/run")
        assert status == 1
        assert f"holdfast: {disk}" in said
        assert "may not be written to" in said
    assert bits(run) == before
    assert holdfast("audit", run).returncode == holdfast("inspect", run).returncode == 0
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)


def test_a_folder_that_cannot_be_written_to_is_a_sentence(source, capsys):
    from holdfast.cli.main import main

    assert main(["learn", str(source), "--target", "y", "--to", "/proc/run"]) == 1
    assert "holdfast: /proc/run" in capsys.readouterr().err


def test_a_resumed_run_expects_as_many_rows_as_a_new_one(source, learn, monkeypatch):
    """So it is compiled as early."""
    expected, decide = [], CompileChoice.decide

    def record(choice, *args):
        expected.append(choice.expected)
        decide(choice, *args)

    def stopped(run):
        raise KeyboardInterrupt

    monkeypatch.setattr(CompileChoice, "decide", record)
    args = ("--target", "y", "--learner", "adagrad", "--checkpoint", "100")
    with monkeypatch.context() as patch:
        checkpoints = iter([Run.checkpoint, stopped])
        patch.setattr(Run, "checkpoint", lambda run, last=False: next(checkpoints)(run))
        with pytest.raises(KeyboardInterrupt):
            learn(source, *args)
    count = len(expected)
    learn(source, *args, "--resume")
    assert expected[count] == pytest.approx(ROWS, rel=0.1)
