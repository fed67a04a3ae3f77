"""How large the gradient of a round is, where a River model has a linear form and a loss."""

import functools
import math

from river import base, compose, linear_model, preprocessing
from river.linear_model.base import GLM


@functools.singledispatch
def gradient_size(model, x, y, w=1.0):
    """The Euclidean length of the gradient of the model's loss, of weight w, in weights and intercept.

    None for a model of which none is known. `gradient_size.register` makes that of another one known: a
    function of the model, the features as it sees them, the answer and the weight of a round.
    """
    return None


@gradient_size.register
def _(model: GLM, x, y, w=1.0):
    """|h'(<w, x> + b)| |(x, 1)|: what `learn_one` multiplies by its learning rates, without penalties."""
    slope = w * model.loss.gradient(y_true=y, y_pred=model._raw_dot_one(x))
    return abs(max(-model.clip_gradient, min(slope, model.clip_gradient))) * math.hypot(1.0, *x.values())


@gradient_size.register(linear_model.PAClassifier)
@gradient_size.register(linear_model.PARegressor)
def _(model, x, y, w=1.0):
    """The subgradient of the hinge, of which a passive-aggressive step is a multiple."""
    z = sum(value * model.weights.get(name, 0.0) for name, value in x.items()) + model.intercept
    return w * abs(model.loss.gradient(y_true=y, y_pred=z)) * math.hypot(1.0, *x.values())


@gradient_size.register
def _(model: linear_model.SoftmaxRegression, x, y, w=1.0):
    """Of the weights of all labels together; there is no intercept."""
    slopes = model.loss.gradient(y_true=y, y_pred=model.predict_proba_one(x))
    return w * math.hypot(*slopes.values()) * math.hypot(*x.values())


@gradient_size.register
def _(model: compose.TargetTransformRegressor, x, y, w=1.0):
    """That of the model inside, with its target as it stands. This includes `TargetStandardScaler`."""
    return gradient_size(model.regressor, x, model.func(y), w)


# The steps that can learn from a row in which a value is missing.
_FOR_MISSING = (
    *(preprocessing.StatImputer, preprocessing.PreviousImputer),
    *(compose.Select, compose.Discard, compose.SelectType, compose.FuncTransformer),
)


def last_step(model, x):
    """The last step of a pipeline, and the features as it sees them; no transformer learns from this.

    A ValueError, if a value is missing where no imputer is.
    """
    while isinstance(model, compose.Pipeline):
        *transformers, last = model.steps.values()
        for step in transformers:
            if not isinstance(step, base.AnomalyFilter):
                _refuse_missing(x, unless=isinstance(step, _FOR_MISSING))
                x = step.transform_one(x)
        model = last
    _refuse_missing(x, unless=False)
    return model, x


def _refuse_missing(x, unless):
    if not unless and not isinstance(x, str) and None in x.values():
        raise ValueError(f"something is missing, and no imputer is there: {x}")


def has_gradient(model):
    """Whether there is a gradient to be measured at the last step."""
    while isinstance(model, compose.Pipeline):
        *_, model = model.steps.values()
    return gradient_size.dispatch(type(model)) is not gradient_size.dispatch(object)
