"""A run touches only files that it wrote and lists, and follows no symbolic link."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from runs.small import called, learned, refused, write_source

from holdfast.runs.folder import Folder
from holdfast.runs.manifest import FILES, Manifest, part_name

NAMES = [*FILES, "manifest.json", part_name("audit", 0), part_name("sizes", 3)]


@pytest.fixture
def source(tmp_path):
    return write_source(tmp_path / "rows.csv")


def learn(source, to, *args):
    return called("learn", source, "--target", "y", "--drop", "who", "--to", to, "--quiet", *args)


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def content_without_times(folder):
    """All that two runs of the same rows have in common; the manifest has the checksum of the times."""
    return {
        name: data for name, data in content(folder).items() if name not in ("times.json", "manifest.json")
    }


def test_other_files_are_not_changed(source, tmp_path):
    others = (".hidden", "zebra.txt", "notes/a.txt", "audit/.hidden", "audit/zebra.parquet", "sizes/part-x")
    for name in others:
        (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / name).write_text(name)
    run = learned(source, tmp_path / "run")
    learned(source, run, "--resume")
    assert called("report", run)[0] == 0
    assert all((run / name).read_text() == name for name in others)
    assert called("audit", run)[1] == called("audit", learned(source, tmp_path / "alone"))[1]


@pytest.mark.parametrize("name", NAMES)
def test_another_file_with_the_name_of_a_runs_file_is_refused(source, tmp_path, name):
    (tmp_path / "run" / name).parent.mkdir(parents=True)
    (tmp_path / "run" / name).write_text("mine")
    for more in ((), ("--resume",)):
        answer = learn(source, tmp_path / "run", *more)
        assert refused(answer)
        assert str(tmp_path / "run" / name) in answer[2]
        assert content(tmp_path / "run") == {name: b"mine"} | dict.fromkeys(
            {"lock"} & set(os.listdir(tmp_path / "run")), b""
        )


@pytest.mark.parametrize("name", [*NAMES, "audit", "sizes", "lock"])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_with_the_name_of_a_runs_file_is_refused(source, tmp_path, name, there):
    victim, run = tmp_path / "victim", tmp_path / "run"
    if there:
        victim.mkdir() if name in ("audit", "sizes") else victim.write_text("precious")
        if victim.is_dir():
            (victim / "part-000007.parquet").write_text("precious")
    (run / name).parent.mkdir(parents=True)
    (run / name).symlink_to(victim)
    answer = learn(source, run)
    assert refused(answer)
    assert str(run / name) in answer[2]
    assert victim.exists() == there
    if there:
        assert (victim / "part-000007.parquet" if victim.is_dir() else victim).read_text() == "precious"


@pytest.mark.parametrize("name", [*FILES, "manifest.json", part_name("audit", 0), "audit", "lock"])
def test_a_link_instead_of_a_file_that_the_run_wrote_is_refused(source, tmp_path, name):
    run, victim = learned(source, tmp_path / "run", "--key", "who", "--report"), tmp_path / "victim"
    (run / name).rename(victim)
    (run / name).symlink_to(victim)
    before = content(victim) if victim.is_dir() else victim.read_bytes()
    answers = [learn(source, run, "--key", "who", "--resume", "--report"), called("audit", run)]
    answers.append(called("predict", run, source))
    assert any(map(refused, answers))
    assert f"{run / name} is a symbolic link" in "".join(said for _, _, said in answers)
    assert (content(victim) if victim.is_dir() else victim.read_bytes()) == before


def test_a_file_named_lock_is_not_emptied(source, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").write_text("mine")
    learned(source, tmp_path / "run")
    assert (tmp_path / "run" / "lock").read_text() == "mine"


def test_temporary_files_follow_no_links(source, tmp_path):
    run, victim = tmp_path / "run", tmp_path / "victim"
    victim.write_text("precious")
    run.mkdir()
    for name in FILES:
        (run / f".{name}.{os.getpid()}").symlink_to(victim)
    (tmp_path / ".answers.csv.part").symlink_to(victim)
    (tmp_path / "page.html.part").symlink_to(victim)
    learned(source, run, "--report")
    assert called("predict", run, source, "--to", tmp_path / "answers.csv")[0] == 0
    assert called("report", run, "--to", tmp_path / "page.html")[0] == 0
    assert victim.read_text() == "precious"


def test_what_a_killed_process_left_is_removed_and_nothing_else(source, tmp_path):
    run = learned(source, tmp_path / "run")
    folder = Folder(run)
    left = [f".holdfast-{folder.load().token}-0", f"audit/.holdfast-{folder.manifest.token}-1"]
    others = [f".holdfast-{Manifest.new().token}-0", "audit/.other"]
    for name in (*left, *others):
        (run / name).write_text("half")
    learned(source, run, "--resume")
    assert [name for name in (*left, *others) if (run / name).exists()] == others


def test_a_run_that_was_killed_before_it_wrote_its_configuration_can_begin_again(source, tmp_path):
    run = learned(source, tmp_path / "run")
    whole = content_without_times(run)
    manifest = Folder(run).load()
    shutil.rmtree(run)
    run.mkdir()
    only = {"config.json": (None, *manifest.files["config.json"])}
    (run / "manifest.json").write_bytes(manifest._replace(files=only).to_bytes())
    learned(source, run)
    assert content_without_times(run) == whole


def test_a_run_without_its_configuration_can_neither_begin_again_nor_resume(source, tmp_path):
    run = learned(source, tmp_path / "run")
    (run / "config.json").unlink()
    before = content(run)
    for more in ((), ("--resume",)):
        assert refused(learn(source, run, *more))
        assert content(run) == before


@pytest.mark.slow  # a process for every write
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_run_killed_at_any_write_resumes_with_the_same_bits(source, tmp_path, monkeypatch):
    write_source(source, 30)
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 15)  # rounds between two checkpoints
    learned(source, tmp_path / "whole", "--checkpoint", "15")
    script = Path(__file__).with_name("stopping.py")
    args = ["--target", "y", "--drop", "who", "--checkpoint", "15", "--quiet"]
    command = [sys.executable, script, source, tmp_path, *args]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = int(done.stdout)
    assert steps > 40
    whole = content(tmp_path / "whole")
    del whole["manifest.json"]  # it has another token
    for step in range(1, steps):
        found = content(tmp_path / str(step))
        if step <= 2:  # without a manifest, nothing says that a temporary file is of this run
            found = {name: data for name, data in found.items() if not name.startswith(".holdfast-")}
        del found["manifest.json"]
        for name in ("config.json", "model.safetensors", "metrics.json", "certificate.json"):
            assert found[name] == whole[name], f"killed at write {step}"
        assert set(found) == set(whole), f"killed at write {step}"


def test_a_run_without_a_checkpoint_does_not_block_the_next_one(source, tmp_path, monkeypatch):
    """The first run ends before its first checkpoint; the next one may have other settings."""
    from holdfast.runs.run import Run

    def fails(run, last=False):
        raise MemoryError

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Run, "checkpoint", fails)
        assert called("learn", source, "--target", "y", "--to", run)[0] == 1
    assert (run / "config.json").exists()
    learned(source, run, "--learner", "adagrad")
    assert called("verify", run)[0] == 0


def test_a_temporary_manifest_of_a_killed_process_is_removed(source, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    left, other = run / f".holdfast-{'a1' * 8}-{'b2' * 8}", run / ".holdfast-notes"
    left.write_bytes(b'{"format": "holdfast mani')
    other.write_text("mine")
    learned(source, run, "--learner", "adagrad")
    assert (left.exists(), other.exists()) == (False, True)


def test_the_next_command_removes_what_a_killed_one_left_beside_its_file(source, tmp_path):
    """But not what another process is writing, nor a link."""
    from holdfast.runs.files import locked

    run, place = learned(source, tmp_path / "run", "--learner", "adagrad"), tmp_path / "answers.csv"
    left, used, link = (tmp_path / f".answers.csv.holdfast-{c * 16}" for c in "abc")
    left.write_bytes(b"half")
    link.symlink_to(source)
    with open(used, "wb") as file:
        assert locked(file)
        assert called("predict", run, source, "--to", place)[0] == 0
    assert (left.exists(), used.exists(), link.is_symlink(), place.exists()) == (False, True, True, True)
