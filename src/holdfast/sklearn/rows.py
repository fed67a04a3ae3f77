"""Rows of a table: cells that are missing or no numbers, sparse rows, weights, labels, and the index."""

import datetime
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.advice import of_alike
from holdfast.audit import HoldfastWarning, unreadable_cells
from holdfast.terminal import quoted

Weights = NDArray[np.float64] | None  # of rows; None if all are 1

_FIRST = 1000  # rows, from which usual values are taken

# -- missing cells


def filled(X: Any, center: Any, share: float) -> Any:
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


def empty_columns(X: Any) -> NDArray[np.intp]:
    """The columns without any value, of dense rows; none if all are."""
    if sp.issparse(X) or X.shape[0] == 0:
        return np.zeros(0, int)
    candidates = np.flatnonzero(np.isnan(X[0]))
    empty = candidates[np.isnan(X[:, candidates]).all(axis=0)]
    return empty if len(empty) < X.shape[1] else np.zeros(0, int)


def cells_of(
    X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """These columns, one for each of these rows, and the values there; -1 and NaN where none is known."""
    known = (columns >= 0) & (columns < X.shape[1])
    values = np.full(len(rows), np.nan)
    found = X[rows[known], columns[known]]
    values[known] = np.asarray(found.toarray() if sp.issparse(found) else found, float).ravel()
    return np.where(known, columns, -1), values


def unreadable_columns(X: Any, rows: NDArray[np.intp], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """The columns of the cells to blame in these rows (`holdfast.audit.unreadable_cells`)."""
    if not sp.issparse(X):
        return unreadable_cells(X[rows], y)
    columns = np.full(len(rows), -1)
    for i, row in enumerate(rows):
        stored = slice(X.indptr[row], X.indptr[row + 1])
        (largest,) = unreadable_cells(X.data[None, stored], y[i : i + 1])
        columns[i] = X.indices[stored][largest] if largest >= 0 else -1
    return columns


# -- sparse rows


def usual_values(X: Any) -> NDArray[np.float64]:
    """The value around which each column lies: its median in the first rows, for most columns 0.

    A column with another median is stored in most rows. So there are few of them, and to subtract their
    medians costs O(nonzeros). This is for `fit`: what `partial_fit` learns must not depend on how many rows
    its first call has.
    """
    first = sp.csc_array(X[:_FIRST])
    usual, half = np.zeros(X.shape[1]), 0.5 * first.shape[0]
    for column in np.flatnonzero(np.diff(first.indptr) > half):
        values = first.data[first.indptr[column] : first.indptr[column + 1]]
        values = np.concatenate([values[np.isfinite(values)], np.zeros(first.shape[0] - len(values))])
        usual[column] = np.sort(values)[(len(values) - 1) // 2] if len(values) else 0.0
    return usual


def centred(X: Any, usual: NDArray[np.float64]) -> Any:
    """Sparse rows without their usual values: a cell that is not stored is then minus that value."""
    columns = np.flatnonzero(usual)
    if len(columns) == 0:
        return X
    count = X.shape[0]
    stored = (np.tile(usual[columns], count), np.tile(columns, count), len(columns) * np.arange(count + 1))
    return sp.csr_array(X - sp.csr_array(stored, X.shape))


# -- weights


def which_count(weights: Weights, count: int) -> NDArray[np.bool_]:
    """Which of the rows have a weight above 0. Without weights, all have."""
    return np.ones(count, bool) if weights is None else weights > 0.0


def are_unequal(weights: Weights, rows: Any = slice(None)) -> bool:
    """Whether those of these rows that count have other weights than 1."""
    if weights is None:
        return False
    own = weights[rows]
    return bool(((own != 1.0) & (own > 0.0)).any())


_NAMED = 3  # columns in an error


# -- what a frame has that is no number


def missing_labels(y: Any) -> NDArray[np.bool_]:
    """Which labels are missing: None, NaN, or the missing value of pandas.

    >>> missing_labels(np.array(["yes", None, "no"], object)).tolist()
    [False, True, False]
    """
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O":
        return np.zeros(y.shape, bool)
    return np.array([_is_missing(label) for label in y.ravel()], bool).reshape(y.shape)


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def warn_of_alike(labels: Iterable[Any]) -> None:
    """Name the labels that differ in case or blanks only: usually they are typos of one class."""
    if sentence := of_alike(labels):
        warnings.warn(
            f"{sentence}. If they are one class, write them alike before, for example with "
            "y.str.strip().str.lower()",
            HoldfastWarning,
            stacklevel=3,
        )


def words_of_columns(X: Any) -> str:
    """Which columns of a frame are no numbers, and what to do with them; "" if there are none."""
    if not hasattr(X, "columns") or not hasattr(X, "head"):
        return ""
    found: list[str] = []
    for name in X.columns:
        cell = next((cell for cell in X[name].to_numpy() if not _is_number(cell)), None)
        if cell is not None:
            found.append(f"{quoted(name, 40)} has {quoted(cell, 40)}")
    if not found:
        return ""
    others = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        f"columns that are no numbers: {', '.join(found[:_NAMED])}{others}. Leave them out, or turn them "
        "into numbers, as with sklearn.compose.make_column_transformer: the page 'A messy DataFrame' of the "
        "documentation has a recipe for text and dates"
    )


def _is_number(cell: Any) -> bool:
    if isinstance(cell, np.datetime64 | np.timedelta64 | datetime.date | datetime.timedelta):
        return False
    try:
        return _is_missing(cell) or float(cell) is not None
    except (TypeError, ValueError):
        return False


def index_of(X: Any) -> NDArray[Any] | None:
    """The index of a pandas DataFrame, one label for each row; None for other tables."""
    index = getattr(X, "index", None)
    return None if index is None or callable(index) else np.asarray(index)
