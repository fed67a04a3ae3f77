"""Sparse rows: as dense ones where the learner sees all cells, else centred without storing the zeros."""

import numpy as np
import scipy.sparse as sp

MOST_DENSE = 1_000  # columns: the default learner takes O(columns) for a row, so with more it is another
_FIRST = 1000  # rows, from which usual values are taken


def usual_values(X):
    """The value around which each column lies: its median in the first rows, for most columns 0.

    A column with another median is stored in most rows. So there are few of them, and to subtract their
    medians costs O(nonzeros).
    """
    first = sp.csc_array(X[:_FIRST])
    usual, half = np.zeros(X.shape[1]), 0.5 * first.shape[0]
    for column in np.flatnonzero(np.diff(first.indptr) > half):
        values = first.data[first.indptr[column] : first.indptr[column + 1]]
        values = np.concatenate([values[np.isfinite(values)], np.zeros(first.shape[0] - len(values))])
        usual[column] = np.sort(values)[(len(values) - 1) // 2] if len(values) else 0.0
    return usual


def centred(X, usual):
    """Sparse rows without their usual values: a cell that is not stored is then minus that value."""
    columns = np.flatnonzero(usual)
    if len(columns) == 0:
        return X
    count = X.shape[0]
    stored = (np.tile(usual[columns], count), np.tile(columns, count), len(columns) * np.arange(count + 1))
    return sp.csr_array(X - sp.csr_array(stored, X.shape))
