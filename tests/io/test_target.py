"""The column to predict: guessed, read, and refused in words."""

import numpy as np
import pyarrow as pa
import pytest

from holdfast.io.sources import Batch, SourceError
from holdfast.io.tables import Head, Target, guess_target, read_target


def guessed(cells, task="auto", labels=()):
    array = pa.array(cells)
    return guess_target(Head({"y": array}, len(array), {}), "y", task, labels, "rows.csv")


def read(target, cells):
    return target.read(Batch({"y": pa.array(cells)}, np.arange(1, len(cells) + 1), {}), 0, len(cells))


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        ([1.5, 2.5, 3.5], ()),
        ([0.5, 1.5], ("0.5", "1.5")),
        (list(range(11)), ()),
        ([10, 2, 1], ("1", "2", "10")),
        (["b", "a"], ("a", "b")),
        ([True, False], ("false", "true")),
    ],
)
def test_few_whole_numbers_and_words_are_labels_in_order(cells, labels):
    target, said = guessed(cells)
    assert target == Target("y", labels)
    assert said.startswith("task: classification of y" if labels else "task: regression of y")


def test_what_one_says_is_not_guessed():
    assert guessed([0, 1], task="regression")[0].regression
    assert guessed(["a"], labels=("a", "1.0"))[0].labels == ("a", "1.0")


@pytest.mark.parametrize(
    ("cells", "task", "words"),
    [
        ([None], "auto", "no row has a target"),
        (["2026-01-01"], "auto", "time cannot be a target"),
        (["a", "b"], "regression", "use --task classification"),
        (["a", "a"], "auto", "only the label 'a' in the first 2 rows"),
        ([f"{i}th" for i in range(101)], "auto", "101 different labels"),
    ],
)
def test_what_cannot_be_a_target_is_a_sentence(cells, task, words):
    with pytest.raises(SourceError, match=r"rows\.csv, column 'y': ") as caught:
        guessed(cells, task)
    assert words in str(caught.value)


def test_of_two_labels_only_the_second_has_a_game():
    assert Target("y", ("no", "yes")).games() == ("yes",)
    assert Target("y", ("a", "b", "c")).games() == ("a", "b", "c")
    assert Target("y", ()).games() == ()


def test_a_label_is_read_as_it_is_written_and_an_unknown_one_is_a_fault():
    y, faults = read(Target("y", ("1", "2")), ["1", "2", None, "1.0"])
    assert y[:2].tolist() == [0.0, 1.0] and np.isnan(y[2:]).all()
    assert faults == {3: "column 'y': '1.0' is none of the labels"}


def test_a_number_that_is_none_is_a_fault():
    y, faults = read(Target("y", ()), ["1.5", "x"])
    assert y[0] == 1.5 and faults == {1: "column 'y': 'x' is not a number"}


def test_a_target_is_the_same_after_json():
    target = Target("y", ("a", "b"))
    assert read_target(target.to_json()) == target
