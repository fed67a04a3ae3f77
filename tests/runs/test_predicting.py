"""What predict says beside the prediction: intervals, probabilities, outliers and their columns."""

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from runs.small import called, learned, rewrite, write_source
from runs.test_model import model

from holdfast.io.rows import DenseRows, SparseRows
from holdfast.linear_model import empty_models
from holdfast.runs.folder import Folder
from holdfast.runs.model import RowMeasure, read_model
from holdfast.runs.predicting import interval, isotonic, label_sets, outliers, probability, width_for


def test_an_interval_has_the_width_of_its_share():
    found = model()._replace(widths=np.array([(0.5, 1.0), (0.9, 2.0), (0.99, 8.0)]))
    for share, width in ((0.5, 1.0), (0.9, 2.0), (0.99, 8.0)):
        assert [ends.tolist() for ends in interval(found, np.array([5.0]), share)] == [
            [5.0 - width],
            [5.0 + width],
        ]
    assert 2.0 < width_for(found, 0.95) < 8.0


def test_without_a_width_there_is_no_interval_and_without_recent_rounds_no_probability():
    early = model()._replace(widths=np.array([(0.5, np.inf), (0.9, np.inf)]))
    for each in (model(), early):
        assert np.isnan(interval(each, np.zeros(1), 0.9)).all()
    assert np.isnan(probability(model(("no", "yes")), np.ones((1, 1)))).all()
    assert label_sets(model(("no", "yes")), np.ones((1, 1)), 0.9).tolist() == [None]


def test_the_set_of_labels_has_the_predicted_one_and_those_with_a_margin_that_is_large_enough():
    widths = np.array([(0.5, 1.0), (0.9, np.e**2)])
    two = model(("no", 'y"s'))._replace(widths=widths)
    rows = np.array([[-3.0], [-1.0], [1.0], [3.0], [np.nan]])
    both = '["no", "y\\"s"]'
    assert label_sets(two, rows, 0.9).tolist() == ['["no"]', both, both, '["y\\"s"]', None]
    assert label_sets(two, rows, 0.5).tolist()[1] == '["no"]'
    three = model(("x", "y", "z"))._replace(widths=widths)
    rows = np.array([[-5.0, -4.0, -9.0], [3.0, -1.9, -2.1]])
    assert label_sets(three, rows, 0.9).tolist() == ['["y"]', '["x", "y"]']
    assert label_sets(three, rows[:0], 0.9).tolist() == []


def test_the_steps_of_a_probability_are_those_of_isotonic_regression():
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(1)
    x = rng.normal(size=500).round(1)
    hits = (rng.random(500) < 1.0 / (1.0 + np.exp(-2.0 * x))).astype(float)
    starts, shares = isotonic(x, hits)
    slow = IsotonicRegression().fit(x, hits).predict(x)
    places = np.searchsorted(starts, x, side="right") - 1
    counts = np.bincount(places)
    assert np.allclose((shares * (counts + 1.0) - 0.5)[places] / counts[places], slow)
    assert (np.diff(shares) > -0.5 / counts.min()).all() and shares.min() > 0.0 and shares.max() < 1.0


def test_a_probability_is_that_of_the_predicted_label():
    scores = np.linspace(-1.0, 1.0, 100)
    two = model(("no", "yes"))._replace(recent=np.column_stack([scores, scores > 0.0]))
    found = probability(two, np.array([[-0.5], [0.5], [np.nan]]))
    assert (found[:2] > 0.9).all() and np.isnan(found[2])
    three = model(("x", "y", "z"))._replace(recent=np.column_stack([np.abs(scores), np.abs(scores) > 0.5]))
    close, clear = probability(three, np.array([[1.0, 0.9, 0.0], [2.0, 0.0, 0.0]]))
    assert close < 0.5 < clear


@pytest.mark.parametrize("more", [(), ("--learner", "adagrad"), ("--no-scale",), ("--key", "who")])
def test_a_row_is_measured_as_the_run_would_measure_it_next(tmp_path, more):
    """The size of the row after the last one, and the threshold before it, come from a run that sees it."""
    whole = write_source(tmp_path / "whole.csv", 131)
    part = tmp_path / "part.csv"
    part.write_text("".join(whole.read_text().splitlines(keepends=True)[:131]))
    args = ["--target", "y", *(() if "--key" in more else ("--drop", "who")), "--quiet", *more]
    for source in (part, whole):
        assert called("learn", source, "--to", source.with_suffix(".run"), *args)[0] == 0
    sizes = pq.read_table(tmp_path / "whole.run" / "sizes")
    expected = sizes.column("features")[130].as_py()
    found = read_model(Folder(tmp_path / "part.run"))
    last = pacsv.read_csv(whole).slice(130)
    row = DenseRows(np.array([[last["a"][0].as_py(), last["b"][0].as_py()]]))
    places = np.array([found.keys.index(last["who"][0].as_py()) if found.key else 0])
    for limit, wrong in ((expected * 1.0001, 0.0), (expected * 0.9999, 1.0)):
        bounded = found._replace(threshold=np.full(len(found.keys) or 1, limit))
        assert outliers(bounded, row, places)[0].tolist() == [wrong]
    audit = pq.read_table(tmp_path / "part.run" / "sizes")
    assert audit.num_rows == 130 and (found.threshold > 0.0).all()


def test_the_farthest_cell_of_sparse_rows_is_that_of_the_same_dense_rows():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((50, 6)) < 0.4, rng.normal(size=(50, 6)), 0.0)
    X[7] = 0.0
    p = empty_models(1, 6)._replace(factors=rng.random((1, 6)) + 0.5)
    filled = X != 0.0
    starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    sparse = SparseRows(X[filled], np.nonzero(filled)[1], starts, 6)
    one, other = (rows.farthest(p, np.zeros(1, int), 1.5) for rows in (DenseRows(X), sparse))
    assert np.allclose(one[2], other[2]) and np.allclose(one[3], other[3])
    clear = one[2] < 1.5
    clear[7] = False
    assert np.array_equal(one[0][clear], other[0][clear]) and np.array_equal(one[1][clear], other[1][clear])


def test_outliers_have_the_farthest_column_and_unknown_rows_are_neither():
    rows = DenseRows(np.array([[1.0, 0.0], [0.0, 99.0], [np.nan, 99.0], [np.inf, 0.0]]))
    found = model()._replace(threshold=np.array([5.0]), measure=RowMeasure(True, None))
    wrong, columns, values = outliers(found, rows, np.zeros(4, int))
    assert wrong.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert (columns[1], values[1], columns[3]) == (1, 99.0, 0)
    assert np.isnan(outliers(model(), rows, np.zeros(4, int))[0]).all()
    assert np.isnan(outliers(found._replace(threshold=np.zeros(1)), rows, np.zeros(4, int))[0][:3]).all()


def test_a_model_without_recent_results_still_predicts(tmp_path):
    run = learned(write_source(tmp_path / "rows.csv"), tmp_path / "run", "--learner", "adagrad")
    old = read_model(Folder(run))._replace(recent=None, threshold=None, widths=None)
    before = called("predict", run, tmp_path / "rows.csv")[1].splitlines()
    rewrite(run, "model.safetensors", old.to_bytes())
    status, out, _ = called("predict", run, tmp_path / "rows.csv")
    assert status == 0
    assert [line.split(",")[:2] for line in out.splitlines()] == [line.split(",")[:2] for line in before]
    assert out.splitlines()[1].endswith(",,,,,")


def test_a_threshold_of_another_shape_is_refused(tmp_path):
    run = learned(write_source(tmp_path / "rows.csv"), tmp_path / "run", "--learner", "adagrad")
    found = read_model(Folder(run))
    for wrong in ({"threshold": np.zeros(2)}, {"recent": np.zeros((4, 3))}, {"recent": np.zeros(2)}):
        rewrite(run, "model.safetensors", found._replace(**wrong).to_bytes())
        status, _, said = called("predict", run, tmp_path / "rows.csv")
        assert status == 2 and "is damaged" in said
