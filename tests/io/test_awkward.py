"""Awkward tables: what must be said about each, and the error that the model must reach.

`tests/io/awkward/make.py` wrote them. Without the right reading the error would be about the baseline's.
"""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "awkward"
INDEX = "the column without a name: probably the index of a DataFrame: left out"
HOURS = "used as hour of the day and day of the week"
COUNTS = "id: only counts the rows: left out"
# By table: what is said, and the largest error over that of the baseline. Measured ones are at most half.
CASES = {
    "pandas_index": (INDEX, 0.07),
    "two_without_name": ("Unnamed: 2: probably the index of a DataFrame: left out", 0.07),
    "counter": (COUNTS, 0.07),
    "shuffled_counter": (COUNTS, 0.07),
    "epoch_seconds": (f"when: a time in seconds since 1970, {HOURS}", 0.14),
    "epoch_nanoseconds": (f"when: a time in nanoseconds since 1970, {HOURS}", 0.14),
    "iso_with_zone": (f"when: a date or time, {HOURS}", 0.14),
    "day_first": (f"when: a date, day/month/year, {HOURS}", 0.14),
    "month_first": (f"when: a date, month/day/year, {HOURS}", 0.14),
    "month_names": (f"when: a date in words, {HOURS}", 0.14),
    "clock": ("when: a time of the day, used as hour of the day", 0.12),
    "eight_digits": ("day: a date in eight digits, used as day of the week and season", 0.25),
    "unclear_dates": ("the order could also be dmy: say it with --dates", 0.08),
    "dollars": ("y; '$6,867.46' is read as 6,867.46", 0.21),
    "euros": ("'3.438,19 €' is read as 3,438.19: the unit € and points between thousands and a deci", 0.21),
    "thousands": ("'3,438' is read as 3,438: commas between thousands", 0.2),
    "units": ("share: '2.4 %' is read as 2.4: the unit %", 0.07),
    "another_unit": ("distance: '0.49 km' is read as 0.49: the unit km", 0.07),
    "dashes": ("rows with a missing cell: 25 % of the first 400: filled in", 0.62),
    "plus_and_minus": ("labels +, -", 0.15),
    "blanks_after_commas": ("color: 3 values: a feature each", 0.08),
    "parentheses": ("profit: '(1,067.76)' is read as -1,067.76: commas", 0.07),
    "words_between": ("b: 88 % of the cells are numbers, others are not, such as 'unknown'", 0.07),
    "two_units": ("distance: numbers with different units, such as 'km' and 'm': left out", 0.07),
    "zeros_before": ("zip: begins with zeros, as in '00501': probably a code, use --category zip", 0.07),
    "upper_and_lower": (
        "labels that differ only in case or blanks are different classes: 'HIGH' and 'High'; 'LOW' and 'low'",
        0.5,
    ),
    "wild_cells": ("skipped 23 (15 for a feature, 8 with a missing or unreadable value)", 0.08),
}


def learned(learn, name, *args, to="run"):
    """What was said, and the error over that of the baseline."""
    run, status, said = learn(FOLDER / f"{name}.csv", "--target", "y", *args, to=to)
    assert status == 0, said
    metrics = json.loads((run / "metrics.json").read_text())
    return said, metrics["error"] / metrics["baseline"]


@pytest.mark.parametrize("name", CASES)
def test_an_awkward_table_is_read_as_a_person_would(name, learn):
    words, most = CASES[name]
    said, error = learned(learn, name)
    assert words in said
    assert error < most


def test_a_code_is_named_and_as_a_category_it_is_learned(learn):
    said, error = learned(learn, "code")
    assert "weather_id: predicts better as a category: probably a code, use --category weather_id" in said
    assert error > 0.8
    _, error = learned(learn, "code", "--category", "weather_id", to="again")
    assert error < 0.12


def test_a_column_without_a_name_can_be_dropped_and_kept(learn):
    said, _ = learned(learn, "pandas_index", "--drop", '""')
    assert INDEX not in said
    said, _ = learned(learn, "pandas_index", "--features", '"",a', to="kept")
    assert "2 features" in said


def test_the_order_of_a_date_can_be_said(learn):
    said, _ = learned(learn, "unclear_dates", "--dates", "dmy")
    assert "day: a date, day/month/year" in said and "could also" not in said


def test_every_table_of_the_folder_has_a_test():
    assert {path.stem for path in FOLDER.glob("*.csv")} == {*CASES, "code"}
