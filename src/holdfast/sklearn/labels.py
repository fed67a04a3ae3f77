"""What a frame has that is no number: missing labels, labels that look alike, text, dates, and the index."""

import datetime
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.advice import of_alike
from holdfast.audit import HoldfastWarning
from holdfast.terminal import quoted

_NAMED = 3  # columns in an error


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
