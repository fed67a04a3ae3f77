"""Labels that are missing or look like another one, and the index of a frame."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.audit import HoldfastWarning

_SHOWN = 3  # groups of alike labels in a warning


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


def alike(labels: Iterable[Any]) -> list[list[str]]:
    """Groups of labels that are the same text, but for upper and lower case and blanks.

    >>> alike(["Yes", "no", "yes ", "maybe"])
    [['Yes', 'yes ']]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault("".join(label.split()).casefold(), []).append(str(label))
    return [group for group in groups.values() if len(group) > 1]


def warn_of_alike(labels: Iterable[Any]) -> None:
    """Name the labels that differ in case or blanks only: usually they are typos of one class."""
    groups = alike(labels)
    if groups:
        named = "; ".join(" and ".join(map(repr, group)) for group in groups[:_SHOWN])
        warnings.warn(
            f"labels that differ only in case or blanks are different classes: {named}"
            f"{'; ...' if len(groups) > _SHOWN else ''}. If they are one class, write them alike before, "
            "for example with y.str.strip().str.lower()",
            HoldfastWarning,
            stacklevel=3,
        )


def index_of(X: Any) -> NDArray[Any] | None:
    """The index of a pandas DataFrame, one label for each row; None for other tables."""
    index = getattr(X, "index", None)
    return None if index is None or callable(index) else np.asarray(index)
