"""Warnings that name the column, the class or the row; and none where all is well."""

import pytest

from holdfast.advice import SkipFigures, advice, main_cause

FINE = SkipFigures(
    1000, 100, {"a": 40, "b": 35, "c": 25}, {"x": (500, 50), "y": (500, 50)}, 990, 1000, 1.0, 2.0
)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"columns": {"weather_id": 98, "b": 2}}, "98 % of the 100 skipped rows are due to weather_id"),
        (
            {"classes": {"A": (900, 10), "B": (100, 30)}},
            "30 % of the rows of class B were skipped, and 1.1 % of the others",
        ),
        ({"last_kept": 880}, "every row after 880 was skipped (120 rows): the data may have changed"),
        (
            {"error": 236900.0, "baseline": 1200.5},
            "the model predicts worse than the baseline: error 236,900, baseline 1,200.5",
        ),
    ],
)
def test_one_sentence_says_what_is_wrong(change, sentence):
    assert advice(FINE) == []
    assert advice(FINE._replace(**change)) == [sentence]


@pytest.mark.parametrize(
    "change",
    [
        {"skipped": 19, "columns": {"a": 19}},
        {"skipped": 49, "columns": {"a": 49}},  # below a twentieth of the rows
        {"classes": {"A": (990, 0), "B": (10, 5)}},
        {"last_kept": 0},
        {"rows": 150, "skipped": 60, "error": 3.0, "columns": {}},
    ],
)
def test_few_rows_are_no_reason_to_warn(change):
    assert advice(FINE._replace(**change)) == []


def test_the_main_cause_is_the_column_of_most_skipped_rows():
    assert main_cause(FINE._replace(columns={"a": 60, "b": 40})) == "a"
    assert main_cause(FINE) is None
