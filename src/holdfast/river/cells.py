"""Cells of any kind as floats."""

import math
import numbers


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
