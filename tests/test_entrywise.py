"""holdfast.entrywise: interpreted and compiled, the same bits."""

import numpy as np
import pytest

from holdfast._compiled import call
from holdfast.entrywise import padded, shrink_rows, sum_of_rows
from holdfast.vectors import Sparse


def products(matrix, x, dense):
    """All products with a row, and the matrix after `shrink_rows`."""
    total, inner = np.ones(matrix.shape[1]), np.ones(len(matrix))
    sum_of_rows(matrix, x, total)
    shrink_rows(matrix, dense, -0.1, inner)
    return total, inner, matrix


def check(matrix, x, dense):
    python = products(matrix.copy(), x, dense)
    compiled = call(products, matrix.copy(), x, dense)
    for ours, theirs in zip(python, compiled, strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()
    return python


@pytest.mark.parametrize("dim", [1, 2, 7, 8, 9, 20, 21, 64, 129, 300])
def test_compiled_products_have_the_same_bits(dim):
    rng = np.random.default_rng(dim)
    scales = 10.0 ** rng.integers(-9, 10, (dim, dim))
    matrix, x = rng.normal(size=(dim, dim)) * scales, rng.normal(size=dim)
    x[rng.random(dim) < 0.2] = 0.0
    total, inner, after = check(matrix, x, x.copy())
    np.testing.assert_allclose(total, matrix.T @ x, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(inner, matrix @ x, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(after, matrix - 0.1 * np.outer(inner, x), rtol=1e-9, atol=1e-6)


def test_a_sparse_row_takes_only_its_own_rows_of_the_matrix():
    matrix = np.random.default_rng(0).normal(size=(9, 9))
    row = Sparse(np.array([1, 7]), np.array([2.0, -3.0]), 9)
    total, *_ = check(matrix, row, np.ones(9))
    np.testing.assert_array_equal(total, 2.0 * matrix[1] - 3.0 * matrix[7])
    nothing = Sparse(np.zeros(0, int), np.zeros(0), 9)
    assert not check(matrix, nothing, np.ones(9))[0].any()


@pytest.mark.parametrize("count", [1, 8, 9, 24])
def test_padding_is_the_next_multiple_of_eight(count):
    assert padded(count) % 8 == 0
    assert 0 <= padded(count) - count < 8
