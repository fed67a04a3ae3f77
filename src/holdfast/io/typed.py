"""Read records from JSON of unknown origin: check that every field is there and has its type."""

import math
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_TEXTS = tuple[str, ...]
T = TypeVar("T")


def typed(
    cls: type[T],
    found: Any,
    readers: Mapping[str, Callable[[Any], Any]] = {},
    **limits: tuple[float, float],
) -> T:
    """A NamedTuple or dataclass from a dictionary; raises ValueError if it does not fit.

    `readers` make the values of some fields, and raise ValueError if they cannot. `limits` has the smallest
    and the largest value of some integer fields.
    """
    kinds = typing.get_type_hints(cls)
    if not isinstance(found, dict) or set(found) != set(kinds):
        raise ValueError(f"a {cls.__name__} has the fields {', '.join(kinds)}")
    values = {}
    for name, kind in kinds.items():
        value = found[name]
        if name in readers:
            values[name] = readers[name](value)
            continue
        if not _has_type(kind, value):
            raise ValueError(f"{name} of a {cls.__name__} cannot be {str(value)[:40]!r}")
        low, high = limits.get(name, (-math.inf, math.inf))
        if type(value) is int and not low <= value <= high:
            raise ValueError(f"{name} of a {cls.__name__} must be from {low} to {high}: got {value}")
        values[name] = tuple(value) if isinstance(value, list) else value
    return cls(**values)


def is_count(value: Any) -> bool:
    """Whether this is a number of rows, of bytes or of parts."""
    return type(value) is int and 0 <= value < 1 << 53


def _has_type(kind: Any, value: Any) -> bool:
    options = (kind,) if kind == _TEXTS else typing.get_args(kind) or (kind,)
    if isinstance(value, list):
        return _TEXTS in options and all(isinstance(item, str) for item in value)
    if type(value) is int and float in options:
        value = float(value)
    return type(value) in options and (type(value) is not float or math.isfinite(value))
