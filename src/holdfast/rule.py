"""@rule: a frozen record of parameters with pure methods, the form of every algorithm in holdfast.

A rule holds its parameters (a radius, a budget, a norm) and never changes. What it learns is in a *state*, a
NamedTuple that its methods take and return. Python runs the methods, and `holdfast._compiled` compiles the
same functions, so an algorithm is written once.
"""

__all__ = ["rule"]

import collections
import inspect
import operator
import re
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, ClassVar, TypeVar, dataclass_transform, get_origin

import numpy as np

from holdfast.roles import VERBS, Rule, check_parts, role_of

Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])
Cast = Callable[[str, str, Any], Any]  # of the name of a rule, that of its parameter, and a value


@dataclass_transform(frozen_default=True)
def rule(cls: type[Made]) -> type[Made]:
    """Turn a class of annotated parameters and pure methods into a frozen, checked, picklable record.

    Parameters annotated `int`, `float` or `bool` are cast when the rule is made, and a value for `np.ndarray`
    is copied to a read-only float64 array: `TopK(5)` and `TopK(np.int32(5))` then have the same type for the
    compiler. A parameter annotated with a role of `holdfast.protocols`, such as `Learner`, must hold a rule
    with all methods of that role; `tuple[Learner, ...]` holds several. If the class has a method `check`, it
    is called last; it raises an error if parameters are wrong.

    >>> @rule
    ... class Line:
    ...     slope: float
    ...     offset: float = 0.0
    ...     def at(self, x):
    ...         return self.slope * x + self.offset
    >>> Line(2), Line(2).at(3)
    (Line(slope=2.0, offset=0.0), 6.0)
    """
    annotations = inspect.get_annotations(cls)
    methods = {name: value for name, value in vars(cls).items() if name not in annotations}
    for dropped in ("__dict__", "__weakref__", "__annotations__"):
        methods.pop(dropped, None)
    defaults = {name: vars(cls)[name] for name in annotations if name in vars(cls)}
    _check_shape(cls, annotations, defaults)
    _check_names(cls.__name__, annotations, methods)
    # Numba has no empty NamedTuples, so a rule without parameters has a field that is not used.
    fields = list(annotations) or ["nothing"]
    base: Any = collections.namedtuple(cls.__name__, fields, defaults=[*defaults.values()])  # type: ignore[misc]
    methods |= {
        "__slots__": (),
        "__annotations__": annotations,
        "__signature__": _signature(annotations, defaults),  # read by help() and by the compiler
        "_casts": tuple(_cast_for(annotations.get(name)) for name in fields),
        "_raw": base.__new__ if annotations else _nothing,
        "_parts": {name: role for name, role in annotations.items() if role_of(role)},
    }
    made = type(cls.__name__, (_Rule, base), methods)
    made.__module__, made.__qualname__ = cls.__module__, cls.__qualname__
    return made


def replaced(rule: Made, **fields: Any) -> Made:
    """The rule with other values of some fields, which are not checked: what a method `check` returns."""
    made: Any = rule
    return made._replace(**fields)


def frozen(array: np.ndarray) -> np.ndarray:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def rarely_called(function: Function) -> Function:
    """Mark a long function that few rounds call. The compiler does not inline it.

    It should have few parameters: passing a state costs more than inlining saves. Arrays in its result must
    be those of its arguments: compiled code would never free new ones.
    """
    function.is_rarely_called = True  # type: ignore[attr-defined]
    return function


def _nothing(cls: type) -> tuple[float]:
    return (0.0,)


def _signature(annotations: dict[str, Any], defaults: dict[str, Any]) -> inspect.Signature:
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=defaults.get(name, empty), annotation=annotation)
            for name, annotation in annotations.items()
        ]
    )


class _Rule(Rule):
    """What every rule has in addition to its own methods: checks, equality, printing, pickling."""

    __slots__ = ()
    __signature__: ClassVar[inspect.Signature]
    _casts: ClassVar[tuple[Cast, ...]]
    _fields: ClassVar[tuple[str, ...]]
    _raw: ClassVar[Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            given = cls._raw(cls, *args, **kwargs)
        except TypeError:
            raise TypeError(_misfit(cls, args, kwargs)) from None
        casts = zip(cls._casts, cls._fields, given, strict=True)
        self = tuple.__new__(cls, [cast(cls.__name__, name, value) for cast, name, value in casts])
        check_parts(self)
        return self.check() or self

    def check(self) -> Any:
        """Raise if the parameters are wrong. May return another rule, which is used instead."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(_same(a, b) for a, b in zip(self, other, strict=True))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), *(v.shape if isinstance(v, np.ndarray) else v for v in self)))

    def __repr__(self) -> str:
        shown = [] if self._fields == ("nothing",) else zip(self._fields, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), tuple(self))


def _rebuild(cls: Any, values: Iterable[Any]) -> Any:
    values = (frozen(value) if isinstance(value, np.ndarray) else value for value in values)
    return tuple.__new__(cls, values)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return a == b


def _misfit(cls: type[_Rule], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What is wrong with these arguments, in words."""
    try:
        cls.__signature__.bind(*args, **kwargs)
    except TypeError as problem:
        return f"{cls.__name__}: {problem}; its parameters are {cls.__signature__}"
    raise AssertionError("these arguments do fit the signature")


def _check_shape(cls: type, annotations: dict[str, Any], defaults: dict[str, Any]) -> None:
    if cls.__bases__ != (object,):
        base = cls.__bases__[0].__name__
        raise TypeError(
            f"{cls.__name__} inherits from {base}, but a rule cannot inherit: "
            f"give it a parameter that holds a {base}, and call that"
        )
    optional = ""
    for name in annotations:
        if name in defaults:
            optional = name
        elif optional:
            raise TypeError(
                f"{cls.__name__}.{name} has no default, so it must come before {optional}, which has"
            )


def _check_names(owner: str, annotations: dict[str, Any], methods: dict[str, Any]) -> None:
    for name, method in methods.items():
        if name in VERBS and isinstance(method, FunctionType):
            given, expected = tuple(inspect.signature(method).parameters)[1:], VERBS[name]
            if given != expected:
                raise TypeError(
                    f"{owner}.{name}({', '.join(given)}) must read ({', '.join(expected)}), "
                    "as in every other rule"
                )
    for name in annotations:
        if name in VERBS or name in ("check", "check_dim"):
            raise TypeError(
                f"{owner}.{name} is the name of a method in the game: give the parameter another name"
            )
        if name.startswith("_"):
            raise TypeError(f"{owner}.{name} is a parameter, so its name must not begin with an underscore")


def _cast_for(annotation: Any) -> Cast:
    if get_origin(annotation) is tuple:
        return _tuple
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    kind = re.sub(r"Optional\[(.*)\]|typing\.|numpy\.|np\.| \| None", r"\1", text)
    cast = _CASTS.get(kind, lambda owner, name, value: value)
    return _unless_none(cast) if "None" in text or "Optional" in text else cast


def _unless_none(cast: Cast) -> Cast:
    return lambda owner, name, value: None if value is None else cast(owner, name, value)


def _int(owner: str, name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{owner}: {name} must be an integer, got {value!r}") from None


def _float(owner: str, name: str, value: Any) -> float:
    try:
        if isinstance(value, str | bytes) or np.ndim(value) > 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{owner}: {name} must be a number, got {value!r}") from None


def _bool(owner: str, name: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | int) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{owner}: {name} must be True or False, got {value!r}")


def _array(owner: str, name: str, value: Any) -> np.ndarray:
    try:
        return frozen(np.array(value, dtype=np.float64, order="C"))
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: {name} must be an array of numbers, got {value!r}") from None


def _tuple(owner: str, name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Rule | str | bytes):
        raise TypeError(f"{owner}: {name} must be a tuple of rules, such as ({value!r},): got one alone")
    try:
        return tuple(value)
    except TypeError:
        raise TypeError(f"{owner}: {name} must be a tuple of rules, got {value!r}") from None


_CASTS: dict[str, Cast] = {"int": _int, "float": _float, "bool": _bool, "ndarray": _array}
