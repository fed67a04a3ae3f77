"""Plots: where points are, in which colours, and that no value becomes markup."""

import re

import numpy as np
import pytest

from holdfast.pages.palette import DARK, LIGHT, NAMES, css
from holdfast.pages.svg import Plot


def test_equal_numbers_are_on_the_diagonal_of_a_plot_of_two_numbers():
    plot = Plot("Predicted against actual", 0, -5.0, 5.0, across="predicted")
    values = np.array([-5.0, 0.0, 5.0])
    x, y = plot.x(values), plot.y(values)
    assert x[1] == pytest.approx((x[0] + x[2]) / 2) and y[1] == pytest.approx((y[0] + y[2]) / 2)
    assert x[0] < x[2] and y[0] > y[2]
    plot.line(values, values, "blue", dashed=True)
    assert "stroke-dasharray" in plot.svg() and ">predicted<" in plot.svg()


def test_the_axis_of_the_rounds_has_the_first_the_middle_and_the_last():
    plot = Plot("Error", 1_001, 0.0, 1.0)
    assert all(f">{text}<" in plot.svg() for text in ("1", "501", "1,001", "round"))


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        (0, ("00:00:00", "00:00:01")),
        (120, ("00:00:00", "00:01:00", "00:02:00")),
        (7_200, ("00:00", "01:00", "02:00")),
        (172_800, ("1970-01-01 00:00", "1970-01-02 00:00", "1970-01-03 00:00")),
    ],
)
def test_an_axis_of_times_has_the_first_the_middle_and_the_last(seconds, texts):
    plot = Plot("Error", 0, 0.0, 1.0, times=(0.0, float(seconds)))
    assert all(f">{text}<" in plot.svg() for text in (*texts, "time (UTC)"))
    plot.line(np.array([0.0, seconds]), np.array([0.0, 1.0]), "blue")
    assert 'points="64.0,' in plot.svg()


def test_every_colour_has_a_value_for_light_and_dark_and_others_are_refused():
    assert set(LIGHT) == set(DARK) == set(NAMES)
    assert all(re.fullmatch("#[0-9A-Fa-f]{6}", value) for value in (*LIGHT.values(), *DARK.values()))
    assert css("blue") == "var(--blue)"
    with pytest.raises(ValueError, match="a colour is one of"):
        Plot("Error", 2, 0.0, 1.0).dots(np.ones(1), np.ones(1), "mauve")


def test_names_in_a_plot_are_text():
    plot = Plot("<b>", 10, 0.0, 1.0)
    plot.line(np.arange(1.0, 4.0), np.ones(3), "red", name="<script>")
    assert "<script>" not in plot.svg() and "<b>" not in plot.svg()
