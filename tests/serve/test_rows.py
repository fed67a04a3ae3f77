"""A row of JSON has the same features when it is predicted as when it is learned from, bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.io.cells import MISSING
from holdfast.io.columns import Category, Hashed, Layout, Number, Target, Time
from holdfast.io.forms import Form
from holdfast.io.sources import open_source, pieces
from holdfast.serve.log import RowLog
from holdfast.serve.rows import RowReader, target_text
from holdfast.serve.store import Queued
from holdfast.terminal import Refusal

LAYOUT = Layout(
    (
        Number("n"),
        Number("filled", middle=2.5),
        Number("truth", truth=True),
        Number("money", form=Form("$", ".", ",")),
        Category("colour", ("red", "blue", "7", "true")),
        Hashed("name", 8),
        Time("when"),
    )
)
TARGET = Target("y", ())
TEXTS = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**20), 10**20)
KNOWN = st.sampled_from(
    ["red", "7", "7.0", "true", "$1,200.50", "2026-01-31 12:00", '"', "a,b", "1e5", *MISSING]
)
CELLS = st.none() | st.booleans() | NUMBERS | TEXTS | KNOWN
ROWS = st.fixed_dictionaries({}, optional={column.name: CELLS for column in LAYOUT.columns})


@given(st.lists(ROWS.filter(bool), min_size=1, max_size=4))
def test_predict_and_the_log_have_the_same_bits(tmp_path_factory, rows):
    reader = RowReader(LAYOUT, 100, 1000)
    served = [reader.read(row) for row in rows]
    together, faults = reader.batch(served)
    path = tmp_path_factory.mktemp("log") / "rows.csv"
    logged = logged_rows(path, served)
    for i, row in enumerate(served):
        if row.plain:
            assert i not in faults
            assert row.x.tobytes() == together.X[i].tobytes()
        if np.isnan(logged.X[i]).all() and i in faults:  # it cannot be learned from
            continue
        assert together.X[i].tobytes() == logged.X[i].tobytes()


def logged_rows(path: Path, served):
    log = RowLog(path, LAYOUT, TARGET, None)
    log.recover(0)
    rows = [
        Queued(i, f"id {i}", 0.0, "", json.dumps(row.texts), '{"prediction": 1.0, "outlier": false}', "1.0")
        for i, row in enumerate(served, 1)
    ]
    log.append(rows)
    log.close()
    source = open_source(path)
    found = list(pieces(source, source.blocks(), LAYOUT, TARGET))
    source.close()
    assert sum(len(piece.rows) for piece in found) == len(served)
    return found[0].features


def test_an_ordinary_number_takes_the_short_way():
    reader = RowReader(Layout((Number("a"), Number("b", middle=1.0))), 10, 10)
    row = reader.read({"a": 0.1, "b": 3})
    assert (row.x.tolist(), row.plain, row.texts) == ([0.1, 3.0, 0.0], True, ["0.1", "3.0"])
    assert reader.read({"a": 0.1}).x.tolist() == [0.1, 1.0, 1.0]


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400, -(10**400)])
def test_numbers_that_float64_does_not_have_are_refused(value):
    for column in (Number("a"), Category("a", ("x", "y"))):
        with pytest.raises(Refusal, match="not finite"):
            RowReader(Layout((column,)), 10, 10).read({"a": value})


@pytest.mark.parametrize("value", ["", "NA", " ", "?", "-", "oops", float("inf"), "inf", "1e999"])
def test_a_target_must_be_a_number(value):
    with pytest.raises(Refusal):
        target_text(TARGET, value, 100)


def test_a_target_must_be_a_label():
    target = Target("y", ("no", "yes", "7", "true"))
    assert [target_text(target, value, 100) for value in ("yes", 7, 7.0, True)] == ["yes", "7", "7", "true"]
    with pytest.raises(Refusal, match="none of the labels"):
        target_text(target, "maybe", 100)
