import numpy as np

from holdfast_lab.bench.streams import FIELDS, dense, sizes, sparse


def test_the_data_are_the_same_every_time():
    assert np.array_equal(sizes(100), sizes(100))
    assert all(np.array_equal(a, b) for a, b in zip(dense(50, 3, 0.1), dense(50, 3, 0.1), strict=True))
    (X, y), (Z, z) = sparse(50, 2**10, 0.1), sparse(50, 2**10, 0.1)
    assert (X != Z).nnz == 0 and np.array_equal(y, z)


def test_a_sparse_row_has_its_nonzeros_in_order_and_none_twice():
    X, y = sparse(200, 2**12)
    assert X.shape == (200, 2**12) and set(y) == {-1.0, 1.0}
    rows = X.indices.reshape(200, FIELDS)
    assert (np.diff(rows, axis=1) > 0).all() and (X.data != 0.0).all()


def test_frequency_falls_like_one_over_the_rank():
    X, _ = sparse(20_000, 2**12)
    counts = np.sort(np.bincount(X.indices % (2**12 // FIELDS)))[::-1]
    assert 1.6 < counts[0] / counts[1] < 2.4 and 6.0 < counts[0] / counts[9] < 14.0


def test_outliers_are_rare_and_huge():
    X, _ = dense(10_000, 5, share=0.01)
    assert 60 <= (np.linalg.norm(X, axis=1) > 100.0).sum() <= 140
