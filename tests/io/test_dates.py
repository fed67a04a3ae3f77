"""Dates and times in all usual forms, and the order of day and month."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from holdfast.io.dates import EPOCHS, seconds, time_form

MOMENT = datetime.datetime(2016, 12, 3, 14, 5, tzinfo=datetime.UTC).timestamp()
DATE = datetime.datetime(2016, 12, 3, tzinfo=datetime.UTC).timestamp()


def read(cells, name="when", wanted="auto"):
    array = pa.array(cells)
    form, note = time_form(name, array, wanted)
    values, wrong = seconds(array, form)
    return form, values.tolist(), wrong, note


@pytest.mark.parametrize(
    ("cell", "other", "form", "value"),
    [
        ("2016-12-03T14:05:00", "2016-12-04", "iso", MOMENT),
        ("2016-12-03 14:05:00+00:00", "2016-12-04", "iso", MOMENT),
        ("3/12/2016 14:05", "25/12/2016", "dmy", MOMENT),
        ("12/3/2016 2:05 PM", "12/25/2016", "mdy", MOMENT),
        ("2016/12/03 14:05", "2016/12/25", "ymd", MOMENT),
        ("03.12.16", "25.12.16", "dmy", DATE),
        ("3 Dec 2016", "25 December 2016", "names", DATE),
        ("Dec 3, 2016 14:05", "Dec 4, 2016", "names", MOMENT),
        ("3-Dec-16", "4-Dec-16", "names", DATE),
        ("20161203", "20161204", "yyyymmdd", DATE),
        ("14:05", "08:00:30", "clock", 14 * 3600.0 + 300.0),
        ("2:05 pm", "8:00 am", "clock", 14 * 3600.0 + 300.0),
    ],
)
def test_the_form_is_found_from_the_file(cell, other, form, value):
    found, values, wrong, _ = read([cell, other, "-", None] + [other] * 10)
    assert (found, values[0], wrong) == (form, value, [])
    assert np.isnan(values[2:4]).all()


@pytest.mark.parametrize("unit", EPOCHS)
def test_numbers_that_rise_and_lie_after_1990_are_times_since_1970(unit):
    scale = EPOCHS[unit]
    form, values, _, _ = read([int(MOMENT * scale), int((MOMENT + 60) * scale)], name="x")
    assert (form, values) == (unit, pytest.approx([MOMENT, MOMENT + 60]))


def test_large_numbers_in_any_order_are_times_only_if_the_name_says_so():
    cells = [1_480_000_000, 1_470_000_000, 1_490_000_000]
    assert time_form("revenue", pa.array(cells)) is None
    assert time_form("created_at", pa.array(cells)) == ("seconds", "")


def test_the_order_that_rises_is_taken_and_otherwise_the_note_asks():
    assert read([f"{day}/1/2016" for day in range(1, 13)])[0] == "dmy"
    assert read([f"1/{day}/2016" for day in range(1, 13)])[0] == "mdy"
    assert read(["11/2/2016", "12/2/2016", "1/3/2016"])[::3] == ("dmy", "")
    monthly = [f"1/{month}/{year}" for year in (2016, 2017) for month in range(1, 13)]
    assert read(monthly)[::3] == ("dmy", "")
    mixed = ["3/12/2016", "1/2/2016", "5/4/2016"]
    form, _, _, note = read(mixed)
    assert form == "mdy" and "--dates" in note
    assert read(mixed, wanted="dmy")[0] == "dmy"
    assert read([text.replace("/", ".") for text in mixed])[0] == "dmy"


@pytest.mark.parametrize("cells", [["1.5", "2.5"], ["red", "blue"], ["2016", "2017"], ["3/45/2016"] * 3])
def test_other_columns_are_no_times(cells):
    assert time_form("x", pa.array(cells)) is None
