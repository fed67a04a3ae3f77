"""Dense and sparse rows have methods with the same results."""

import numpy as np
import pytest

from holdfast.io.rows import DenseRows, SparseRows
from holdfast.linear_model import empty_models

X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, np.nan], [0.0, 0.0, 0.0], [np.inf, -1.0, 3.0]])


def sparse(X):
    """The same rows without their zeros."""
    rows, places = np.nonzero(X)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return SparseRows(X[rows, places], places, starts, X.shape[1])


def dense(rows):
    """All entries of dense or sparse rows."""
    if isinstance(rows, DenseRows):
        return rows.X
    found = np.zeros((len(rows), rows.dim))
    for i in range(len(rows)):
        part = slice(rows.starts[i], rows.starts[i + 1])
        found[i, rows.places[part]] = rows.values[part]
    return found


BOTH = pytest.mark.parametrize("rows", [DenseRows(X), sparse(X)], ids=["dense", "sparse"])


@BOTH
def test_a_part_holds_the_rows_between(rows):
    assert len(rows.part(1, 3)) == 2
    assert np.array_equal(dense(rows.part(1, 3)), X[1:3], equal_nan=True)


@BOTH
def test_some_rows_can_be_taken_in_any_order(rows):
    for chosen in ([3, 0, 1], [2], []):
        chosen = np.array(chosen, np.int64)
        assert np.array_equal(dense(rows.take(chosen)), X[chosen], equal_nan=True)


@BOTH
def test_rows_with_a_missing_cell_are_found_and_with_nan_makes_more_of_them(rows):
    assert rows.missing().tolist() == [False, True, False, False]
    more = rows.with_nan([0, 2])
    assert more.missing().tolist() == [True, True, True, False]
    assert np.array_equal(dense(more)[[1, 3]], X[[1, 3]], equal_nan=True)
    assert rows.missing().tolist() == [False, True, False, False]


@BOTH
def test_the_constant_comes_last(rows):
    wider = dense(rows.with_constant())
    assert np.array_equal(wider[:, :3], X, equal_nan=True) and (wider[:, 3] == 1.0).all()


@BOTH
@pytest.mark.parametrize("which", [[1], [0, 1, 1, 0]], ids=["one model", "a model for each row"])
def test_scores_are_weighted_sums_and_a_cell_that_is_not_finite_counts_as_the_center(rows, which):
    p = empty_models(2, 3)._replace(
        factors=np.array([[1.0, 1.0, 1.0], [2.0, 3.0, 4.0]]),
        weights=np.array([[1.0, 10.0, 100.0], [-1.0, -10.0, -100.0]]),
        knee=np.full(2, np.inf),
        clip=np.array([np.inf, 1.5]),
    )
    expected = [-15.0, -1.5, 0.0, -135.0] if which == [1] else [20.0, -1.5, 0.0, 290.0]
    assert rows.scores(p, np.array(which)).tolist() == expected


@BOTH
def test_cells_beyond_the_knee_count_with_their_logarithm(rows):
    ones = np.ones((1, 3))
    p = empty_models(1, 3)._replace(factors=ones, weights=ones, knee=np.array([1.0]), clip=np.array([1.6]))
    assert np.allclose(rows.scores(p, np.zeros(1, int)), [1.6, 1.0, 0.0, 0.6])
    p.clip[0] = 8.0
    assert np.allclose(rows.scores(p, np.zeros(1, int)), [1.0 + np.log(2.0), 1.0, 0.0, np.log(3.0)])
