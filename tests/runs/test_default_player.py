"""Runs with the default player: judged as asked, its model, its losses, and the units of skipped rows."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from cli.conftest import bits
from runs.small import called

import holdfast as hf
from holdfast.intervals.widths import NUMBERS, Widths, with_near_rows
from holdfast.pages.render import figure
from holdfast.runs.run import open_run


@pytest.fixture
def rows(tmp_path):
    """A column that grows like a clock, two others, and some wild cells and targets, in a file."""
    rng = np.random.default_rng(5)
    clock = 0.05 * np.arange(1000.0) + rng.uniform(0.0, 0.04, 1000)  # uneven: one that is even is left out
    X = np.column_stack([clock, rng.normal(size=(1000, 2))]).round(3)
    y = (X @ [0.1, 1.0, -2.0] + 0.1 * rng.normal(size=1000)).round(3)
    wild = np.arange(100, 1000, 37)
    X[wild, 1 + wild % 2] = 1e4
    y[50::91] = 1e5
    path = tmp_path / "rows.csv"
    pacsv.write_csv(pa.table({"clock": X[:, 0], "a": X[:, 1], "b": X[:, 2], "y": y}), path)
    return path, X, y, wild


def run_of(path, to, *args):
    status, _, said = called("learn", path, "--target", "y", "--to", to, "--quiet", *args)
    assert status == 0, said
    return to


@pytest.mark.parametrize("delay", [1, 50])
def test_the_recorded_errors_are_those_of_forecasts_as_asked(rows, tmp_path, delay):
    path, X, y, _ = rows
    run = run_of(path, tmp_path / "run", "--delay", delay)
    player = hf.defaults.recommended(True, delay=delay)
    record = hf.play(player, hf.Replay(X, y, hf.Absolute()), keep=("predictions", "kept", "refused_by"))
    errors = np.abs(record.predictions - y)
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["error"] == pytest.approx(errors[record.kept].mean(), rel=1e-9)
    assert metrics["error_of_all_rounds"] == pytest.approx(errors.mean(), rel=1e-9)
    page = called("report", run)[1] and (run / "report.html").read_text()
    words = {1: "each row predicted before it was", 50: "50 rows at a time predicted before they were"}
    assert f"on the rounds learned from, {words[delay]} learned from" in " ".join(page.split())
    assert figure(metrics["error"]) in page
    from holdfast.runs.results import exposition

    shown = exposition(open_run(run), 0.0).decode()
    assert float(shown.split('holdfast_error{run="run"} ')[1].split()[0]) == metrics["error"]
    widths = Widths(NUMBERS)
    widths.add_forecasts(with_near_rows(record.predictions, record.refused_by, player.check_names()), y)
    assert open_run(run).model().widths.tolist() == [list(each[:2]) for each in widths.report()]
    assert ("delay 50" in called("inspect", run)[1]) == (delay == 50)


def test_a_longer_delay_has_larger_errors_and_is_said(rows, tmp_path):
    path, _, _, _ = rows
    errors = []
    for delay, words in ((1, "each row predicted before"), (200, "200 rows at a time predicted before")):
        args = ("--target", "y", "--delay", delay, "--to", tmp_path / str(delay))
        _, shown, _ = called("learn", path, *args)
        assert words in shown and "Model: linear, with several memories; loss absolute error" in shown
        errors.append(json.loads((tmp_path / str(delay) / "metrics.json").read_text())["error"])
    assert errors[0] < errors[1]


@pytest.mark.parametrize("target", ["y", "sign", "side"])
def test_nothing_depends_on_how_rows_are_cut(rows, tmp_path, monkeypatch, target):
    path, X, y, _ = rows
    names = {"sign": np.where(y > 2.0, "yes", "no"), "side": np.array(["n", "s", "w"])[np.argsort(X)[:, 0]]}
    if target != "y":
        pacsv.write_csv(pa.table({"clock": X[:, 0], "a": X[:, 1], "b": X[:, 2], "y": names[target]}), path)
    whole = run_of(path, tmp_path / "whole", "--delay", "50")
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 33)
    cut = run_of(path, tmp_path / "cut", "--delay", "50", "--checkpoint", "66")
    assert bits(cut) == bits(whole)
    assert open_run(cut).games.state()["tape"].tobytes() == open_run(whole).games.state()["tape"].tobytes()


def test_a_skipped_row_is_blamed_on_its_cell_in_the_units_of_its_round(rows, tmp_path):
    path, _, _, wild = rows
    run = run_of(path, tmp_path / "run")
    audit = pq.read_table(run / "audit").to_pandas().set_index("row")
    found = audit.loc[wild + 1]
    assert (found["reason"] == "features").all()
    assert found["column"].tolist() == ["ab"[row % 2] for row in wild]
    assert (found["value"] == 1e4).all()
    assert open_run(run).games.parameters().center[0, 0] > 20.0  # the center of the clock has moved


@pytest.mark.parametrize("task", ["numbers", "labels"])
def test_the_model_predicts_as_the_next_round_of_the_game(rows, tmp_path, task):
    path, X, y, _ = rows
    X, y = X[:600], y[:600]
    targets = y if task == "numbers" else np.where(y > 0.0, "yes", "no")
    named = dict(zip(("clock", "a", "b"), X.T, strict=True))
    pacsv.write_csv(pa.table(named | {"y": targets}), path)
    run = run_of(path, tmp_path / "run")
    model = open_run(run).model()
    # a usual row, far cells, a missing and an infinite cell; these two count as the center of their column
    center = model.parameters.center[0]
    asked = np.array([[30.0, 0.5, -0.5], [30.0, 70.0, -1e6], [900.0, -1.0, 1.0], [30.0, center[1], 2.0]])
    # A far cell that the gate would refuse counts as the center, too; a nearer one is squashed in the game.
    given, asked = asked, np.where(model.parameters.wild_cells(asked, np.zeros(1, int)), center, asked)
    loss = hf.Absolute() if task == "numbers" else hf.Logistic()
    z = y if task == "numbers" else np.where(y > 0.0, 1.0, -1.0)
    expected = [
        hf.play(
            hf.defaults.recommended(task == "numbers"),
            hf.Replay(np.vstack([X, row]), np.append(z, 1.0), loss),
            keep=("predictions",),
        ).predictions[-1]
        for row in asked
    ]
    text = "clock,a,b\n30,0.5,-0.5\n30,70,-1e6\n900,-1,1\n30,,2\n30,inf,2\n"
    (tmp_path / "new.csv").write_text(text)
    from holdfast.io.rows import DenseRows

    cells = np.vstack([given, [[30.0, np.inf, 2.0]]])
    cells[3, 1] = np.nan
    found = model.outcomes(DenseRows(cells), np.zeros(5, int))[:, 0]
    assert found == pytest.approx([*expected, expected[-1]], rel=1e-12)
    assert len(set(expected)) >= 3
    status, out, _ = called("predict", run, tmp_path / "new.csv")
    answers = [line.split(",")[1] for line in out.splitlines()[1:]]
    assert status == 0 and answers[3] == answers[4]
    if task == "numbers":
        assert list(map(float, answers)) == pytest.approx(found, rel=1e-12)


def test_each_loss_has_its_own_model(rows, tmp_path):
    path, _, _, _ = rows
    models = set()
    for loss in ("absolute_error", "squared_error", "huber:0.5", "pinball:0.9", "epsilon_insensitive:0.5"):
        run = run_of(path, tmp_path / loss.replace(":", "-"), "--loss", loss)
        models.add(open_run(run).games.parameters().weights.tobytes())
    assert len(models) == 5


def test_the_first_rows_are_learned_from(rows, tmp_path):
    path, _, _, _ = rows
    run = run_of(path, tmp_path / "run")
    assert min(pq.read_table(run / "audit").column("row").to_pylist()) > 32
