"""Columns as features, the target column, and both of them after JSON."""

import json

import numpy as np
import pyarrow as pa
import pytest

from holdfast.io.columns import (
    Category,
    Hashed,
    Layout,
    Number,
    SparseColumns,
    Target,
    Time,
    read_layout,
    read_target,
)
from holdfast.io.rows import Batch

COLUMNS = {
    "a": pa.array([1.0, None, 3.0, 4.0]),
    "ok": pa.array(["true", "false", None, "perhaps"]),
    "when": pa.array(["1970-01-01T06:00:00", "1970-01-01T00:00:00", None, "later"]),
    "color": pa.array(["red", "blue", "green", None]),
}
ALL = Layout((Number("a"), Number("ok", None, True), Time("when"), Category("color", ("blue", "red"))))


def features(column, array):
    """The features of a column, and the positions of its wrong cells."""
    X = np.full((len(array), len(column.features())), -1.0)
    wrong, _ = column.write(array, X)
    return X.tolist(), wrong


def batch(columns, faults=None):
    count = len(next(iter(columns.values())))
    return Batch(columns, np.arange(1, count + 1), faults or {})


def test_a_missing_number_is_nan_or_filled_in_with_a_feature_that_says_so():
    nan = pytest.approx(np.nan, nan_ok=True)
    assert features(Number("a"), COLUMNS["a"])[0] == [[1.0], [nan], [3.0], [4.0]]
    assert features(Number("a", 2.5), COLUMNS["a"])[0] == [[1.0, 0.0], [2.5, 1.0], [3.0, 0.0], [4.0, 0.0]]
    assert Number("a", 2.5).features() == ["a", "a is missing"]


def test_times_are_points_on_circles():
    X, wrong = features(Time("when", day=2, week=1, fill=True), COLUMNS["when"])
    week = 2.0 * np.pi * 0.25 / 7.0
    assert X[0] == pytest.approx([1.0, 0.0, 0.0, -1.0, np.sin(week), np.cos(week)], abs=1e-12)
    assert X[1] == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    assert X[2] == [0.0] * 6 and wrong == [3]


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


def test_rows_with_a_fault_are_nan_and_the_fault_names_the_wrong_cells():
    rows, faults = ALL.rows(batch(COLUMNS, {0: "2 cells"}), 0, 4)
    assert faults[0] == "2 cells"
    assert faults[3] == "column 'ok': 'perhaps' is not true or false; column 'when': 'later' is not a time"
    assert np.isnan(rows.X[[0, 3]]).all()
    assert rows.missing().tolist() == [True, True, True, True]


def test_faults_are_counted_from_the_beginning_of_the_part():
    _, faults = ALL.rows(batch(COLUMNS, {2: "2 cells"}), 2, 3)
    assert faults == {0: "2 cells"}


def test_features_are_in_the_order_of_the_columns():
    assert ALL.features() == ["a", "ok", *Time("when").features(), "color = blue", "color = red"]
    assert ALL.feature_count() == 16 and not ALL.is_sparse()


def test_the_last_value_of_an_index_counts_and_indices_beyond_the_width_are_left_out():
    cells = [[(1, 5.0), (0, 2.0), (1, 7.0)], [], [(9, 1.0), (2, 3.0)]]
    maps = pa.array(cells, pa.map_(pa.int64(), pa.float64()))
    rows, _ = Layout((SparseColumns("features", 3),)).rows(batch({"features": maps}), 0, 3)
    assert (rows.values.tolist(), rows.places.tolist()) == ([2.0, 7.0, 3.0], [0, 1, 2])
    assert rows.starts.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize(
    "layout",
    [ALL, Layout((Hashed("id", 64), Number("b", 0.5))), Layout((SparseColumns("features", 9),))],
    ids=repr,
)
def test_a_layout_is_the_same_after_json(layout):
    assert read_layout(json.loads(json.dumps(layout.to_json()))) == layout


# -- the target


def read_all(target, cells):
    return target.read(batch({"y": pa.array(cells)}), 0, len(cells))


def test_two_labels_have_one_model_and_more_have_one_for_each_pair():
    assert Target("y", ("no", "yes")).model_names() == ("yes",)
    assert Target("y", ("a", "b", "c")).model_names() == ("b, not a", "c, not a", "c, not b")
    many = tuple(map(str, range(21)))
    assert Target("y", many).model_names() == many
    assert Target("y", ()).model_names() == ("",)


def test_labels_are_compared_as_text_and_an_unknown_one_is_a_fault():
    y, faults = read_all(Target("y", ("1", "2")), ["1", "2", None, "1.0"])
    assert y[:2].tolist() == [0.0, 1.0] and np.isnan(y[2:]).all()
    assert faults == {3: "column 'y': '1.0' is none of the labels"}


def test_a_text_instead_of_a_number_is_a_fault():
    y, faults = read_all(Target("y", ()), ["1.5", "x"])
    assert y[0] == 1.5 and faults == {1: "column 'y': 'x' is not a number"}


def test_a_target_is_the_same_after_json():
    target = Target("y", ("a", "b"))
    assert read_target(target.to_json()) == target
