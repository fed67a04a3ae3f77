"""Three labels or more: a game for each pair of them, as in `RobustClassifier`."""

import json

import numpy as np
import pandas as pd
import pytest
from runs.small import called
from samples import slow

from holdfast.fleet.games import Games
from holdfast.io.columns import Layout, Number, Target
from holdfast.io.rows import DenseRows
from holdfast.losses import Logistic
from holdfast.runs.config import Settings
from holdfast.runs.folder import Folder
from holdfast.runs.model import read_model, targets_of
from holdfast.runs.run import open_run
from holdfast.sklearn import RobustClassifier

ROWS, NAMES = 240, np.array(["low", "middle", "high", "top"])
COLUMNS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 3)).round(3)
    z = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=ROWS)
    X[rng.random(ROWS) < 0.02] *= 1000.0
    frame = pd.DataFrame(X, columns=COLUMNS)
    return frame.assign(
        y=NAMES[np.digitize(z, [-1.0, 0.5, 2.0])], who=np.array(["p", "q"])[np.arange(ROWS) % 2]
    )


@pytest.fixture
def learned(tmp_path):
    """Learn from a table; the folder and the predictions for all its rows."""

    def run(table, *args, to="a.run"):
        path, to, out = tmp_path / "rows.csv", tmp_path / to, tmp_path / "out.csv"
        table.to_csv(path, index=False)
        status, _, said = called("learn", path, "--target", "y", "--to", to, "--quiet", *args)
        assert status == 0, said
        assert called("predict", to, path, "--to", out, "--quiet")[0] == 0
        return to, pd.read_csv(out)

    return run


def estimated(table, **options):
    return RobustClassifier(**options).partial_fit(
        table[COLUMNS].to_numpy(), table.y.to_numpy(), classes=np.unique(NAMES)
    )


@pytest.mark.parametrize(
    ("args", "options"),
    [
        slow(((), {"delay": 1})),
        (("--delay", "20"), {"delay": 20}),
        (("--learner", "adagrad"), {"learner": "adagrad"}),
        (("--loss", "hinge"), {"loss": "hinge"}),
        slow((("--outliers", "5"), {"outliers": 5, "delay": 1})),
        (("--outliers", "5", "--no-scale"), {"outliers": 5, "scale": False}),
    ],
)
def test_the_models_are_those_of_the_estimator(table, learned, args, options):
    run, found = learned(table, "--drop", "who", *args)
    estimator = estimated(table, **options)
    assert found.prediction.tolist() == estimator.predict(table[COLUMNS].to_numpy()).tolist()
    metrics = json.loads((run / "metrics.json").read_text())
    assert (metrics["kept"], metrics["skipped"]) == (estimator.kept_, estimator.skipped_)
    reasons = {name: count for name, count in estimator.audit_counts_.items() if count}
    reasons.pop("warm-up", None)
    assert metrics["skipped_by_reason"] == reasons


def test_predictions_before_learning_are_those_of_the_estimator(table, learned):
    table = table[:120]
    run, _ = learned(table, "--drop", "who")
    estimator, wrong, kept = RobustClassifier(delay=1), 0, 0
    for i in range(len(table)):
        X, y = table[COLUMNS].to_numpy()[i : i + 1], table.y.to_numpy()[i : i + 1]
        missed = i > 0 and estimator.predict(X)[0] != y[0]
        estimator.partial_fit(X, y, classes=np.unique(NAMES))
        kept += estimator.kept_mask_[0]
        wrong += missed and estimator.kept_mask_[0]
    metrics = json.loads((run / "metrics.json").read_text())
    first = int(table.y[0] != np.unique(NAMES)[0])  # nothing is known, so the first label is predicted
    # Of rows that are not kept the game squashes the wild cells, and `predict` leaves them out.
    assert metrics["error"] == pytest.approx((wrong + first) / kept)


def test_each_key_has_the_models_of_its_own_rows(table, learned):
    run, found = learned(table, "--key", "who", "--no-prior", "--learner", "adagrad")
    for _, rows in table.groupby("who"):
        expected = estimated(rows, learner="adagrad").predict(rows[COLUMNS].to_numpy())
        assert found.prediction[rows.index].tolist() == expected.tolist()
    assert len(read_model(Folder(run)).parameters.low) == 2 * 6


def test_rows_of_other_labels_are_neither_skipped_nor_unreadable(table, learned):
    run, _ = learned(table[["a", "y"]].assign(a=np.arange(ROWS) % 7), "--outliers", "none")
    found = open_run(run)
    assert found.metrics()["skipped"] == 0
    assert not list((run / "audit").glob("*"))
    assert found.games.counts.tolist() == [[ROWS, ROWS, 0]] * 6
    sizes = pd.concat(part.to_pandas() for part in found.read("sizes"))
    for name, own in sizes.groupby("label"):
        one, _, other = name.partition(", not ")
        assert (own.row.to_numpy() == 1 + np.flatnonzero(table.y.isin([one, other]))).all()


def test_a_row_without_a_label_is_skipped_once(table, learned):
    run, _ = learned(table.assign(y=table.y.mask(table.index % 50 == 7)), "--drop", "who")
    audit = pd.concat(part.to_pandas() for part in open_run(run).read("audit"))
    lost = audit[audit.detail == "the target is missing"]
    assert lost.row.tolist() == [i + 1 for i in range(ROWS) if i % 50 == 7]
    assert (lost.label == "low, not high").all()


def test_two_runs_with_other_blocks_have_the_same_bits(table, learned, monkeypatch):
    run, _ = learned(table, "--drop", "who")
    monkeypatch.setattr("holdfast.runs.run._INTERPRETED", 7)
    other, _ = learned(table, "--drop", "who", to="b.run")
    for name in ("model.safetensors", "metrics.json"):
        assert (run / name).read_bytes() == (other / name).read_bytes()
    tables = [list(open_run(each).read("audit")) for each in (run, other)]
    assert repr([part.to_pydict() for part in tables[0]]) == repr([part.to_pydict() for part in tables[1]])


def test_replaying_the_same_budget_skips_the_same_rows(table, learned):
    run, _ = learned(table, "--drop", "who")
    status, said, errors = called("audit", run, "--replay", "auto", "--json")
    assert status == 0, errors
    answer = json.loads(said)
    assert answer["skipped"] == answer["skipped_in_the_run"] > 0
    assert answer["rounds"] == 3 * ROWS


def test_an_outlier_is_one_in_the_units_of_every_pair(learned):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 200)
    X = rng.normal(size=(600, 2)) + 30.0 * (y == "c")[:, None]
    order = rng.permutation(600)
    table = pd.DataFrame(X, columns=["u", "v"]).assign(y=y).loc[order]
    table.iloc[-1, :2] = 1e6
    _, found = learned(table)
    assert found.outlier.tolist() == [0] * 599 + [1]
    assert found.outlier_column.iloc[-1] == "u"


def test_inspect_and_report_name_the_pairs(table, learned):
    run, _ = learned(table, "--drop", "who")
    said = called("inspect", run)[1]
    assert "weights of low, not high: " in said and "weights of top, not middle: " in said
    assert called("report", run)[0] == 0
    assert "top, not low" in (run / "report.html").read_text()


def test_more_than_20_labels_have_one_model_each(learned):
    rng = np.random.default_rng(0)
    y = np.arange(210) % 21
    table = pd.DataFrame(
        {"a": y + 0.1 * rng.normal(size=210), "b": rng.normal(size=210), "y": [f"k{i:02}" for i in y]}
    )
    run, found = learned(table, "--learner", "adagrad")
    assert read_model(Folder(run)).names() == tuple(f"k{i:02}" for i in range(21))
    expected = RobustClassifier(learner="adagrad").partial_fit(
        table[["a", "b"]].to_numpy(), table.y.to_numpy(), np.unique(table.y)
    )
    assert found.prediction.tolist() == expected.predict(table[["a", "b"]].to_numpy()).tolist()


@pytest.mark.slow
def test_compiled_games_have_the_same_bits(table):
    target = Target("y", tuple(np.unique(NAMES)))
    y = np.searchsorted(target.labels, table.y).astype(float)
    rows, keys = DenseRows(table[COLUMNS].to_numpy()), np.zeros(ROWS, int)
    player, found = Settings("y").player(False, Layout(tuple(map(Number, COLUMNS)))), []
    for compiled in (False, True):
        games = Games(player, 3, Logistic(), target.model_names())
        games.indices([""])
        played = [games.play(keys, i, rows, some, compiled) for i, some in enumerate(targets_of(target, y))]
        found.append((games.state(), [columns._asdict() for columns in played]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_equal(one, other)


def test_rows_that_were_skipped_by_some_pairs_can_be_released(table, learned, tmp_path):
    run, _ = learned(table, "--drop", "who")
    before = read_model(Folder(run)).parameters.weights
    assert called("audit", run, "--skipped", tmp_path / "quarantine.csv")[0] == 0
    status, said, errors = called("release", run, tmp_path / "quarantine.csv", "--json")
    assert status == 0, errors
    counts = json.loads(said)
    assert counts["others"] == 0 and counts["released"] == len(pd.read_csv(tmp_path / "quarantine.csv"))
    after = read_model(Folder(run)).parameters.weights
    assert (before != after).any(axis=1).all()
