"""Missing cells, and the cell of a row that is farthest from the others of its column."""

import numpy as np
import scipy.sparse as sp

from holdfast.learners import Scaled
from holdfast.learners.missing_cells import missing_with
from holdfast.sklearn.parameters import with_fields


def with_missing(rule, share):
    """The rule, with this share of missing cells allowed in every `Scaled` inside it."""
    return with_fields(rule, Scaled, missing=missing_with(share))


def filled(X, center, share):
    """The rows with centers for missing cells, unless more than this share of a row is missing.

    In sparse rows the center is 0, and the share is one of the cells that are stored.
    """
    values = X.data if sp.issparse(X) else X
    missing = np.isnan(values)
    if share == 0.0 or not missing.any():
        return X
    if not sp.issparse(X):
        few = missing.sum(axis=1) <= share * X.shape[1]
        return np.where(missing & few[:, None], center, X)
    stored = np.diff(X.indptr)
    row_of = np.repeat(np.arange(X.shape[0]), stored)
    few = np.bincount(row_of[missing], minlength=X.shape[0]) <= share * stored
    X = X.copy()
    X.data[missing & few[row_of]] = 0.0
    return X


def empty_columns(X):
    """The columns without any value, of dense rows; none if all are."""
    if sp.issparse(X) or X.shape[0] == 0:
        return np.zeros(0, int)
    candidates = np.flatnonzero(np.isnan(X[0]))
    empty = candidates[np.isnan(X[:, candidates]).all(axis=0)]
    return empty if len(empty) < X.shape[1] else np.zeros(0, int)


@np.errstate(all="ignore")
def farthest_cells(X, rows, model, not_finite):
    """For each of these rows the column of its farthest cell, in units of the scale of its column.

    Infinite cells are farthest; in rows that are `not_finite` missing cells come next.
    """
    found = np.zeros(len(rows), int)
    for i, row in enumerate(rows):
        columns, values = _cells(X, row)
        if len(values) > 0:
            center = 0.0 if sp.issparse(X) else model.center[columns]
            distance = np.abs(values - center) * model.factors[columns]
            distance[np.isnan(values)] = 1e300 if not_finite[i] else -1.0
            distance[np.isinf(values)] = np.inf
            found[i] = columns[int(np.argmax(distance))]
    return found


def _cells(X, row):
    """The columns and values of a row; of a sparse row those that are stored."""
    if not sp.issparse(X):
        return np.arange(X.shape[1]), np.asarray(X[row], float)
    part = slice(X.indptr[row], X.indptr[row + 1])
    return X.indices[part], np.asarray(X.data[part], float)
