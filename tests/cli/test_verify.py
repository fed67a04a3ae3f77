"""holdfast verify: every file of a run is checked, also those that no other command reads."""

import json
import shutil

import pytest
from runs.small import called, learned, rewrite, rewrite_tensors, write_source


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("source") / "rows.csv")


@pytest.fixture(scope="module")
def original(source, tmp_path_factory):
    return learned(source, tmp_path_factory.mktemp("runs") / "run", "--learner", "adagrad", "--report")


@pytest.fixture
def run(original, tmp_path):
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def test_a_whole_run_has_no_problems(run):
    status, said, _ = called("verify", run)
    count = sum(path.is_file() for path in run.rglob("*")) - 2  # without lock and manifest
    assert status == 0
    assert said.startswith(f"{count} files, ") and said.endswith("bytes: all as the run wrote them\n")
    found = json.loads(called("verify", run, "--json")[1])
    assert (found["files"], found["problems"], found["temporary"]) == (count, [], [])


def test_every_damaged_file_is_named(run):
    names = sorted(str(path.relative_to(run)) for path in run.rglob("*") if path.is_file())
    changed = [name for name in names if name not in ("lock", "manifest.json")]
    for name in changed[:-1]:
        data = bytearray((run / name).read_bytes())
        data[len(data) // 2] ^= 1
        (run / name).write_bytes(data)
    (run / changed[-1]).unlink()
    status, _, said = called("verify", run)
    assert status == 2
    for name, line in zip(changed, said.splitlines(), strict=True):
        assert line.startswith(f"holdfast: {run / name} is ")
    found = json.loads(called("verify", run, "--json")[1])
    assert len(found["problems"]) == len(changed)


def test_files_with_right_checksums_must_belong_together(run, source, tmp_path):
    other = learned(source, tmp_path / "other", "--learner", "adagrad", "--key", "who")
    rewrite(run, "model.safetensors", (other / "model.safetensors").read_bytes())
    assert "model.safetensors is damaged: its columns are not those of the run" in called("verify", run)[2]


def test_the_audit_has_as_many_rounds_as_the_checkpoint_counts(run):
    def change(about, tensors):
        tensors["trace.sums"][4] -= 1

    rewrite_tensors(run, "checkpoint.safetensors", change)
    assert "skipped rounds" in called("verify", run)[2]


def test_temporary_files_are_mentioned_and_left(run):
    token = json.loads((run / "manifest.json").read_text())["token"]
    (run / f".holdfast-{token}-0").write_bytes(b"half")
    status, said, _ = called("verify", run)
    assert (status, "1 temporary files" in said) == (0, True)
    assert (run / f".holdfast-{token}-0").exists()


def test_a_folder_without_a_run_is_one_sentence(tmp_path):
    status, said, error = called("verify", tmp_path, "--json")
    assert status == 2
    assert "is no run of holdfast" in error
    assert json.loads(said) == {
        "event": "error",
        "text": error.removeprefix("holdfast: ").rstrip(),
        "status": 2,
    }
