"""Convert arrays, lists and data frames to the arrays that a game reads."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.losses import refuse_zero_one
from holdfast.protocols import Loss
from holdfast.rule import frozen


def matrix(values: Any, name: str) -> np.ndarray:
    """A read-only float32 or float64 matrix in C order, copied only if necessary."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" and hasattr(values, "columns"):  # a frame of several types
        array = np.column_stack([_numbers(values[column], f"column {column!r}") for column in values.columns])
    return _readonly(array, name, "one row for each round and one column for each feature", dim=2)


def vector(values: ArrayLike, name: str) -> np.ndarray:
    """A read-only float64 vector."""
    array = _readonly(_numbers(values, name), name, "one number for each round", dim=1)
    return array.astype(np.float64, copy=False)


def labels(values: ArrayLike, count: int, loss: Loss) -> np.ndarray:
    """Targets or labels, one for each of `count` rows, that the loss can use."""
    y = vector(values, "y")
    if len(y) != count:
        raise ValueError(f"X and y must have the same number of rows: got {count} and {len(y)}")
    refuse_zero_one(loss, y)
    return y


def _numbers(values: ArrayLike, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind == "O":  # mixed types: NA and None are missing values, text is an error
        text = next((value for value in array.flat if isinstance(value, str | bytes)), None)
        if text is not None:
            raise TypeError(f"{name} must hold numbers: got {text!r}; drop or encode text")
        missing = getattr(values, "isna", lambda: array == None)()  # noqa: E711
        array = np.where(np.asarray(missing, bool), np.nan, array)
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as problem:
            raise TypeError(f"{name} must hold numbers: {problem}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers: got {array.dtype}; drop or encode it")
    return array


def _readonly(values: np.ndarray, name: str, shape: str, dim: int) -> np.ndarray:
    array = _numbers(values, name)
    if array.ndim != dim:
        raise ValueError(
            f"{name} must have {dim} dimension{'s' * (dim > 1)}, {shape}: got shape {array.shape}"
        )
    kept = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    return frozen(np.ascontiguousarray(array, dtype=kept).view(np.ndarray))
