"""Missing cells, and the cell of a row that is farthest from the others of its column."""

import numpy as np
import scipy.sparse as sp

from holdfast.learners import Scaled
from holdfast.learners.missing_cells import missing_with
from holdfast.sklearn.parameters import with_fields
from holdfast.steady import Steady


def with_missing(rule, share):
    """The rule, with this share of missing cells allowed in `Steady`, or in every `Scaled` inside it."""
    if isinstance(rule, Steady):
        return rule._replace(missing=missing_with(share))
    return with_fields(rule, Scaled, missing=missing_with(share))


def filled(X, center, share):
    """The rows with centers for missing cells, unless more than this share of a row is missing.

    In sparse rows the share is one of the cells that are stored.
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
    chosen = missing & few[row_of]
    X.data[chosen] = np.broadcast_to(center, X.shape[1])[X.indices[chosen]]
    return X


def has_missing(X):
    """Which rows have a missing cell."""
    if not sp.issparse(X):
        return np.isnan(X).any(axis=1)
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row_of[np.isnan(X.data)], minlength=X.shape[0]) > 0


def empty_columns(X):
    """The columns without any value, of dense rows; none if all are."""
    if sp.issparse(X) or X.shape[0] == 0:
        return np.zeros(0, int)
    candidates = np.flatnonzero(np.isnan(X[0]))
    empty = candidates[np.isnan(X[:, candidates]).all(axis=0)]
    return empty if len(empty) < X.shape[1] else np.zeros(0, int)


@np.errstate(all="ignore")
def farthest_cells(X, rows, model, not_finite):
    """For each of these rows the column of its farthest cell, in units of the scale of its column; its value.

    Infinite cells are farthest; in rows that are `not_finite` missing cells come next.
    """
    missing = np.where(not_finite, 1e300, -1.0)
    if not sp.issparse(X):
        values = np.asarray(X[rows], float)
        columns = _farthest(values, model.center, model.factors, missing[:, None])
        return columns, values[np.arange(len(rows)), columns]
    columns, values = np.zeros(len(rows), int), np.zeros(len(rows))
    for i, row in enumerate(rows):
        part = slice(X.indptr[row], X.indptr[row + 1])
        stored, cells = X.indices[part], np.asarray(X.data[part], float)
        if len(cells) > 0:
            found = _farthest(cells, model.center[stored], model.factors[stored], missing[i])
            columns[i], values[i] = stored[found], cells[found]
    return columns, values


def _farthest(values, center, factors, missing):
    distances = np.abs(values - center) * factors
    distances = np.where(np.isnan(values), missing, distances)
    return np.argmax(np.where(np.isinf(values), np.inf, distances), axis=-1)
