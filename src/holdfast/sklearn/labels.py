"""Labels that are missing or look like another one, and the index of a frame."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.advice import of_alike
from holdfast.audit import HoldfastWarning


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


def index_of(X: Any) -> NDArray[Any] | None:
    """The index of a pandas DataFrame, one label for each row; None for other tables."""
    index = getattr(X, "index", None)
    return None if index is None or callable(index) else np.asarray(index)
