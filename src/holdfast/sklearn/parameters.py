"""The learner of an estimator: parameters that are rules, by name; for small tables the regularisation."""

import math
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.learners import (
    OGD,
    VAW,
    Adaptive,
    Mixture,
    OnlineLogistic,
    OnlineRidge,
    Penalized,
    RobustRidge,
    Scaled,
    ScaleInvariant,
)
from holdfast.learners.missing_cells import missing_with
from holdfast.linear_model import LinearModels
from holdfast.options import LEARNER, read_learner, read_loss, read_outliers
from holdfast.roles import Rule
from holdfast.sklearn.rows import filled
from holdfast.steady import Logits, Ridges, Steady

MOST_DENSE = 1_000  # columns of sparse rows: the default learner takes O(columns), so with more it is another
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


def with_missing(rule: Any, share: float) -> Any:
    """The rule, with this share of missing cells allowed in `Steady`, or in every `Scaled` inside it."""
    return with_fields(rule, Steady | Scaled, missing=missing_with(share))


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


_FEW_ROWS = 200
_MANY_COLUMNS = 1000  # with these, learners of second order take a few seconds for _FEW_ROWS
_ROWS_A_COLUMN = 5
_LEAST_ROWS = 10
_STRENGTHS = np.logspace(-0.5, 4.0, 10)
_FACTOR = 3.0  # some of the learners forget, and need more regularisation than ridge regression does
_FAR = 10.0  # standard deviations: cells that are farther count as this
_CAP = 5.0  # times the smallest median: larger errors count as this


def columns_for_learner(X: Any, all_rows: bool) -> float:
    """The number of columns by which to choose a learner: 0 if the table is so small that each is fast.

    It is infinite for sparse rows that are too wide to be learned from as dense ones.
    """
    if sp.issparse(X) and X.shape[1] > MOST_DENSE:
        return np.inf
    return 0 if all_rows and X.shape[0] <= _FEW_ROWS and X.shape[1] <= _MANY_COLUMNS else X.shape[1]


def is_small(X: Any, learner: Any) -> bool:
    """Whether regularisation matters for these rows, and the learner is one of which it can be chosen."""
    few = X.shape[0] <= max(_FEW_ROWS, _ROWS_A_COLUMN * X.shape[1])
    return few and isinstance(learner, Ridges)


def regularised(
    player: Any, X: Any, y: NDArray[np.float64], model: LinearModels, missing_share: float, passes: int
) -> Any:
    """The player, with the best strength for these rows if it learns from them in so many passes.

    The rows are standardised as a model has them.
    """
    Z = (filled(X, model.center[0], missing_share) - model.center[0]) * model.factors[0]
    strength = best_strength(np.clip(Z, -_FAR, _FAR), y) if len(y) >= _LEAST_ROWS else 1.0
    return player._replace(learner=player.learner._replace(strength=passes * _FACTOR * strength))


def best_strength(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """The strength of ridge regression, with an intercept, that has the smallest leave-one-out errors.

    X has no missing cells, and columns of about the same scale. Far errors count as five medians, so that a
    few wrong targets do not decide. One decomposition of X gives the errors for all strengths (Golub, Heath
    and Wahba, "Generalized cross-validation", 1979).

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 40))
    >>> best_strength(X, X[:, 0]) < best_strength(X, X[:, 0] + 10.0 * rng.standard_normal(50))
    True
    """
    y = y - y.mean()
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    errors = []
    for strength in _STRENGTHS:
        shares = s * s / (s * s + strength)
        own = (U * U) @ shares + 1.0 / len(y)  # how much a target moves its own prediction
        errors.append(np.abs(y - U @ (shares * (U.T @ y))) / np.maximum(1.0 - own, 1e-6))
    cap = _CAP * np.median(errors, axis=1).min()
    return float(_STRENGTHS[np.argmin((np.minimum(errors, cap) ** 2).mean(axis=1))])
