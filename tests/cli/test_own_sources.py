"""No command replaces a file that it reads."""

import os

import pytest
from runs.small import called, learned, refused, write_source


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a source, and a run of it."""
    monkeypatch.chdir(tmp_path)
    learned(write_source(tmp_path / "rows.csv"), tmp_path / "run", "--learner", "adagrad")
    assert called("audit", "run", "--skipped", "skipped.csv")[0] == 0
    (tmp_path / "link.csv").symlink_to("rows.csv")
    (tmp_path / "same.csv").hardlink_to("rows.csv")
    (tmp_path / "schema.toml").write_text('a = "number"\n')
    return tmp_path


LEARN = ("--target", "y", "--to", "other", "--learner", "adagrad")


@pytest.mark.parametrize(
    "args",
    [
        ("predict", "run", "rows.csv", "--to", "rows.csv"),
        ("predict", "run", "rows.csv", "--to", "../{name}/link.csv"),
        ("predict", "run", "link.csv", "--to", "same.csv"),
        ("audit", "run", "--skipped", "rows.csv"),
        ("audit", "run", "--skipped", "same.csv", "--source", "rows.csv"),
        ("learn", "rows.csv", *LEARN, "--metrics", "rows.csv"),
        ("learn", "skipped.csv", "rows.csv", *LEARN, "--metrics", "rows.csv"),
        ("learn", "*.csv", *LEARN, "--metrics", "skipped.csv"),
        ("learn", "rows.csv", *LEARN, "--config", "empty.toml", "--metrics", "empty.toml"),
        ("predict", "run", "rows.csv", "--schema", "schema.toml", "--to", "../{name}/schema.toml.csv"),
        ("report", "run", "--to", "run/model.safetensors"),
        ("report", "run", "--to", "rows.csv"),
        ("export", "run", "--to", "sklearn", "--output", "run/config.json"),
        ("audit", "run", "--skipped", "run/audit/{part}"),
        ("learn", "rows.csv", *LEARN, "--metrics", "other/metrics.json"),
    ],
)
def test_an_output_that_is_an_input_is_refused_and_nothing_changes(here, args):
    (here / "empty.toml").write_text("")
    (here / "schema.toml.csv").symlink_to("schema.toml")
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    part = next((here / "run" / "audit").iterdir()).name
    answer = called(*(arg.format(name=here.name, part=part) for arg in args))
    assert refused(answer), answer
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_a_run_in_a_file_is_refused(here):
    for to in ("rows.csv", "rows.csv/run"):
        _, _, said = called("learn", "rows.csv", "--target", "y", "--to", to, "--quiet")
        assert said == f"holdfast: {to} is or is in a file: choose a folder with --to\n"


def test_other_files_are_replaced(here):
    for args in (
        ("predict", "run", "rows.csv", "--to", "skipped.csv"),
        ("audit", "run", "--skipped", "q.csv"),
    ):
        assert called(*args)[0] == 0 == called(*args)[0]
    for args in (("--to", "page.html"), (), ("--to", "run/report.html")):
        assert called("report", "run", *args)[0] == 0
    assert called("verify", "run")[0] == 0


@pytest.mark.parametrize(
    "args",
    [
        ("predict", "run", "rows.csv", "--to", "{name}.csv"),
        ("audit", "run", "--skipped", "{name}.parquet"),
        ("report", "run", "--to", "{name}.html"),
        ("export", "run", "--to", "sklearn", "--output", "{name}"),
        ("learn", "rows.csv", *LEARN, "--metrics", "{name}.prom"),
    ],
)
@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_only_plain_files_are_replaced(here, args, kind):
    """Such as a device: root would replace /dev/full."""
    args = [arg.format(name="out") for arg in args]
    path = next(here / arg for arg in args if arg.startswith("out"))
    os.mkfifo(here / "pipe")
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("pipe")
    else:
        os.mkfifo(path)
    before = os.lstat(path)
    answer = called(*args)
    assert refused(answer), answer
    assert f"{path.name} is " in answer[2]
    assert (os.lstat(path).st_mode, os.lstat(path).st_ino) == (before.st_mode, before.st_ino)
    assert not (here / "other" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("name", ["x" * 251, "é" * 125 + "x"])
def test_a_file_may_have_the_longest_name(here, name):
    """255 bytes: its temporary name is longer, and is cut."""
    status, _, said = called("predict", "run", "rows.csv", "--to", f"{name}.csv")
    assert status == 0, said
    assert (here / f"{name}.csv").stat().st_size
    assert not [path for path in here.iterdir() if path.name.startswith(".")]
