"""A file that grows and is rotated gives the same run as all its lines in one file."""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.conftest import bits
from runs.rotating import HEADER, Log, rows, script

from holdfast.cli.main import main
from holdfast.io import following
from holdfast.runs.run import Run

LINES = rows(180)
ARGS = ("--target", "y", "--learner", "adagrad", "--quiet")
TERMINATED = 143


@pytest.fixture
def whole(tmp_path):
    """The run that learned all lines from one file."""
    (tmp_path / "whole.csv").write_bytes(HEADER + b"".join(LINES))
    assert main(["learn", str(tmp_path / "whole.csv"), *ARGS, "--to", str(tmp_path / "whole.run")]) == 0
    return tmp_path / "whole.run"


@pytest.fixture
def follow(tmp_path, monkeypatch):
    """Follow a log while these steps happen; each is done when the reader waits."""

    def followed(path, steps, rounds, *args, to="run"):
        runs, stopped, left = [], [], iter(steps)
        begin = Run.__init__
        monkeypatch.setattr(Run, "__init__", lambda run, *a: (runs.append(run), begin(run, *a))[1])

        def wait():
            step = next(left, None)
            if step is not None:
                step()
            elif runs and runs[-1].trace.rounds == rounds and not stopped:
                stopped.append(True)
                os.kill(os.getpid(), signal.SIGTERM)

        monkeypatch.setattr(following, "wait", wait)
        run = tmp_path / to
        assert main(["learn", str(path), *ARGS, "--to", str(run), "--follow", *args]) == TERMINATED
        assert runs[-1].trace.rounds == rounds
        return run

    return followed


def steps_of(log, steps=None):
    return [lambda step=step: log.step(*step) for step in steps or script(LINES)]


def test_a_log_that_grows_and_is_rotated_gives_the_same_bits(tmp_path, whole, follow):
    log = Log(tmp_path)
    run = follow(log.path, steps_of(log), len(LINES))
    assert log.rotations == 3
    found, expected = bits(run), bits(whole)
    assert found.pop("metrics.json") != expected.pop("metrics.json")  # one of them is finished
    assert found == expected


def test_rows_written_while_nothing_followed_are_learned_after_rotations(tmp_path, whole, follow):
    log, steps = Log(tmp_path), script(LINES)
    follow(log.path, steps_of(log, steps[:2]), sum(data.count(b"\n") for _, data in steps[:2]))
    for step in steps[2:]:
        log.step(*step)
    packed = log.path.with_name(log.path.name + ".2")
    packed.with_name(packed.name + ".gz").write_bytes(gzip.compress(packed.read_bytes()))
    os.utime(packed.with_name(packed.name + ".gz"), ns=(packed.stat().st_mtime_ns,) * 2)
    packed.unlink()
    run = follow(log.path, [], len(LINES), "--resume")
    assert bits(run)["model.safetensors"] == bits(whole)["model.safetensors"]
    assert bits(run)["audit"] == bits(whole)["audit"]


def test_a_named_pipe_is_followed_from_one_writer_to_the_next(tmp_path, whole, follow):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def write(data):
        handle = os.open(fifo, os.O_WRONLY)
        os.write(handle, data)
        os.close(handle)

    parts = [HEADER + b"".join(LINES[:90]) + LINES[90][:5], LINES[90][5:] + b"".join(LINES[91:])]
    run = follow(fifo, [lambda part=part: write(part) for part in parts], len(LINES), "--format", "csv")
    assert bits(run)["model.safetensors"] == bits(whole)["model.safetensors"]


def test_the_last_line_of_a_followed_pipe_is_left_out_if_it_has_no_end(tmp_path):
    command = [sys.executable, "-m", "holdfast.cli.main", "learn", "-", *ARGS, "--follow", "--to"]
    for name, data in (("cut", b"".join(LINES) + b"1,2"), ("plain", b"".join(LINES))):
        subprocess.run([*command, str(tmp_path / name)], input=HEADER + data, check=True)
    assert bits(tmp_path / "cut") == bits(tmp_path / "plain")


@pytest.mark.parametrize(
    "start", [b"", HEADER[:-1], HEADER, HEADER + LINES[0][:-1], HEADER + b"".join(LINES[:40])]
)
def test_a_log_without_a_row_is_waited_for_with_a_word(tmp_path, monkeypatch, capsys, start):
    path, waited = tmp_path / "log.csv", []

    def wait():
        waited.append(capsys.readouterr().err)
        path.write_bytes(HEADER + b"".join(LINES))
        if len(waited) == 20:  # it has read them
            os.kill(os.getpid(), signal.SIGTERM)

    path.write_bytes(start)
    monkeypatch.setattr(following, "wait", wait)
    args = (*ARGS[:-1], "--follow", "--to", str(tmp_path / "run"))
    assert main(["learn", str(path), *args]) == TERMINATED
    said = f"{path} has at most one line yet: waiting for rows\n"
    assert waited[0].startswith(said) == (start.count(b"\n") < 2)


def test_what_cannot_be_followed_is_refused_in_a_sentence(tmp_path, capsys):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(HEADER + b"".join(LINES)))
    assert main(["learn", str(path), *ARGS, "--follow", "--to", str(tmp_path / "run")]) == 2
    assert "is packed, so it cannot be followed" in capsys.readouterr().err


def test_a_log_whose_rest_is_gone_is_refused_with_the_remedy(tmp_path, follow, capsys):
    log = Log(tmp_path)
    follow(log.path, steps_of(log, [("add", b"".join(LINES[:90]))]), 90)
    log.path.write_bytes(HEADER + b"".join(LINES[90:]))
    run = tmp_path / "run"
    assert main(["learn", str(log.path), *ARGS, "--to", str(run), "--follow", "--resume"]) == 2
    assert "leave it out with --into" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_a_follower_that_is_killed_loses_and_repeats_no_row(tmp_path, whole, kills):
    script_path = Path(__file__).with_name("killing_followers.py")
    command = [sys.executable, script_path, kills, 5, tmp_path, *ARGS]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, chains = map(int, done.stdout.split())
    assert found == kills
    expected = bits(whole)
    for chain in range(chains):
        result = bits(tmp_path / str(chain) / "run")
        for name in ("model.safetensors", "audit", "sizes"):
            assert result[name] == expected[name], f"chain {chain}"


def test_the_skipped_rows_of_a_rotated_log_come_from_the_files_beside_it(tmp_path, whole, follow):
    log = Log(tmp_path)
    run = follow(log.path, steps_of(log), len(LINES))
    assert main(["audit", str(whole), "--skipped", str(tmp_path / "expected.csv")]) == 0
    assert main(["audit", str(run), "--skipped", str(tmp_path / "skipped.csv")]) == 0
    expected = (tmp_path / "expected.csv").read_text()
    assert (tmp_path / "skipped.csv").read_text() == expected


def test_skipped_rows_of_a_log_that_was_deleted_are_left_out_with_the_remedy(tmp_path, follow, capsys):
    log = Log(tmp_path)
    run = follow(log.path, steps_of(log), len(LINES))
    oldest = tmp_path / "log.csv.1"
    moved = oldest.rename(tmp_path / "moved.csv")
    audit = ["audit", str(run), "--skipped", str(tmp_path / "skipped.csv")]
    assert main(audit) == 0
    said = capsys.readouterr().out
    assert "skipped rows between row" in said and "--source" in said
    some = (tmp_path / "skipped.csv").read_text().splitlines()
    assert main([*audit, "--source", str(moved)]) == 0
    assert "left out" not in capsys.readouterr().out
    assert len((tmp_path / "skipped.csv").read_text().splitlines()) > len(some) > 1
