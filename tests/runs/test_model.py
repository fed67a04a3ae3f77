"""The model of a run: its predictions, and its file, also when damaged."""

import numpy as np
import pytest

from holdfast.io.columns import Layout, Number, Target
from holdfast.io.rows import DenseRows
from holdfast.linear_model import LinearModels
from holdfast.runs.files import RunError
from holdfast.runs.folder import Folder
from holdfast.runs.model import FILE, Model, read_model

LAYOUT = Layout((Number("a"), Number("b")))
ROWS = DenseRows(np.array([[1.0, 2.0], [3.0, np.nan], [10.0, 0.0]]))


def model(labels=(), keys=(), games=1):
    parameters = {
        "center": np.zeros((games, 2)),
        "factors": np.ones((games, 2)),
        "weights": np.outer(1.0 + np.arange(games), [1.0, -1.0]),
        "knee": np.full(games, np.inf),
        "wild": np.full(games, np.inf),
        "clip": np.full(games, np.inf),
        "constant": np.full(games, 0.5),
        "y_center": np.zeros(games),
        "y_spread": np.full(games, 2.0),
        "low": np.full(games, -5.0),
        "high": np.full(games, 5.0),
    }
    return Model(LAYOUT, Target("y", labels), keys, "who" if keys else None, LinearModels(**parameters))


def test_numbers_are_clipped_and_a_missing_cell_counts_as_the_center():
    found = model().outcomes(ROWS, np.zeros(3, int))
    assert found[:, 0].tolist() == [-1.0, 5.0, 5.0]
    assert model().answers(found).tolist() == [-1.0, 5.0, 5.0]


def test_the_sign_decides_between_two_labels_and_the_largest_number_among_more():
    two = model(("no", "yes"))
    assert two.answers(two.outcomes(ROWS, np.zeros(3, int))).tolist() == ["no", "yes", "yes"]
    three = model(("x", "y", "z"), games=3)
    assert three.answers(three.outcomes(ROWS.part(0, 1), np.zeros(1, int))).tolist() == ["x"]


def test_a_key_has_its_own_parameters_and_an_unknown_key_gets_no_answer():
    found = model(keys=("p", "q"), games=2).outcomes(ROWS.part(0, 1), np.array([1]))
    assert found.tolist() == [[-3.0]]
    assert np.isnan(model(keys=("p", "q"), games=2).outcomes(ROWS.part(0, 1), np.array([-1]))).all()


def new_folder(path):
    folder = Folder(path)
    folder.create()
    folder.close()
    return folder


def test_a_model_is_the_same_after_it_was_written(tmp_path):
    one = model(("no", "yes"), ("p",))
    folder = new_folder(tmp_path)
    folder.write([(FILE, one.to_bytes())])
    again = read_model(folder)
    assert again[:4] == one[:4]
    assert all(map(np.array_equal, again.parameters, one.parameters))


def test_a_file_that_is_not_a_model_is_refused_in_a_sentence(tmp_path):
    folder, data = new_folder(tmp_path), model().to_bytes()
    with pytest.raises(RunError, match="is no run of holdfast, or has learned nothing yet"):
        read_model(folder)
    for damaged in (b"", data[:50], data[:-1], b"\xff" * 100):
        folder.write([(FILE, damaged)])
        with pytest.raises(RunError, match="is damaged"):
            read_model(folder)
    folder.write([(FILE, data.replace(b"holdfast model 4", b"holdfast model 9"))])
    with pytest.raises(RunError, match="this version of holdfast reads 'holdfast model 4'"):
        read_model(folder)
