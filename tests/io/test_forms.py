"""Numbers with a currency, a unit or marks between thousands."""

import json
import math

import pytest

from holdfast.io.columns import Layout, Number, read_layout
from holdfast.io.forms import Form, form_of


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["$5,000", "$12,500.50", "-$3"], [5000.0, 12500.5, -3.0]),
        (["1.234,56 €", "7 €", "12.345.678 €"], [1234.56, 7.0, 12345678.0]),
        (["12 %", "3.5%", "-"], [12.0, 3.5, math.nan]),
        (["3 km", "0.5 km", "4"], [3.0, 0.5, 4.0]),
        (["1 234", "12\u00a0345,5", "7"], [1234.0, 12345.5, 7.0]),
        (["1'234.5", "999"], [1234.5, 999.0]),
        (["1,234", "950", "2,000"], [1234.0, 950.0, 2000.0]),
        (["1,5", "2,25", "1,234"], [1.5, 2.25, 1.234]),
        (["USD 5", "USD 7.5"], [5.0, 7.5]),
        (["($1,250.00)", "(3)", "$4"], [-1250.0, -3.0, 4.0]),
        (["\u2212 3 °C", "4.5 °C"], [-3.0, 4.5]),
    ],
)
def test_the_form_that_reads_most_cells_is_found(cells, values):
    form = form_of(cells)
    assert [form.read(cell) for cell in cells] == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize(
    "cells",
    [
        ["A12", "A13"],  # codes
        ["3/12/2016", "4/12/2016"],
        ["2016-01-02", "2016-01-03"],
        ["08:15", "09:00"],
        ["3 km", "500 m", "20 cm"],  # units that cannot be compared
        ["192.168.0.1", "10.0.0.1"],
        ["-", "?"],
    ],
)
def test_what_is_no_number_has_no_form(cells):
    assert form_of(cells) is None


def test_another_unit_is_no_number_of_the_column():
    assert Form("km").read("500 m") is None
    assert Form("km").read("500") == 500.0


def test_a_layout_with_a_form_is_the_same_after_json():
    layout = Layout((Number("price", 0.5, form=Form("€", ",", ".")),))
    assert read_layout(json.loads(json.dumps(layout.to_json()))) == layout
    broken = json.loads(json.dumps(layout.to_json()))
    broken[0]["form"] = ["€", ";", "."]
    with pytest.raises(ValueError, match="form of a number"):
        read_layout(broken)
