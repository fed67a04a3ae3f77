"""Sizes of a row that depend on the model: that of the gradient, for linear models, and the residual."""

import functools
import math
from typing import Any

from river import base, compose, linear_model
from river.linear_model.base import GLM


@functools.singledispatch
def gradient_size(model: Any, x: dict[Any, Any], y: Any, w: float = 1.0) -> float | None:
    """The Euclidean norm of the gradient of w times the model's loss, with respect to weights and intercept.

    None if the gradient of the model is not known. `gradient_size.register` adds another type of model: a
    function of the model, the features that it gets, the target and the weight of a row.
    """
    return None


@gradient_size.register
def _(model: GLM, x: dict[Any, Any], y: Any, w: float = 1.0) -> float:
    """|h'(<w, x> + b)| |(x, 1)|: what `learn_one` multiplies by its learning rates; without penalties."""
    slope = w * model.loss.gradient(y_true=y, y_pred=model._raw_dot_one(x))
    return abs(max(-model.clip_gradient, min(slope, model.clip_gradient))) * math.hypot(1.0, *x.values())


@gradient_size.register(linear_model.PAClassifier)
@gradient_size.register(linear_model.PARegressor)
def _(model: Any, x: dict[Any, Any], y: Any, w: float = 1.0) -> float:
    """The subgradient of the hinge loss; a passive-aggressive step is a multiple of it."""
    z = sum(value * model.weights.get(name, 0.0) for name, value in x.items()) + model.intercept
    return w * abs(model.loss.gradient(y_true=y, y_pred=z)) * math.hypot(1.0, *x.values())


@gradient_size.register
def _(model: linear_model.SoftmaxRegression, x: dict[Any, Any], y: Any, w: float = 1.0) -> float:
    """The gradient with respect to the weights of all labels; there is no intercept."""
    slopes = model.loss.gradient(y_true=y, y_pred=model.predict_proba_one(x))
    return w * math.hypot(*slopes.values()) * math.hypot(*x.values())


@gradient_size.register
def _(model: compose.TargetTransformRegressor, x: dict[Any, Any], y: Any, w: float = 1.0) -> float | None:
    """The gradient of the model inside, at the transformed target. `TargetStandardScaler` is one of these."""
    return gradient_size(model.regressor, x, model.func(y), w)


def has_gradient(model: Any) -> bool:
    """Whether there is a `gradient_size` for the last step of this model."""
    while isinstance(model, compose.Pipeline):
        *_, model = model.steps.values()
    return gradient_size.dispatch(type(model)) is not gradient_size.dispatch(object)


def residual(model: Any, x: dict[Any, Any], y: Any) -> float:
    """The error of the prediction: |y - prediction|, or the probability of all other labels.

    For any regressor, and any classifier with probabilities. Errors are also large while a model is new or
    the stream changes, and not only at outliers: so use a small share of outliers.

    Guarantee: none. It is the size of a derivative with respect to the prediction, not of a gradient: a row
    with a small residual may still change the model much.
    """
    if isinstance(model, base.Classifier):
        return 1.0 - model.predict_proba_one(x).get(y, 0.0)
    return abs(y - model.predict_one(x))
