"""Model, metrics and report are those of the last checkpoint, also while a run learns."""

import json

import pytest
from cli.conftest import bits
from runs.rotating import HEADER, Log, rows
from runs.small import called

from holdfast.cli.exits import Failure
from holdfast.cli.main import main
from holdfast.fleet.games import Games
from holdfast.io import following
from holdfast.runs.beginning import begin
from holdfast.runs.config import Settings
from holdfast.runs.folder import Folder
from holdfast.runs.learning import Schedule, learn
from holdfast.runs.model import NewestModel, read_model
from holdfast.runs.run import Run, open_run
from holdfast.terminal import STOPPED

LINES = rows(120)
ARGS = ("--target", "y", "--learner", "adagrad", "--quiet")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(HEADER + b"".join(LINES))
    return path


def test_the_results_are_those_of_every_checkpoint(source, tmp_path, monkeypatch):
    """What another process would read after each checkpoint."""
    seen, checkpoint = [], Run.checkpoint

    def look(run, last=False):
        checkpoint(run, last)
        found = Folder(run.folder.path)
        metrics = json.loads(found.read("metrics.json"))
        report = found.read("report.html") if found.has("report.html") else b""
        weights = read_model(found).parameters.weights.tolist()
        assert weights == open_run(run.folder.path).games.parameters().weights.tolist()
        seen.append((metrics["rounds"], open_run(run.folder.path).trace.rounds, len(report) > 0))

    monkeypatch.setattr(Run, "checkpoint", look)
    assert (
        main(["learn", str(source), *ARGS, "--checkpoint", "30", "--report", "--to", str(tmp_path / "r")])
        == 0
    )
    assert [rounds for rounds, _, _ in seen] == [30, 60, 90, 120, 120]
    assert all(rounds == checkpointed for rounds, checkpointed, _ in seen)
    assert [reported for _, _, reported in seen] == [False, True, True, True, True]


class Clock:
    """Seconds that pass when rounds are played."""

    def __init__(self, run):
        self.run = run

    def monotonic(self):
        return self.run.trace.rounds / 100.0


@pytest.mark.parametrize(
    ("every", "expected"), [((25, float("inf")), 25), ((float("inf"), 0.4), 40), ((1, float("inf")), 1)]
)
def test_checkpoints_come_as_often_as_asked_when_compiled(source, tmp_path, monkeypatch, every, expected):
    """A compiled run plays a whole piece at once, if nothing else is due."""
    run, inputs, items = begin([source], Settings("y", learner="adagrad"), tmp_path / "r", lambda text: None)
    monkeypatch.setattr("holdfast.runs.learning.time", Clock(run))
    monkeypatch.setattr("holdfast.runs.learning._LEAST", 1)
    monkeypatch.setattr(run.compiling, "decide", lambda piece, rounds, progress: None)
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 1 << 40)
    at, checkpoint = [], Run.checkpoint

    def counted(run, last=False):
        at.append(run.trace.rounds)
        checkpoint(run, last)

    monkeypatch.setattr(Run, "checkpoint", counted)
    schedule = Schedule(run, every)
    schedule._speed = 100.0
    monkeypatch.setattr("holdfast.runs.learning.Schedule", lambda run, every: schedule)
    learn(run, inputs, items, every, lambda *figures: None, lambda: False)
    inputs.close()
    run.folder.close()
    assert at[: len(LINES) // expected] == list(range(expected, len(LINES) + 1, expected))


def test_a_run_is_compiled_if_it_is_long_and_python_plays_few_rounds_at_a_time(source, tmp_path, monkeypatch):
    flags, play = [], Games.play
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 20)
    monkeypatch.setattr("holdfast.runs.compile_choice._is_stored", lambda args: False)
    monkeypatch.setattr("holdfast._compiled.prebuilt.find", lambda function, args: None)
    args = (
        "--target",
        "y",
        "--learner",
        "ogd",
        "--no-scale",
        "--outliers",
        "3",
        "--quiet",
    )  # quickly compiled

    def recorded(games, keys, label, rows, y, compiled):
        flags.append((compiled, len(y)))
        return play(games, keys, label, rows, y, False)

    monkeypatch.setattr(Games, "play", recorded)
    assert main(["learn", str(source), *args, "--to", str(tmp_path / "plain")]) == 0
    assert {compiled for compiled, _ in flags} == {False} and flags[0][1] == 20
    flags.clear()
    monkeypatch.setattr("holdfast.runs.compile_choice.WORTH_COMPILING", 100)
    assert main(["learn", str(source), *args, "--to", str(tmp_path / "run")]) == 0
    assert {compiled for compiled, _ in flags} == {True}
    assert bits(tmp_path / "run") == bits(tmp_path / "plain")


def test_a_run_without_numba_plays_in_python(source, tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.runs.compile_choice.WORTH_COMPILING", 100)
    monkeypatch.setattr("holdfast._compiled.prebuilt.find", lambda function, args: None)
    monkeypatch.setattr("holdfast._compiled.calls.has_numba", lambda: False)
    monkeypatch.setattr("holdfast._compiled.calls.call", None)
    assert main(["learn", str(source), *ARGS, "--to", str(tmp_path / "run")]) == 0


def test_predict_takes_up_a_newer_model(source, tmp_path, monkeypatch, capfdbinary):
    """The log that is predicted gets a second line after the run has learned more."""
    run, log = tmp_path / "r", Log(tmp_path)
    source.write_bytes(HEADER + b"".join(LINES[:60]))
    assert main(["learn", str(source), *ARGS, "--to", str(run)]) == 0
    log.step("add", LINES[3])
    expected = [called("predict", run, log.path)[1].splitlines()[1]]

    def more():
        source.write_bytes(HEADER + b"".join(LINES))
        assert main(["learn", str(source), "--into", str(run), "--quiet"]) == 0
        log.step("add", LINES[3])
        expected.append(called("predict", run, log.path)[1].splitlines()[2])

    steps = iter([more, lambda: log.step("rename", LINES[3]), *[lambda: None] * 3])

    def wait():
        step = next(steps, None)
        if step is None:
            raise Failure(STOPPED)
        step()

    monkeypatch.setattr(following, "wait", wait)
    capfdbinary.readouterr()
    assert main(["predict", str(run), str(log.path), "--follow"]) == STOPPED
    found = capfdbinary.readouterr().out.decode().splitlines()[1:]
    assert found == [*expected, expected[1].replace("2,", "3,", 1)]
    assert expected[0].split(",")[1] != expected[1].split(",")[1]


def test_a_model_that_cannot_be_read_does_not_replace_the_one_before(source, tmp_path):
    run = tmp_path / "r"
    assert main(["learn", str(source), *ARGS, "--to", str(run)]) == 0
    newest = NewestModel(run)
    before = newest.get()
    (run / "model.safetensors").write_bytes(b"damaged")
    assert newest.get() is before
    (run / "model.safetensors").unlink()
    assert newest.get() is before


def test_follow_writes_to_standard_output_only(source, tmp_path):
    run = tmp_path / "r"
    assert main(["learn", str(source), *ARGS, "--to", str(run)]) == 0
    status, _, said = called("predict", run, source, "--follow", "--to", tmp_path / "a.csv")
    assert (status, "leave out --to" in said) == (2, True)
