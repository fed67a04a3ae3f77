"""Arrays, lists and data frames are converted to numbers; text is refused."""

import datetime

import numpy as np
import pandas as pd
import pytest

import holdfast as hf
from holdfast.adversaries.data import matrix, vector

X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    "values",
    [
        X,
        X.tolist(),
        np.asfortranarray(X),
        X.astype(int),
        X.astype(np.float32),
        X.astype(object),
        pd.DataFrame(X),
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(int)}),
        pd.DataFrame({"a": X[:, 0], "b": pd.array(X[:, 1].astype(int), dtype="Int64")}),
        pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(X[:, 1])}),
    ],
    ids=lambda v: type(v).__name__,
)
def test_numbers_are_read_from_every_container(values):
    assert np.array_equal(matrix(values, "X"), X)
    assert matrix(values, "X").flags.c_contiguous
    assert not matrix(values, "X").flags.writeable


def test_missing_values_become_nan():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([1, None], dtype="Int64"), "c": [None, True]})
    assert np.array_equal(matrix(frame, "X"), [[1, 1, np.nan], [2, np.nan, 1]], equal_nan=True)
    assert np.array_equal(vector([1, None], "y"), [1, np.nan], equal_nan=True)
    assert np.array_equal(vector(pd.Series([pd.NA, 2]), "y"), [np.nan, 2], equal_nan=True)


@pytest.mark.parametrize(
    "column",
    [
        ["x", "y"],
        ["1", "2"],
        pd.Categorical(["a", "b"]),
        [datetime.date(2026, 1, 1)] * 2,
        pd.to_datetime([0, 1]),
    ],
)
def test_the_error_names_a_column_without_numbers(column):
    with pytest.raises(TypeError, match="column 'bad' must hold numbers"):
        hf.Replay(pd.DataFrame({"good": [1.0, 2.0], "bad": column}), [1, -1], hf.Hinge())


@pytest.mark.parametrize(
    "values", [["a", "b"], [b"x"], np.array([1j]), np.array(["2026-01-01"], dtype="M8[D]")]
)
def test_text_complex_numbers_and_dates_are_refused(values):
    with pytest.raises(TypeError, match="y must hold numbers"):
        vector(values, "y")
