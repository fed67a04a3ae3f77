"""Every file of a run has a checksum, so an accidental change is found and named in one sentence.

tests/fuzz/test_folders.py changes every byte.
"""

import json
import shutil

import pytest
from runs.small import called, learned, refused, write_source

READ = ["manifest.json", "config.json", "checkpoint.safetensors", "model.safetensors"]
PARTS = ["audit/part-000001.parquet", "sizes/part-000000.parquet"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("source") / "rows.csv")


@pytest.fixture(scope="module")
def original(source, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.runs.run._INTERPRETED", 20)  # rounds between two checkpoints
        return learned(source, tmp_path_factory.mktemp("runs") / "run", "--checkpoint", "20")


@pytest.fixture
def run(original, tmp_path):
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def answers(run, source):
    """What four commands print: predict, audit, inspect, and audit with --replay."""
    commands = (["predict", run, source], ["audit", run], ["inspect", run], ["audit", run, "--replay", "k=3"])
    return [called(*command) for command in commands]


@pytest.mark.parametrize("name", [*READ, *PARTS])
@pytest.mark.parametrize("how", ["deleted", "empty", "shorter", "longer", "swapped", "a folder"])
def test_a_changed_file_is_named(source, run, name, how):
    path = run / name
    data = path.read_bytes()
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how != "deleted":
        other = (run / "metrics.json").read_bytes()
        path.write_bytes({"empty": b"", "shorter": data[:-9], "longer": data + b"\n", "swapped": other}[how])
    found = answers(run, source)
    if (name, how) == ("manifest.json", "longer"):  # JSON with one more line end is the same JSON
        assert not any(map(refused, found))
        return
    named = [answer[2] for answer in found if refused(answer)]
    assert named
    assert all(path.name in said for said in named)


def test_a_model_of_another_run_is_refused(source, run, tmp_path):
    other = learned(source, tmp_path / "other", "--outliers", "3")
    shutil.copy(other / "model.safetensors", run / "model.safetensors")
    assert refused(called("predict", run, source))


def test_parts_that_are_swapped_or_added_are_refused(source, run):
    first, second = run / "audit/part-000001.parquet", run / "audit/part-000002.parquet"
    whole = first.read_bytes(), second.read_bytes()
    first.write_bytes(whole[1])
    second.write_bytes(whole[0])
    assert refused(called("audit", run))
    first.write_bytes(whole[0])
    second.write_bytes(whole[1])
    assert not refused(called("audit", run))
    shutil.copy(first, run / "audit/part-000009.parquet")
    answer = called("audit", run)
    assert refused(answer)
    assert "audit/part-000009.parquet was not written by this run" in answer[2]


@pytest.mark.parametrize("name", ["config.json", "checkpoint.safetensors", *PARTS])
def test_a_damaged_run_is_not_resumed(source, run, name):
    path = run / name
    path.write_bytes(path.read_bytes()[:-1])
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    args = ["--target", "y", "--drop", "who", "--to", run, "--resume"]
    answer = called("learn", source, *args)
    assert refused(answer)
    assert str(path) in answer[2]
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_run_without_its_manifest_is_refused_in_a_sentence(source, run):
    (run / "manifest.json").unlink()
    for answer in answers(run, source):
        assert refused(answer)
        assert "has no manifest.json: it was removed" in answer[2]


def test_the_checksums_are_those_of_sha256sum(run):
    import hashlib

    files = json.loads((run / "manifest.json").read_text())["files"]
    written = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert set(files) == written - {"manifest.json", "lock"}
    for name, [(size, digest)] in files.items():
        data = (run / name).read_bytes()
        assert (size, digest) == (len(data), hashlib.sha256(data).hexdigest())


def test_a_run_can_be_read_while_another_process_writes_it(source, run):
    """A reader with an old manifest reads the new one before it reports an error."""
    from holdfast.runs.folder import Folder

    reader, writer = Folder(run), Folder(run)
    reader.load()
    writer.load()
    for text in ("one", "two", "three"):
        writer.write([("metrics.json", text)])
    assert reader.read("metrics.json") == b"three"
