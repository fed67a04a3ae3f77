"""Keys and labels as text."""

import datetime
import decimal

import pyarrow as pa
import pytest

from holdfast.sources.cells import can_be_labels, label, labels


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (7.0, "7"),
        (-0.0, "0"),
        (decimal.Decimal("7.00"), "7"),
        (decimal.Decimal("-0.00"), "0"),
        (decimal.Decimal("0.10"), "0.1"),
        (decimal.Decimal("1E+3"), "1000"),
        (0.1, "0.1"),
        (1e22, "10000000000000000000000"),
        (1e-300, "1e-300"),
        (10**30 + 1, "1000000000000000000000000000001"),
        (float("inf"), "inf"),
        (float("nan"), None),
        (True, "true"),
    ],
)
def test_a_number_has_one_text(value, text):
    assert label(value) == text


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array(["007", " a", None, ""]), ["007", " a", None, ""]),
        (pa.array(["x"], pa.large_string()), ["x"]),
        (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
        (pa.array([1, None], pa.uint64()), ["1", None]),
        (pa.array([0.5, None, float("nan")], pa.float32()), ["0.5", None, None]),
        (pa.array([True, None]), ["true", None]),
        (pa.array([datetime.date(2026, 1, 2)]), ["2026-01-02"]),
        (pa.array([1], pa.timestamp("ns", "Europe/Paris")), ["1970-01-01 00:00:00.000000001"]),
        (pa.nulls(2), [None, None]),
    ],
)
def test_columns_of_all_types_have_texts(array, texts):
    assert labels(array).to_pylist() == texts


def test_lists_and_bytes_have_none():
    assert not can_be_labels(pa.list_(pa.int64()))
    assert not can_be_labels(pa.binary())
