"""Rows as they are: a missing, wild or wrong cell does not count, the others do, and the note says which."""

import csv
import io

import numpy as np
import pytest
from runs.small import called

from holdfast.river import RobustClassifier as RiverClassifier
from holdfast.river import RobustRegressor as RiverRegressor
from holdfast.sklearn import RobustClassifier, RobustRegressor


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    a, b = rng.normal(size=500), rng.normal(5.0, 1.0, 500)
    return a, b, 10.0 * a + b


@pytest.fixture(scope="module")
def run(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    lines = (f"{a:.4f},{b:.4f},{y:.4f}\n" for a, b, y in zip(*rows, strict=True))
    (folder / "rows.csv").write_text("a,b,y\n" + "".join(lines))
    assert called("learn", folder / "rows.csv", "--target", "y", "--to", folder / "run")[0] == 0
    return folder


@pytest.mark.parametrize(
    ("cell", "note"),
    [
        ("", "b is missing"),
        ("-", "b is missing"),
        ("5000", "b = 5,000 left out: too far from the rows learned from"),
        ("oops", "column 'b': 'oops' is not a number"),
    ],
)
def test_the_other_cells_still_count_and_the_row_has_no_interval(run, cell, note):
    (run / "new.csv").write_text(f"a,b\n2,5\n2,{cell}\n-2,{cell}\n")
    status, out, _ = called("predict", run / "run", run / "new.csv")
    assert status == 0
    right, up, down = csv.DictReader(io.StringIO(out))
    assert (right["note"], up["note"], down["note"]) == ("", note, note)
    assert float(right["low"]) < 25.0 < float(right["high"])
    assert float(up["prediction"]) == pytest.approx(25.0, abs=0.3) and up["low"] == up["high"] == ""
    assert float(down["prediction"]) == pytest.approx(-15.0, abs=0.3)


def test_every_cell_that_cannot_be_read_is_named(run):
    (run / "new.csv").write_text("a,b\noops,x\n")
    (row,) = csv.DictReader(io.StringIO(called("predict", run / "run", run / "new.csv")[1]))
    assert row["note"] == "column 'a': 'oops' is not a number; column 'b': 'x' is not a number"
    (run / "new.jsonl").write_text('{"a": "oops", "b": "x"}\n')
    (row,) = csv.DictReader(io.StringIO(called("predict", run / "run", run / "new.jsonl")[1]))
    assert row["note"] == "column 'a': 'oops' is not a number; column 'b': 'x' is not a number"


def test_a_text_that_was_not_in_the_first_rows_is_named(tmp_path):
    rows = "".join(f"{i % 7},{'red' if i % 2 else 'blue'},{i % 7 + i % 2}.5\n" for i in range(300))
    (tmp_path / "rows.csv").write_text("a,color,y\n" + rows)
    (tmp_path / "new.csv").write_text("a,color\n3,red\n3,rde\n3,-\n")
    assert called("learn", tmp_path / "rows.csv", "--target", "y", "--to", tmp_path / "run")[0] == 0
    status, out, _ = called("predict", tmp_path / "run", tmp_path / "new.csv")
    known, unknown, missing = csv.DictReader(io.StringIO(out))
    assert status == 0 and known["note"] == missing["note"] == "" and known["low"]
    assert unknown["note"] == "column 'color': 'rde' is not a known value" and not unknown["low"]
    assert unknown["prediction"] == missing["prediction"]


def test_the_estimators_count_a_wild_cell_as_missing_and_name_it(rows):
    a, b, y = rows
    X = np.column_stack([a, b])
    model = RobustRegressor(random_state=0).fit(X, y)
    found = model.predict(np.array([[2.0, np.nan], [2.0, 5000.0], [2.0, -np.inf]]))
    assert found == pytest.approx(25.0, abs=0.3) and len(set(found)) == 1
    cells = model.unusual_cells(np.array([[2.0, 5.0], [2.0, 5000.0], [np.nan, 5.0]]))
    assert {name: column.tolist() for name, column in cells.items()} == {
        "row": [1],
        "column": ["x1"],
        "value": [5000.0],
    }


def test_river_counts_a_wild_cell_as_missing_and_names_it(rows):
    model = RiverRegressor()
    for a, b, y in zip(*rows, strict=True):
        model.learn_one({"a": a, "b": b}, y)
    found = [model.predict_one(x) for x in ({"a": 2.0}, {"a": 2.0, "b": 5000.0}, {"a": 2.0, "b": np.inf})]
    assert found == pytest.approx([25.0] * 3, abs=0.3) and len(set(found)) == 1
    assert model.unusual_cells({"a": 2.0, "b": 5000.0}) == {"b": 5000.0}
    assert RiverRegressor().unusual_cells({"a": 1.0}) == {}


def test_before_the_first_threshold_and_without_filters_no_cell_is_wild(rows):
    a, b, y = rows
    model = RobustRegressor(outliers="none", random_state=0).fit(np.column_stack([a, b]), y)
    assert len(model.unusual_cells(np.array([[2.0, 5000.0]]))["row"]) == 0


MISSING = np.array([[2.0, 5.0], [2.0, np.nan], [2.0, 5000.0]])


def test_intervals_and_sets_of_estimators_are_left_out_where_no_width_is_known(rows):
    a, b, y = rows
    X = np.column_stack([a, b])
    model = RobustRegressor(random_state=0).fit(X, y)
    ends = model.predict_interval(MISSING)
    assert np.isfinite(ends[0]).all() and (ends[1:] == [-np.inf, np.inf]).all()
    several = model.predict(MISSING, return_interval=True, coverage=[0.8, 0.9])[1]
    assert (several[:, :, 1] == ends).all() and np.isinf(several[1:]).all()
    labels = RobustClassifier(random_state=0).fit(X, y > 5.0)
    assert labels.predict_set(MISSING).sum(axis=1).tolist() == [1, 2, 2]
    river, river_labels = RiverRegressor(), RiverClassifier()
    for one, two, target in zip(a, b, y, strict=True):
        river.learn_one({"a": one, "b": two}, target)
        river_labels.learn_one({"a": one, "b": two}, bool(target > 5.0))
    for x in ({"a": 2.0}, {"a": 2.0, "b": None}, {"a": 2.0, "b": 5000.0}):
        assert river.predict_interval_one(x) == (-np.inf, np.inf)
        assert river_labels.predict_set_one(x) == {False, True}
    assert np.isfinite(river.predict_interval_one({"a": 2.0, "b": 5.0})).all()
    assert river_labels.predict_set_one({"a": 2.0, "b": 5.0}) == {True}


def test_intervals_know_of_cells_that_are_often_missing(rows):
    a, b, y = rows
    X = np.column_stack([a, np.where(np.arange(len(b)) % 20 == 3, np.nan, b)])
    model, river = RobustRegressor(random_state=0), RiverRegressor()
    for part in range(0, len(y), 100):
        model.partial_fit(X[part : part + 100], y[part : part + 100])
    for row, target in zip(X, y, strict=True):
        river.learn_one(dict(zip("ab", row, strict=True)), target)
    assert np.isfinite(model.predict_interval(MISSING[:2])).all()
    assert np.isfinite(river.predict_interval_one({"a": 2.0})).all()
    assert np.isinf(model.predict_interval([[np.nan, 5.0]])).all()
