"""Cells of every Arrow type as numbers, truth values, times and labels."""

import datetime
import decimal
import math

import numpy as np
import pyarrow as pa
import pytest

from holdfast.io.cells import MISSING, booleans, can_be_labels, label, labels, number, numbers, times

NAN = pytest.approx(math.nan, nan_ok=True)


def read(how, cells, kind=None):
    values, wrong = how(pa.array(cells, kind))
    return values.tolist(), wrong


@pytest.mark.parametrize(
    ("cells", "values", "wrong"),
    [
        ([1, None], [1.0, NAN], []),
        ([True, False], [1.0, 0.0], []),
        (["1", "1e3", None], [1.0, 1000.0, NAN], []),
        (["1", "inf", "?", "1_000", "x"], [1.0, math.inf, NAN, NAN, NAN], [3, 4]),
    ],
)
def test_numbers(cells, values, wrong):
    assert read(numbers, cells) == (values, wrong)


def test_decimals_and_dictionaries_are_numbers_too():
    assert read(numbers, [decimal.Decimal("1.5")]) == ([1.5], [])
    assert numbers(pa.array([2.0, 2.0]).dictionary_encode())[0].tolist() == [2.0, 2.0]


def test_truth_values():
    assert read(booleans, [" True", "false", None, "yes"]) == ([1.0, 0.0, NAN, NAN], [3])
    assert read(booleans, [True, None]) == ([1.0, NAN], [])


def test_times_of_every_unit_are_seconds():
    moment = datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC)
    for unit in ("s", "ms", "us", "ns"):
        assert read(times, [moment], pa.timestamp(unit)) == ([86400.0], [])
    assert read(times, [datetime.date(1970, 1, 2)]) == ([86400.0], [])
    assert read(times, ["1970-01-02"]) == ([86400.0], [])
    assert read(times, ["1970-01-02T01:00+01:00", "soon"]) == ([86400.0, NAN], [1])


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
def test_columns_of_many_types_are_labels(array, texts):
    assert labels(array).to_pylist() == texts


def test_lists_and_bytes_cannot_be_labels():
    assert not can_be_labels(pa.list_(pa.int64()))
    assert not can_be_labels(pa.binary())


@pytest.mark.parametrize("text", MISSING)
def test_a_text_that_means_a_missing_value_is_nan(text):
    assert np.isnan(number(text))
