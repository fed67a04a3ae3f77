"""Check that rules have the methods of their roles (`holdfast.protocols`).

`check_parts` looks at the rules inside a rule when that is made, `check_role` at a whole player before a
game. Both raise one TypeError that names all missing methods.
"""

import functools
from collections.abc import Iterable, Iterator
from types import FunctionType, NoneType
from typing import Any, ClassVar, get_args, get_origin

from holdfast.protocols import (
    Adversary,
    AdversaryOptions,
    Domain,
    DomainOptions,
    Filter,
    FilterOptions,
    HintedLearner,
    Learner,
    LearnerInDomain,
    LearnerOptions,
    LipschitzLoss,
    Loss,
    LossOptions,
    Measure,
    MeasureOptions,
    Norm,
    NormOptions,
    Player,
    PlayerInDomain,
    PlayerOptions,
    Step,
    Tail,
)

OPTIONS: dict[type, type] = {
    Filter: FilterOptions,
    Learner: LearnerOptions,
    Norm: NormOptions,
    Domain: DomainOptions,
    Measure: MeasureOptions,
    Loss: LossOptions,
    Player: PlayerOptions,
    Adversary: AdversaryOptions,
}
_EXTRA = (LearnerInDomain, HintedLearner, PlayerInDomain, LipschitzLoss)
_ROLES: tuple[Any, ...] = (*OPTIONS, Step, Tail, *_EXTRA)
_SPOKEN: dict[type, str] = {
    LearnerInDomain: "learner in a domain",
    HintedLearner: "learner with hints",
    PlayerInDomain: "player in a domain",
    LipschitzLoss: "loss with a largest slope",
}


Missing = dict[str, tuple[str, ...] | None]  # methods with their parameters, None for a parameter


class Rule(tuple[Any, ...]):
    """The base of all that `@rule` makes. It has the optional methods of all roles, with their defaults."""

    __slots__ = ()
    _parts: ClassVar[dict[str, Any]]  # the parameters that hold rules, each with its annotation


def role_of(annotation: Any) -> Any:
    """The role in an annotation; None if the parameter holds no rule."""
    return next((role for role in get_args(annotation) or (annotation,) if role in _ROLES), None)


def rules_in(rule: Any) -> Iterator[tuple[Any, Any]]:
    """Each rule that a rule holds, with the annotation of its role. A tuple of rules counts as several.

    Of rules without a role, such as the checks of `Guarded`, those that they hold.
    """
    for name, annotation in rule._parts.items():
        value = getattr(rule, name)
        if get_origin(annotation) is not tuple:
            yield value, annotation
        else:
            for each in value:
                yield each, get_args(annotation)[0]
    for name, value in zip(rule._fields, rule, strict=True):
        if name not in rule._parts and type(value) is tuple:
            for each in value:
                yield from rules_in(each) if isinstance(each, Rule) else ()


def optional_methods(role: type) -> dict[str, FunctionType]:
    """The optional methods of a role, by name."""
    classes = [cls for cls in reversed(OPTIONS[role].__mro__) if cls not in _ROLES]
    found = {name: value for cls in classes for name, value in vars(cls).items()}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, FunctionType) and name[0] != "_" and name not in _methods(role)
    }


def check_role(rule: object, role: Any) -> None:
    """Raise one TypeError that names all methods that a rule, and the rules inside it, lack for their roles.

    >>> from holdfast.domains import Ball
    >>> check_role(Ball(1.0), Filter)
    Traceback (most recent call last):
    TypeError: Ball cannot be a filter: it has no methods init(dim) and decide(state, size)
    """
    _raise_if_any(_complaints(rule, role))


def check_parts(rule: Any) -> None:
    """`check_role` of all rules that a rule holds."""
    if rule._parts:
        _raise_if_any(_complaints_of_parts(rule))


def parameters(method: str) -> tuple[str, ...]:
    """The names of the parameters of a method of a role."""
    found = (_methods(role) for role in _ROLES)
    optional = ({name: _parameters(f) for name, f in optional_methods(role).items()} for role in OPTIONS)
    return next(methods[method] for methods in (*found, *optional) if method in methods)


def _raise_if_any(complaints: Iterable[str]) -> None:
    found = "; ".join(dict.fromkeys(complaints))
    if found:
        raise TypeError(found)


def _complaints(rule: Any, annotation: Any) -> Iterator[str]:
    if rule is None and NoneType in get_args(annotation):
        return
    role = role_of(annotation)
    spoken = _spoken(role)
    if isinstance(rule, type):
        yield f"{rule.__name__} is a class and no {spoken} yet: call it with its parameters"
        return
    article = "an" if spoken[0] in "aeiou" else "a"
    cannot = f"{type(rule).__name__} cannot be {article} {spoken}"
    if not isinstance(rule, Rule):
        yield f"{cannot}: write @rule above its class"
        return
    missing = _missing(rule, role)
    if missing:
        yield f"{cannot}: it has {_listed(missing)}"
    for name, inner in _attributes(role).items():
        if name not in missing:
            yield from _complaints(getattr(rule, name), inner)
    yield from _complaints_of_parts(rule)


def _complaints_of_parts(rule: Any) -> Iterator[str]:
    for part, annotation in rules_in(rule):
        yield from _complaints(part, annotation)


def _missing(rule: Any, role: Any) -> Missing:
    """What a role requires and a rule lacks: methods with their parameters, None for a parameter."""
    cls: Any = type(rule)
    missing, given = _missing_in(cls, role)
    return missing | {name: call for name, call in given.items() if not callable(getattr(rule, name))}


@functools.lru_cache(maxsize=1024)
def _missing_in(cls: Any, role: Any) -> tuple[Missing, Missing]:
    """The same for a class, and the methods that are parameters of the rule: they must hold functions."""
    methods = _methods(role)
    classes = [base for base in cls.__mro__ if not issubclass(Rule, base)]  # without the defaults of Rule
    own = {name for base in classes for name, value in vars(base).items() if callable(value)}
    given: Missing = {name: call for name, call in methods.items() if name in cls._fields}
    missing: Missing = {name: call for name, call in methods.items() if name not in own and name not in given}
    return missing | {name: None for name in _attributes(role) if name not in cls._fields}, given


def _listed(missing: Missing) -> str:
    calls = [f"{name}({', '.join(call)})" for name, call in missing.items() if call is not None]
    names = [name for name, call in missing.items() if call is None]
    return " and ".join(_counted(*some) for some in (("method", calls), ("parameter", names)) if some[1])


def _counted(noun: str, names: list[str]) -> str:
    if len(names) == 1:
        return f"no {noun} {names[0]}"
    return f"no {noun}s {', '.join(names[:-1])} and {names[-1]}"


@functools.cache
def _methods(role: type) -> dict[str, tuple[str, ...]]:
    """The methods of a role, by name, and the parameters of each."""
    return {name: _parameters(value) for name, value in _members(role, FunctionType)}


@functools.cache
def _attributes(role: type) -> dict[str, Any]:
    """The parameters that a role requires, by name, and the role of each."""
    return {name: value.fget.__annotations__["return"] for name, value in _members(role, property)}


def _members(role: type, kind: type) -> list[tuple[str, Any]]:
    members = {
        name: value for cls in reversed(role.__mro__) if cls in _ROLES for name, value in vars(cls).items()
    }
    return [(name, value) for name, value in members.items() if isinstance(value, kind) and name[0] != "_"]


def _parameters(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[1 : code.co_argcount]


def _spoken(role: type) -> str:
    """The name of a role in a sentence."""
    return _SPOKEN.get(role, role.__name__.lower())


for _role in OPTIONS:
    for _name, _default in optional_methods(_role).items():
        setattr(Rule, _name, _default)  # where two roles have a method of this name, its default is the same

# Methods whose parameters must have the same names in every rule, so that a call by position or by name,
# interpreted or compiled, works for all of them.
_VERBS = "init predict observe update decide size_of valid reset restarts set_hint bound extent start reveal"
VERBS = {name: parameters(name) for name in _VERBS.split()}
