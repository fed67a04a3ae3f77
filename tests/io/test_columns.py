"""Columns as features, and a layout that says the same after it was written down."""

import json

import numpy as np
import pyarrow as pa
import pytest

from holdfast.io.columns import Category, Hashed, Number, SparseColumns, Time
from holdfast.io.sources import Batch
from holdfast.io.tables import Layout, read_layout

COLUMNS = {
    "a": pa.array([1.0, None, 3.0, 4.0]),
    "ok": pa.array(["true", "false", None, "perhaps"]),
    "when": pa.array(["1970-01-01T06:00:00", "1970-01-01T00:00:00", None, "later"]),
    "color": pa.array(["red", "blue", "green", None]),
}
ALL = Layout((Number("a"), Number("ok", None, True), Time("when"), Category("color", ("blue", "red"))))


def features(column, array):
    """What a column makes of its cells, and the places at fault."""
    X = np.full((len(array), len(column.features())), -1.0)
    wrong, _ = column.write(array, X)
    return X.tolist(), wrong


def batch(columns, faults=None):
    count = len(next(iter(columns.values())))
    return Batch(columns, np.arange(1, count + 1), faults or {})


def test_a_missing_number_is_nan_or_filled_in_and_said_so():
    nan = pytest.approx(np.nan, nan_ok=True)
    assert features(Number("a"), COLUMNS["a"])[0] == [[1.0], [nan], [3.0], [4.0]]
    assert features(Number("a", 2.5), COLUMNS["a"])[0] == [[1.0, 0.0], [2.5, 1.0], [3.0, 0.0], [4.0, 0.0]]
    assert Number("a", 2.5).features() == ["a", "a is missing"]


def test_times_are_points_on_circles():
    X, wrong = features(Time("when", fill=True), COLUMNS["when"])
    week = 2.0 * np.pi * 0.25 / 7.0
    assert X[0] == pytest.approx([1.0, 0.0, np.sin(week), np.cos(week)])
    assert X[1] == [0.0, 1.0, 0.0, 1.0]
    assert X[2] == [0.0] * 4 and wrong == [3]


def test_a_category_that_is_missing_or_new_is_all_zeros():
    assert features(Category("color", ("blue", "red")), COLUMNS["color"])[0] == [
        [0, 1],
        [1, 0],
        [0, 0],
        [0, 0],
    ]


def test_hashed_values_have_the_same_group_in_every_batch():
    column = Hashed("color", 8)
    one, other = (np.array(features(column, array)[0]) for array in (COLUMNS["color"], COLUMNS["color"][1:]))
    assert np.array_equal(one[1:], other)
    assert one.sum(axis=1).tolist() == [1.0, 1.0, 1.0, 0.0]


def test_rows_at_fault_are_nan_and_the_first_cell_that_is_wrong_is_named():
    rows, faults = ALL.rows(batch(COLUMNS, {0: "2 cells"}), 0, 4)
    assert faults[0] == "2 cells"
    assert faults[3] == "column 'when': 'later' is not a time"
    assert np.isnan(rows.X[[0, 3]]).all()
    assert rows.missing().tolist() == [True, True, True, True]


def test_part_of_a_batch_is_numbered_from_its_beginning():
    _, faults = ALL.rows(batch(COLUMNS, {2: "2 cells"}), 2, 3)
    assert faults == {0: "2 cells"}


def test_features_are_counted_from_left_to_right():
    assert ALL.features() == ["a", "ok", *Time("when").features(), "color = blue", "color = red"]
    assert ALL.breadth() == 8 and not ALL.is_sparse()


def test_of_an_index_that_is_there_twice_the_last_value_counts_and_large_ones_are_left_out():
    maps = pa.array(
        [[(1, 5.0), (0, 2.0), (1, 7.0)], [], [(9, 1.0), (2, 3.0)]], pa.map_(pa.int64(), pa.float64())
    )
    rows = SparseColumns("features", 3).rows(maps)
    assert (rows.values.tolist(), rows.places.tolist()) == ([2.0, 7.0, 3.0], [0, 1, 2])
    assert rows.starts.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize(
    "layout",
    [ALL, Layout((Hashed("id", 64), Number("b", 0.5))), Layout((SparseColumns("features", 9),))],
    ids=repr,
)
def test_a_layout_is_the_same_after_json(layout):
    assert read_layout(json.loads(json.dumps(layout.to_json()))) == layout
