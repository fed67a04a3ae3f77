"""What a rule must answer in each of its roles, and a check that it does.

A role has two classes. `Filter` has the methods that every filter must have. `FilterOptions` has those that a
filter may have, with what they do by default: a rule that does not write its own has that one. A role such
as `HintedLearner` asks for more than `Learner` does, and only some games need it.

A parameter of a rule that holds another rule is annotated with the role of that one, `filter: Filter`. Then
`check_parts` looks at it when the rule is made, and `check_role` looks at a whole player before a game. Both
raise one TypeError that names all methods that are missing.

Vectors are arrays of float64. Rows may be sparse too, and weights lazy (`holdfast.vectors`); the types below
say `Any` for both.
"""

import functools
import math
from types import FunctionType, NoneType
from typing import Any, ClassVar, Protocol, TypeAlias, get_args

import numpy as np

from holdfast.vectors import largest

Row: TypeAlias = Any  # a NumPy array of dim floats, or a `holdfast.vectors.Sparse`
Weights: TypeAlias = Any  # a NumPy array of dim floats, or one of the weights of `holdfast.vectors`


# -- norms and domains


class Norm(Protocol):
    """How long a vector is. Our domains ask more of a norm in `diameter(norm)`: see `holdfast.norms.L2`."""

    def of(self, x: Row) -> float:
        """The norm of a vector."""

    def dual(self) -> Any:
        """The dual norm, in which gradients are measured."""


class NormOptions(Norm, Protocol):
    """What a norm may answer too."""

    def check_dim(self, dim: int) -> None:
        """Raise if it cannot measure vectors of this many entries; by default it can."""

    def entry_bound(self, x: Row, size: float) -> float:
        """At least the largest absolute entry of x, whose norm is `size`; by default computed from x."""
        return largest(x)


class Domain(Protocol):
    """Where the weights may lie."""

    def center(self, dim: int) -> Any:
        """The point to start from, a new array."""

    def project(self, w: Any) -> Any:
        """The nearest point to w; it may write into w."""

    def diameter(self, norm: Any, dim: int = 0) -> float:
        """The largest distance of two points, in this norm; infinity if there is none."""

    def support(self, g: Any) -> float:
        """The largest <u, g> of all points u: what certificates and regret compare with."""


class DomainOptions(Domain, Protocol):
    """What a domain may answer too."""

    def check_dim(self, dim: int) -> None:
        """Raise if it has no points of this many entries; by default it has."""

    def bounded(self) -> bool:
        """Whether its diameter is finite; by default yes."""
        return True

    def reaches(self, g: Any) -> tuple[float, float, float]:
        """For certificates: `support(g)`, `support(-g)`, and at least the largest sum of |u_i g_i|.

        By default from `support` alone.
        """
        size = 0.0
        for i in range(len(g)):
            axis = np.zeros(len(g))
            axis[i] = 1.0
            size += abs(float(g[i])) * max(self.support(axis), self.support(-axis))
        return (self.support(g), self.support(-g), size)

    def project_with_reach(self, w: Any, reach: float) -> tuple[Any, float]:
        """`project(w)`, and a bound on its distance from the center, if w is within `reach` of that.

        By default the bound is infinity.
        """
        return (self.project(w), math.inf)

    def to_lazy(self, state: Any, summed: bool) -> Any:
        """The weights for sparse rows; by default as they are."""
        return state


# -- filters


class Filter(Protocol):
    """Says whether the learner may learn from a round."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def decide(self, state: Any, size: float) -> tuple[Any, float, bool]:
        """The next state, the threshold, and whether to keep a round of this size."""


class FilterOptions(Filter, Protocol):
    """What a filter may answer too."""

    def valid(self, state: Any) -> bool:
        """Whether a state that was read from a file is one that rounds can lead to; by default yes.

        If it says yes, no later round may raise an error or reach outside of an array.
        """
        return True

    def reset(self, state: Any, dim: int) -> Any:
        """The first state again, in the arrays of this one; by default `init(dim)`."""
        return self.init(dim)

    def keeps_all(self) -> bool:
        """Whether it keeps every finite round; by default no."""
        return False

    def restarts(self, state: Any) -> bool:
        """Whether the learner must start anew before the next round; by default no."""
        return False


# -- learners


class Learner(Protocol):
    """Chooses the weights of each round."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def predict(self, state: Any) -> Weights:
        """The weights of this round."""

    def update(self, state: Any, slope: float, x: Row) -> Any:
        """The state after learning from the gradient slope * x."""


class LearnerOptions(Learner, Protocol):
    """What a learner may answer too."""

    def check_dim(self, dim: int) -> None:
        """Raise if it cannot learn this many weights; by default it can."""

    def valid(self, state: Any) -> bool:
        """Whether a state that was read from a file is one that rounds can lead to; by default yes.

        If it says yes, no later round may raise an error or reach outside of an array.
        """
        return True

    def reset(self, state: Any, dim: int) -> Any:
        """The first state again, in the arrays of this one; by default `init(dim)`."""
        return self.init(dim)

    def to_lazy(self, state: Any, summed: bool) -> Any:
        """The state for sparse rows; by default as it is. `summed`: must it add up all predictions?"""
        return state

    def set_target(self, state: Any, y: float) -> Any:
        """The state, knowing the target of this round; by default as it is."""
        return state

    def transform_row(self, state: Any, x: Row) -> Row:
        """The row as it is learned from; by default x."""
        return x

    def update_transformed(self, state: Any, slope: float, x: Row, row: Row) -> Any:
        """`update`, given `transform_row(state, x)` as `row`; by default `update`."""
        return self.update(state, slope, x)

    def transform_target(self, state: Any) -> float:
        """The target of this round as it is learned from; by default 0."""
        return 0.0

    def needs(self) -> Any:
        """What its bound asks of a game: a `holdfast.learners.needs.Needs`, by default None (unknown)."""
        return None

    def reads_rows(self) -> bool:
        """Whether it learns from rows also where the slope is 0; by default no."""
        return False

    def needs_hints(self) -> bool:
        """Whether it must know the size of a gradient in advance; by default no."""
        return False

    def set_hint(self, state: Any, hint: float) -> Any:
        """The state, knowing that gradients to come have sizes up to `hint`; by default as it is."""
        return state


class LearnerInDomain(Learner, Protocol):
    """A learner that says where its weights may lie: for `Bounded`, certificates and regret."""

    @property
    def domain(self) -> Domain:
        """A parameter that holds the domain."""


class HintedLearner(LearnerInDomain, Protocol):
    """A learner that must know the size of a gradient in advance: for `Clipped`."""

    def needs_hints(self) -> bool:
        """True."""

    def set_hint(self, state: Any, hint: float) -> Any:
        """The state, knowing that gradients to come have sizes up to `hint`."""

    def gauge(self, slope: float, x: Row) -> float:
        """The size of the gradient slope * x, as hints mean it."""


class ProvenLearner(Learner, Protocol):
    """A learner with a bound on its regret. No game asks for it."""

    def needs(self) -> Any:
        """A `holdfast.learners.needs.Needs`: the games for which the bound holds."""

    def bound(self, state: Any, u: Any) -> float:
        """The most that the regret against u can be, on the rounds that the state has learned from."""


class Step(Protocol):
    """How far `OGD` moves."""

    def accrued(self, tally: float, size: float) -> float:
        """The tally after one more gradient of this size; it begins at 0."""

    def eta(self, tally: float, diameter: float) -> float:
        """The step, in a domain of this diameter."""

    def held(self, tally: float, diameter: float) -> float:
        """What the regret bound has beside half the sum of eta times squared sizes."""


# -- losses


class Loss(Protocol):
    """What a prediction costs."""

    def value(self, z: float, y: float) -> float:
        """The loss of the prediction z if the target is y."""

    def slope(self, z: float, y: float) -> float:
        """Its derivative by z."""


class LipschitzLoss(Loss, Protocol):
    """A loss that says how steep it can be: for learners that must know, such as `ScaleInvariant`."""

    def lipschitz(self) -> float:
        """The largest absolute slope; infinity if there is none."""


# -- measures


class GradientMeasure(Protocol):
    """The size of a round, from its gradient alone."""

    def measure(self, norm: Any, slope: float, x: Row) -> float:
        """The size of a round with the gradient slope * x."""


class StateMeasure(Protocol):
    """The size of a round, from the state of the learner too."""

    def size_of_transformed(
        self, learner: Any, state: Any, norm: Any, slope: float, x: Row, row: Row, size: float
    ) -> float:
        """The size of a round with the gradient slope * x.

        `row` is x as it is learned from, and `size` the norm of that. Where the slope is 0, `size` may be 0
        instead, unless the measure `reads_rows`.
        """


class MeasureOptions(GradientMeasure, Protocol):
    """What a measure may answer too. By default `size_of_transformed` calls `measure`."""

    def check_learner(self, learner: Any) -> None:
        """Raise if it has no meaning for this learner; by default it has."""

    def reads_rows(self) -> bool:
        """Whether the size depends on the row also where the slope is 0; by default no."""
        return False

    def size_of_transformed(
        self, learner: Any, state: Any, norm: Any, slope: float, x: Row, row: Row, size: float
    ) -> float:
        """As in `StateMeasure`."""
        return self.measure(norm, slope, row)


Measure: TypeAlias = GradientMeasure | StateMeasure


# -- players and adversaries


class Player(Protocol):
    """Plays whole rounds: chooses weights, and learns from what is revealed or does not."""

    def init(self, dim: int) -> Any:
        """The first state."""

    def predict(self, state: Any) -> Weights:
        """The weights of this round."""

    def observe(self, state: Any, slope: float, x: Row) -> tuple[Any, Any]:
        """The next state, and a `holdfast.Decision`, after a round with the gradient slope * x."""

    def current_weights(self, state: Any) -> Weights:
        """The weights to report after the last round; for most players `predict(state)`."""


class PlayerOptions(Player, Protocol):
    """What a player may answer too."""

    def core(self) -> Any:
        """The player inside, if this one wraps another; by default itself."""
        return self

    def check_dim(self, dim: int) -> None:
        """Raise if it cannot learn this many weights; by default it can."""

    def valid(self, state: Any) -> bool:
        """Whether a state that was read from a file is one that rounds can lead to; by default yes.

        If it says yes, no later round may raise an error or reach outside of an array.
        """
        return True

    def reset(self, state: Any, dim: int) -> Any:
        """The first state again, in the arrays of this one; by default `init(dim)`."""
        return self.init(dim)

    def to_lazy(self, state: Any, summed: bool) -> Any:
        """The state for sparse rows; by default as it is. `summed`: must it add up all predictions?"""
        return state

    def set_target(self, state: Any, y: float) -> Any:
        """The state, knowing the target of this round; by default as it is."""
        return state


class PlayerInDomain(Player, Protocol):
    """A player that learns in a domain: for certificates and regret."""

    @property
    def learner(self) -> LearnerInDomain:
        """A parameter that holds the learner."""


class Adversary(Protocol):
    """Reveals the losses."""

    def extent(self) -> tuple[int, int]:
        """The number of rounds and the number of weights."""

    def start(self) -> Any:
        """The first state."""

    def reveal(self, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
        """The next state, and of round t the loss of w, the slope and the row: slope * x is the gradient."""


class AdversaryOptions(Adversary, Protocol):
    """What an adversary may answer too."""

    def target_at(self, t: int) -> float:
        """The target of round t; by default NaN, there is none."""
        return math.nan

    def expect(self, t: int) -> None:
        """Fetch round t from memory, it is played soon; by default nothing is done."""

    def is_sparse(self) -> bool:
        """Whether its rows are sparse; by default no."""
        return False


class Tail(Protocol):
    """How large the outliers of `QuantileStream` are."""

    def stretch(self, v: Any) -> Any:
        """Factors of at least 1, from an array of numbers drawn uniformly between 0 and 1."""


OPTIONS = {
    Filter: FilterOptions,
    Learner: LearnerOptions,
    Norm: NormOptions,
    Domain: DomainOptions,
    GradientMeasure: MeasureOptions,
    Player: PlayerOptions,
    Adversary: AdversaryOptions,
}
_EXTRA = (LearnerInDomain, HintedLearner, ProvenLearner, PlayerInDomain, LipschitzLoss, StateMeasure)
_ROLES = (*OPTIONS, Loss, Step, Tail, *_EXTRA)
_SPOKEN = {
    GradientMeasure: "measure",
    StateMeasure: "measure",
    LearnerInDomain: "learner in a domain",
    HintedLearner: "learner with hints",
    PlayerInDomain: "player in a domain",
    LipschitzLoss: "loss with a largest slope",
}


# -- the check


class Rule(tuple):
    """The base of all that `@rule` makes. It has the optional methods of all roles, with their defaults."""

    __slots__ = ()
    _parts: ClassVar[dict[str, Any]]  # the parameters that hold rules, each with its role


for _options in OPTIONS.values():
    for _name, _default in vars(_options).items():
        if isinstance(_default, FunctionType) and not _name.startswith("_"):
            setattr(Rule, _name, _default)  # where two roles have a method of this name, both say the same


def roles_of(annotation):
    """The roles that an annotation names, one of which is enough: none, if it is no role."""
    return tuple(role for role in get_args(annotation) or (annotation,) if role in _ROLES)


def check_role(rule, role):
    """Raise one TypeError that names all that a rule, and the rules inside it, lack for their roles.

    Examples
    --------
    >>> from holdfast.domains import Ball
    >>> check_role(Ball(1.0), Filter)
    Traceback (most recent call last):
    TypeError: Ball cannot be a filter: it has no methods init(dim) and decide(state, size)
    """
    _raise_if_any(_complaints(rule, role))


def check_parts(rule):
    """`check_role` of all rules that a rule holds."""
    if rule._parts:
        _raise_if_any(_complaints_of_parts(rule))


def parameters(method):
    """The names of the parameters of a method, as its role writes them."""
    role = next(role for role in (*_ROLES, *OPTIONS.values()) if method in vars(role))
    return _parameters(vars(role)[method])


def _raise_if_any(complaints):
    found = "; ".join(dict.fromkeys(complaints))
    if found:
        raise TypeError(found)


def _complaints(rule, annotation):
    if rule is None and NoneType in get_args(annotation):
        return
    roles = roles_of(annotation)
    spoken = _spoken(roles[0])
    if isinstance(rule, type):
        yield f"{rule.__name__} is a class and no {spoken} yet: call it with its parameters"
        return
    article = "an" if spoken[0] in "aeiou" else "a"
    cannot = f"{type(rule).__name__} cannot be {article} {spoken}"
    if not isinstance(rule, Rule):
        yield f"{cannot}: write @rule above its class"
        return
    role = min(roles, key=lambda role: len(_missing(rule, role)))
    missing = _missing(rule, role)
    if missing:
        yield f"{cannot}: it has {_listed(missing)}"
    for name, inner in _attributes(role).items():
        if name not in missing:
            yield from _complaints(getattr(rule, name), inner)
    yield from _complaints_of_parts(rule)


def _complaints_of_parts(rule):
    for name, role in rule._parts.items():
        yield from _complaints(getattr(rule, name), role)


def _missing(rule, role):
    """What a role asks for and a rule has not: methods with their parameters, None for a parameter."""
    missing, given = _missing_in(type(rule), role)
    return missing | {name: call for name, call in given.items() if not callable(getattr(rule, name))}


@functools.lru_cache(maxsize=1024)
def _missing_in(cls, role):
    """The same of a class; and the methods that must be functions given as parameters."""
    methods = _methods(role)
    classes = [
        base for base in cls.__mro__ if not issubclass(Rule, base)
    ]  # the defaults of @rule do not count
    own = {name for base in classes for name, value in vars(base).items() if callable(value)}
    given = {name: call for name, call in methods.items() if name in cls._fields}
    missing = {name: call for name, call in methods.items() if name not in own and name not in given}
    return missing | {name: None for name in _attributes(role) if name not in cls._fields}, given


def _listed(missing):
    calls = [f"{name}({', '.join(call)})" for name, call in missing.items() if call is not None]
    names = [name for name, call in missing.items() if call is None]
    return " and ".join(_counted(*some) for some in (("method", calls), ("parameter", names)) if some[1])


def _counted(noun, names):
    if len(names) == 1:
        return f"no {noun} {names[0]}"
    return f"no {noun}s {', '.join(names[:-1])} and {names[-1]}"


@functools.cache
def _methods(role):
    """The methods of a role, by name, and the parameters of each."""
    return {name: _parameters(value) for name, value in _members(role, FunctionType)}


@functools.cache
def _attributes(role):
    """The parameters that a role asks for, by name, and the role of each."""
    return {name: value.fget.__annotations__["return"] for name, value in _members(role, property)}


def _members(role, kind):
    members = {
        name: value for cls in reversed(role.__mro__) if cls in _ROLES for name, value in vars(cls).items()
    }
    return [(name, value) for name, value in members.items() if isinstance(value, kind) and name[0] != "_"]


def _parameters(function):
    code = function.__code__
    return code.co_varnames[1 : code.co_argcount]


def _spoken(role):
    """The name of a role in a sentence."""
    return _SPOKEN.get(role, role.__name__.lower())


# A rule that defines one of these must read the same parameters as every other rule that does, so that
# whoever calls it, by position or by name, interpreted or compiled, need not know which rule it is.
_VERBS = "init predict observe update decide measure valid reset restarts set_hint bound extent start reveal"
VERBS = {name: parameters(name) for name in _VERBS.split()}
