"""What River gives: cells of any kind as floats; data frames and series as lists of rows, and back."""

import math
import numbers
from typing import Any

from river import compose
from river.utils.dataframe import into_frame, into_series, to_native_frame, to_native_series


def as_float(value: object) -> float:
    """A number as a float: infinite if it is too large for one, NaN if it is no number.

    >>> as_float(True), as_float(10**400), as_float("rain"), as_float(None)
    (1.0, inf, nan, nan)
    """
    try:
        return float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        return math.inf


def is_missing(value: object) -> bool:
    """Whether a cell is None or NaN. Text is no number, but not missing."""
    return value is None or (isinstance(value, numbers.Real) and bool(value != value))


def rows(X: Any) -> list[dict[Any, Any]]:
    """The rows of a frame as dicts."""
    frame = into_frame(X)
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows()]


def values(y: Any) -> list[Any]:
    """The entries of a series as a list."""
    return into_series(y).to_list()


def kept_rows(X: Any, kept: list[bool]) -> Any:
    return into_frame(X).filter(kept).to_native()


def has_missing(X: Any) -> bool:
    """Whether a cell of a frame is None or NaN."""
    return any(value is None or value != value for row in into_frame(X).rows() for value in row)


def frame_of(rows: list[dict[Any, Any]], X: Any) -> Any:
    """Rows, as dicts with the columns of the frame X, as a frame with its index."""
    like = into_frame(X)
    return to_native_frame({name: [row[name] for row in rows] for name in like.columns}, like=like)


def kept_values(y: Any, kept: list[bool]) -> Any:
    return into_series(y).filter(kept).to_native()


def series(predictions: list[Any], X: Any) -> Any:
    """Predictions as a series with the index of the frame X."""
    return to_native_series(predictions, name=None, like=into_frame(X))


def frame(probabilities: list[dict[Any, float]], X: Any) -> Any:
    """Probabilities by label as a frame with the index of the frame X."""
    labels = list(dict.fromkeys(label for row in probabilities for label in row))
    return to_native_frame(
        {label: [row.get(label, 0.0) for row in probabilities] for label in labels}, like=into_frame(X)
    )


def learns_batches(model: Any) -> bool:
    """Whether a model, and in a pipeline every step, has `learn_many`."""
    steps = model.steps.values() if isinstance(model, compose.Pipeline) else [model]
    return all(hasattr(step, "learn_many") for step in steps)
