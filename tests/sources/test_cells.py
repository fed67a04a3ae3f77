"""Cells as numbers, truth values, times and labels, whatever a source holds them as."""

import datetime
import decimal
import math

import numpy as np
import pyarrow as pa
import pytest

from holdfast.sources.cells import MISSING, booleans, label, labels, number, numbers, times

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


def test_times_are_seconds_in_whatever_unit_they_come():
    moment = datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC)
    for unit in ("s", "ms", "us", "ns"):
        assert read(times, [moment], pa.timestamp(unit)) == ([86400.0], [])
    assert read(times, [datetime.date(1970, 1, 2)]) == ([86400.0], [])
    assert read(times, ["1970-01-02"]) == ([86400.0], [])
    assert read(times, ["1970-01-02T01:00+01:00", "soon"]) == ([86400.0, NAN], [1])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1.50", "1.5"),
        (True, "true"),
        (" FALSE ", "false"),
        ("a b ", "a b"),
        ("inf", "inf"),
    ],
)
def test_a_label_is_the_same_however_it_is_written(value, written):
    assert label(value) == written


def test_labels_of_all_types_are_text():
    assert labels(pa.array([1.0, None, 1.0])).to_pylist() == ["1", None, "1"]
    assert labels(pa.array([True, None])).to_pylist() == ["true", None]
    assert labels(pa.chunked_array([["x"], ["y "]])).to_pylist() == ["x", "y"]


@pytest.mark.parametrize("text", MISSING)
def test_what_stands_for_a_missing_cell_is_nan(text):
    assert np.isnan(number(text))
