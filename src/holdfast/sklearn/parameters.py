"""Parameters of the estimators that are rules: those inside them by name, and the learner that they make."""

import math
from typing import Any, ClassVar

from holdfast.learners import (
    OGD,
    VAW,
    Adaptive,
    Mixture,
    OnlineLogistic,
    OnlineRidge,
    Penalized,
    RobustRidge,
    ScaleInvariant,
)
from holdfast.options import LEARNER, read_learner, read_loss, read_outliers
from holdfast.role_checks import Rule
from holdfast.steady import Logits, Ridges

_OWN_PENALTY = (OnlineRidge, VAW, RobustRidge, OnlineLogistic, ScaleInvariant, Mixture)


class NestedParametersMixin:
    """`get_params` and `set_params` that reach into rules, such as learner__rate."""

    _regression: ClassVar[bool]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with deep=True also those of rules, such as "learner__rate"."""
        found: dict[str, Any] = super().get_params(deep=False)  # type: ignore[misc]
        if deep:
            for name, value in list(found.items()):
                found |= _nested_parameters(name, value) if isinstance(value, Rule) else {}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name, also those of rules: `set_params(learner__rate=0.1)`.

        If the learner or the loss is a name, it becomes that rule. `learner=None` becomes the learner of
        `holdfast.options.LEARNER`.
        """
        plain = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**plain)  # type: ignore[misc]
        for path, value in params.items():
            name, _, rest = path.partition("__")
            if rest:
                if name not in self.get_params(deep=False):
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
                setattr(
                    self,
                    name,
                    with_parameter(_as_rule(name, getattr(self, name), self._regression), rest, value),
                )
        return self


def _nested_parameters(name: str, rule: Any) -> dict[str, Any]:
    """The parameters of a rule, and of the rules inside it, by names such as "learner__domain__radius"."""
    found: dict[str, Any] = {}
    for field in rule.__signature__.parameters:
        value = getattr(rule, field)
        found[f"{name}__{field}"] = value
        if isinstance(value, Rule):
            found |= _nested_parameters(f"{name}__{field}", value)
    return found


def with_parameter(rule: Any, path: str, value: object) -> Any:
    """The rule with another value of a parameter, such as "domain__radius"."""
    field, _, rest = path.partition("__")
    if field not in rule.__signature__.parameters:
        names = ", ".join(rule.__signature__.parameters)
        raise ValueError(f"{type(rule).__name__} has no parameter {field!r}: its parameters are {names}")
    fields = {name: getattr(rule, name) for name in rule.__signature__.parameters}
    if rest:
        if not isinstance(fields[field], Rule):
            raise ValueError(f"{type(rule).__name__}.{field} is {fields[field]!r}, which has no parameters")
        value = with_parameter(fields[field], rest, value)
    return type(rule)(**(fields | {field: value}))


def with_fields(rule: Any, kind: Any, **fields: Any) -> Any:
    """The rule, with these values of fields in every rule of this kind inside it."""
    if isinstance(rule, kind):
        return rule._replace(**fields)
    if isinstance(rule, Rule):
        parts = {name: with_fields(getattr(rule, name), kind, **fields) for name in rule._parts}
        return rule._replace(**parts)  # type: ignore[attr-defined]
    return tuple(with_fields(each, kind, **fields) for each in rule) if isinstance(rule, tuple) else rule


def _as_rule(name: str, value: Any, regression: bool) -> Any:
    """The rule of a parameter of an estimator, also if it is a name or, for the learner, None."""
    if name == "learner":
        rule = read_learner(value, None) or LEARNER
    elif name == "loss":
        rule = read_loss(value, regression)
    else:
        rule = read_outliers(value) if name == "outliers" else value
    if not isinstance(rule, Rule):
        raise ValueError(f"{name} is {value!r}, which has no parameters of its own")
    return rule


def learner_rule(learner: Any, loss: Any, learning_rate: Any, alpha: Any, constant: bool) -> Any:
    """The learner, from its name or itself, with this rate and L2 penalty. Raises if it cannot work."""
    found = read_learner(learner, loss) or LEARNER
    name = type(found).__name__
    if isinstance(found, Ridges | Logits):
        if learning_rate is not None or alpha != 0.0:
            raise ValueError(f"{name} has neither learning_rate nor alpha: set its own parameters instead")
        return found
    if learning_rate is not None:
        found = _with_rate(found, _positive("learning_rate", learning_rate))
    if alpha == 0.0:
        return found
    if isinstance(found, _OWN_PENALTY):
        raise ValueError(f"{name} has a penalty of its own: set that, with alpha=0")
    return Penalized(found, _positive("alpha", alpha), constant)


def _with_rate(learner: Any, rate: float) -> Any:
    """The learner with another factor of its steps: `rate`, or `scale` of adaptive steps."""
    if "rate" in learner.__signature__.parameters:
        return with_parameter(learner, "rate", rate)
    if isinstance(learner, OGD) and isinstance(learner.step, Adaptive):
        return with_parameter(learner, "step__scale", rate)
    if "learner" in learner.__signature__.parameters:
        return with_parameter(learner, "learner", _with_rate(learner.learner, rate))
    raise ValueError(f"{learner!r} has no learning rate: leave learning_rate=None, or use another learner")


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number: got {value!r}") from None
    if not 0.0 < number < math.inf or isinstance(value, bool):
        raise ValueError(f"{name} must be positive and finite: got {value!r}")
    return number
