"""Read records from JSON of unknown origin: check that every field is there and has its type."""

import math
import typing

_TEXTS = tuple[str, ...]


def typed(cls, found, **limits):
    """A NamedTuple or dataclass from a dictionary; raises ValueError if it does not fit.

    `limits` has the smallest and the largest value of some integer fields.
    """
    kinds = typing.get_type_hints(cls)
    if not isinstance(found, dict) or set(found) != set(kinds):
        raise ValueError(f"a {cls.__name__} has the fields {', '.join(kinds)}")
    values = {}
    for name, kind in kinds.items():
        if not _has_type(kind, found[name]):
            raise ValueError(f"{name} of a {cls.__name__} cannot be {str(found[name])[:40]!r}")
        low, high = limits.get(name, (-math.inf, math.inf))
        if type(found[name]) is int and not low <= found[name] <= high:
            raise ValueError(f"{name} of a {cls.__name__} must be from {low} to {high}: got {found[name]}")
        values[name] = tuple(found[name]) if kind == _TEXTS else found[name]
    return cls(**values)


def _has_type(kind, value):
    if kind == _TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    options = typing.get_args(kind) or (kind,)
    if type(value) is int and float in options:
        value = float(value)
    return type(value) in options and (type(value) is not float or math.isfinite(value))
