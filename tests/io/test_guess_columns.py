"""Which features are guessed from the first rows, and what is said about them."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from holdfast.io.columns import Category, Hashed, Number, SparseColumns, Time
from holdfast.io.guess_columns import guess_layout
from holdfast.io.head import Head
from holdfast.io.rows import Batch

DAYS = [str(datetime.date(2026, 1, 1) + datetime.timedelta(days=i)) for i in range(100)]
MANY = [f"word {i % 40}" for i in range(100)]


def guessed(missing="auto", **columns):
    columns = {name: pa.array(values) for name, values in columns.items()}
    count = len(next(iter(columns.values())))
    head = Head.of([Batch(columns, np.arange(1, count + 1), {})])
    layout, said = guess_layout(head, list(columns), missing)
    return layout.columns, said


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2, None], "number"),
        (["1", "2.5", "1e3"], "number"),
        (["1"] * 19 + ["x"], "number"),
        (["1"] * 8 + ["x", "y"], "text"),
        ([True, None], "truth"),
        (["true", "False"], "truth"),
        (["2026-01-01", "2026-01-02T03:04:05"], "time"),
        ([datetime.date(2026, 1, 1)], "time"),
        ([None, None], "empty"),
        ([[1, 2]], "other"),
        (["a", "b"], "text"),
    ],
)
def test_the_kind_of_a_column_is_guessed_from_its_cells(cells, kind):
    assert Head({"a": pa.array(cells)}, len(cells), {}).kind("a") == kind


def test_each_kind_of_column_has_its_encoding():
    columns, said = guessed(
        number=[1.5] * 100,
        truth=[True] * 100,
        day=DAYS,
        few=["red", "green"] * 50,
        many=MANY,
        unique=[f"{i:x}: {i}" for i in range(100)],
        nothing=[None] * 100,
    )
    assert columns == (
        Number("number"),
        Number("truth", None, True),
        Time("day", day=0, week=3),
        Category("few", ("green", "red")),
        Hashed("many", 64),
    )
    assert said == [
        "day: a date or time, used as day of the week",
        "few: 2 values: a feature each",
        "many: 40 values in the first rows: hashed into 64 features",
        "unique: text that is different in most rows: left out",
        "nothing: empty in the first rows: left out",
    ]


@pytest.mark.parametrize(
    ("lost", "missing", "filled"), [(5, "auto", 0), (20, "auto", 1), (5, "impute", 1), (20, "skip", 0)]
)
def test_missing_cells_are_filled_in_if_there_are_many_or_if_the_user_says_so(lost, missing, filled):
    columns, said = guessed(missing, a=[None] * lost + [3.0] * (100 - lost), day=DAYS)
    time = Time("day", day=0, week=3)
    assert columns == ((Number("a", 3.0), time._replace(fill=True)) if filled else (Number("a"), time))
    assert said[-1].startswith(f"rows with a missing cell: {lost} % of the first 100: ")
    assert ("filled in" in said[-1]) == bool(filled)


def test_rows_of_maps_are_sparse():
    head = Head({"features": pa.array([[(7, 1.0)], []], pa.map_(pa.int64(), pa.float64()))}, 2, {})
    layout, said = guess_layout(head, ["features"], "auto")
    assert layout.columns == (SparseColumns("features", 8),)
    assert said == ["8 columns: rows are sparse, and features not centred"]


def test_batches_of_different_types_are_joined_as_text():
    batches = [Batch({"a": pa.array(cells)}, np.arange(1, 3), {1: "fault"}) for cells in ([1, 2], ["x", "y"])]
    head = Head.of(batches)
    assert head.columns["a"].to_pylist() == ["1", "2", "x", "y"]
    assert (head.rows, head.faults) == (4, {1: "fault", 3: "fault"})
