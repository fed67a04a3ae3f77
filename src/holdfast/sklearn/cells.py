"""Missing cells, and the cell of a row that is farthest from the others of its column."""

import numpy as np
import scipy.sparse as sp

from holdfast.learners import Scaled
from holdfast.learners.missing_cells import missing_with
from holdfast.sklearn.parameters import with_fields
from holdfast.steady import Steady

_MISSING = 1.7e308  # as the size of a cell: larger than all others but infinite ones


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


def empty_columns(X):
    """The columns without any value, of dense rows; none if all are."""
    if sp.issparse(X) or X.shape[0] == 0:
        return np.zeros(0, int)
    candidates = np.flatnonzero(np.isnan(X[0]))
    empty = candidates[np.isnan(X[:, candidates]).all(axis=0)]
    return empty if len(empty) < X.shape[1] else np.zeros(0, int)


def cells_of(X, rows, columns):
    """These columns, one for each of these rows, and the values there; -1 and NaN where none is known."""
    known = (columns >= 0) & (columns < X.shape[1])
    values = np.full(len(rows), np.nan)
    found = X[rows[known], columns[known]]
    values[known] = np.asarray(found.toarray() if sp.issparse(found) else found, float).ravel()
    return np.where(known, columns, -1), values


@np.errstate(all="ignore")
def unreadable_cells(X, rows, y):
    """For each of these rows the column of its largest cell, and its value: -2 if it is the target.

    What is infinite is largest, what is missing comes next, the target first. It needs no units.
    """
    columns, values = np.full(len(rows), -2), np.array(y, float)
    for i, row in enumerate(rows):
        part = slice(X.indptr[row], X.indptr[row + 1]) if sp.issparse(X) else row
        cells = np.asarray(X.data[part] if sp.issparse(X) else X[part], float)
        sizes = np.abs(np.append(y[i], cells))
        sizes[np.isnan(sizes)] = _MISSING
        largest = int(np.argmax(sizes)) - 1
        if largest >= 0:
            columns[i] = X.indices[part][largest] if sp.issparse(X) else largest
            values[i] = cells[largest]
    return columns, values
