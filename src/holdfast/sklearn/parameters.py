"""Parameters of the estimators that are rules: those inside them by name, and which of them can work."""

import math

from holdfast.defaults import ALL_LEARNERS, LEARNER, named_learner, refuse_experts, refuse_loss, refuse_pair
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
from holdfast.losses import Logistic
from holdfast.protocols import Learner, Loss
from holdfast.role_checks import Rule, check_role
from holdfast.steady import Logits, Ridges

_OF_STEADY = (Ridges, Logits)
_OWN_PENALTY = (
    *_OF_STEADY,
    OnlineRidge,
    VAW,
    RobustRidge,
    OnlineLogistic,
    ScaleInvariant,
    Mixture,
)


def nested_parameters(name, rule):
    """The parameters of a rule, and of the rules inside it, by names such as "learner__domain__radius"."""
    found = {}
    for field in rule.__signature__.parameters:
        value = getattr(rule, field)
        found[f"{name}__{field}"] = value
        if isinstance(value, Rule):
            found |= nested_parameters(f"{name}__{field}", value)
    return found


def with_parameter(rule, path, value):
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


def with_fields(rule, kind, **fields):
    """The rule, with these values of fields in every rule of this kind inside it."""
    if isinstance(rule, kind):
        return rule._replace(**fields)
    if isinstance(rule, Rule):
        parts = {name: with_fields(getattr(rule, name), kind, **fields) for name in rule._parts}
        return rule._replace(**parts)
    return tuple(with_fields(each, kind, **fields) for each in rule) if isinstance(rule, tuple) else rule


def as_rule(name, value, losses):
    """The rule of a parameter of an estimator, also if it is a name or, for the learner, None."""
    if name == "learner" and value is None:
        return LEARNER
    named = ALL_LEARNERS if name == "learner" else losses if name == "loss" else {}
    rule = named.get(value) if isinstance(value, str) else value
    if not isinstance(rule, Rule):
        raise ValueError(f"{name} is {value!r}, which has no parameters of its own")
    return rule


def loss_rule(loss, losses, regression):
    """The loss, from its name or itself. Raises if it is not for this kind of target."""
    if isinstance(loss, str):
        if loss not in losses:
            raise ValueError(f"loss must be one of {', '.join(losses)}, or a loss of holdfast: got {loss!r}")
        return losses[loss]
    if not isinstance(loss, Rule):
        raise TypeError(f"loss must be a name or a loss of holdfast, such as Huber(2.0): got {loss!r}")
    check_role(loss, Loss)
    refuse_loss(loss, regression)
    return loss


def learner_rule(learner, loss, learning_rate=None, alpha=0.0, constant=True):
    """The learner, from its name or itself, with this rate and L2 penalty. Raises if it cannot work."""
    if learner is None:
        learner = LEARNER
    elif isinstance(learner, str):
        learner = named_learner(learner, loss)
    elif not isinstance(learner, _OF_STEADY):
        check_role(learner, Learner)
    if isinstance(learner, _OF_STEADY):
        if learning_rate is not None or alpha != 0.0:
            name = type(learner).__name__
            raise ValueError(f"{name} has neither learning_rate nor alpha: set its own parameters instead")
        own = learner.loss if isinstance(learner, Ridges) else Logistic()
        if own != loss:
            name = type(learner).__name__
            raise ValueError(f"{name} learns with {own!r}, not with {loss!r}: give both the same loss")
        return learner
    refuse_pair(learner, loss)
    refuse_experts(learner)
    if learning_rate is not None:
        learner = with_rate(learner, _positive("learning_rate", learning_rate))
    if alpha == 0.0:
        return learner
    if isinstance(learner, _OWN_PENALTY):
        raise ValueError(f"{type(learner).__name__} has a penalty of its own: set that, with alpha=0")
    return Penalized(learner, _positive("alpha", alpha), constant)


def with_rate(learner, rate):
    """The learner with another factor of its steps: `rate`, or `scale` of adaptive steps."""
    if "rate" in learner.__signature__.parameters:
        return with_parameter(learner, "rate", rate)
    if isinstance(learner, OGD) and isinstance(learner.step, Adaptive):
        return with_parameter(learner, "step__scale", rate)
    if "learner" in learner.__signature__.parameters:
        return with_parameter(learner, "learner", with_rate(learner.learner, rate))
    raise ValueError(f"{learner!r} has no learning rate: leave learning_rate=None, or use another learner")


def _positive(name, value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number: got {value!r}") from None
    if not 0.0 < number < math.inf or isinstance(value, bool):
        raise ValueError(f"{name} must be positive and finite: got {value!r}")
    return number
