"""The target that is guessed from the first rows, and the columns that cannot be a target."""

import pyarrow as pa
import pytest

from holdfast.io.byte_stream import SourceError
from holdfast.io.columns import Target
from holdfast.io.guess_target import guess_target
from holdfast.io.head import Head

MAPS = pa.array([[(1, 2.0)]], pa.map_(pa.int64(), pa.float64()))


def guessed(cells, task="auto", labels=()):
    array = pa.array(cells)
    return guess_target(Head({"y": array}, len(array), {}), "y", task, labels, "rows.csv")


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        ([1.5, 2.5, 3.5], ()),
        ([0.5, 1.5], ("0.5", "1.5")),
        (list(range(11)), ()),
        ([10, 2, 1], ("1", "2", "10")),
        (["b", "a"], ("a", "b")),
        (["none", "some", "n.a."], ("none", "some")),
        ([True, False], ("false", "true")),
    ],
)
def test_few_integers_and_texts_are_labels_in_order(cells, labels):
    target, said = guessed(cells)
    assert target == Target("y", labels)
    assert said.startswith("task: classification of y" if labels else "task: regression of y")


def test_what_the_user_names_is_not_guessed():
    assert guessed([0, 1], task="regression")[0].regression
    assert guessed(["a"], labels=("a", "1.0"))[0].labels == ("a", "1.0")


@pytest.mark.parametrize(
    ("cells", "task", "words"),
    [
        ([None], "auto", "no row has a target"),
        (["2026-01-01"], "auto", "time cannot be a target"),
        ([[1]], "auto", "list<item: int64> cannot be a target"),
        (MAPS, "auto", "map<int64, double> cannot be a target"),
        ([float("nan")], "classification", "no row has a label"),
        (["a", "b"], "regression", "use --task classification"),
        (["a", "a"], "auto", "only the label 'a' in the first 2 rows"),
        (
            [f"word {i}" for i in range(101)],
            "auto",
            "101 different texts, such as 'word 0'",
        ),
        ([f"word {i}" for i in range(101)], "classification", "name another with --target"),
        ([f"word {i}" for i in range(101)], "regression", "name another with --target"),
        (list(range(101)), "classification", "leave out --task classification"),
    ],
)
def test_a_column_that_cannot_be_a_target_is_refused_in_a_sentence(cells, task, words):
    with pytest.raises(SourceError, match=r"rows\.csv, column 'y': ") as caught:
        guessed(cells, task)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "value"), [(["$5,000", "$6,100.50", "900"], 5000.0), (["1.234,56 €", "2 €", "-"], 1234.56)]
)
def test_money_is_a_number_and_the_sentence_says_how_it_is_read(cells, value):
    target, said = guessed(cells, task="regression")
    assert target.form.read(cells[0]) == value
    assert f"'{cells[0]}' is read as {value:,.12g}" in said


SORTED = "the rows are sorted by it"


@pytest.mark.parametrize(
    ("cells", "is_said"),
    [
        ([0.5 * i for i in range(50)], True),
        ([0.5 * (i // 2) for i in range(50, 0, -1)], True),
        ([0.5 * i for i in range(15)] * 2, False),  # too few steps
        ([1.5, *(i + 0.5 * (i % 5) for i in range(60)), 0.5, 3.5, 2.5], False),
        ([0.5 * (7 * i % 50) for i in range(50)], False),
        (["a"] * 15 + ["b"] * 15, True),
        (["a", "b"] * 15, False),
        (["a"] * 5 + ["b"] * 5, False),
    ],
)
def test_a_table_that_is_sorted_by_its_target_is_named(cells, is_said):
    assert (SORTED in guessed(cells)[1]) == is_said


def test_a_dash_is_a_label_beside_a_plus_and_a_missing_target_elsewhere():
    assert guessed(["+", "-", "+"])[0].labels == ("+", "-")
    assert guessed(["yes", "-", "no"])[0].labels == ("no", "yes")


def test_maps_are_no_labels_either():
    with pytest.raises(SourceError, match="cannot be a target"):
        guessed(MAPS, labels=("a", "b"))
