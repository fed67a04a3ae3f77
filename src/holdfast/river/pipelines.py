"""Walk through the steps of a River pipeline."""

from typing import Any

from river import base, compose, preprocessing

# The steps that can transform a row with a missing value.
_ALLOW_MISSING = (
    *(preprocessing.StatImputer, preprocessing.PreviousImputer),
    *(compose.Select, compose.Discard, compose.SelectType, compose.FuncTransformer),
)


def has_imputer(model: Any) -> bool:
    """Whether a step of a pipeline replaces missing values."""
    if isinstance(model, compose.Pipeline | compose.TransformerUnion):
        parts = model.steps if isinstance(model, compose.Pipeline) else model.transformers
        return any(has_imputer(part) for part in parts.values())
    return isinstance(model, preprocessing.StatImputer | preprocessing.PreviousImputer)


def last_step(model: Any, x: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and the features that it gets. No transformer learns from this.

    Raises ValueError if a value is missing and no imputer has replaced it.
    """
    while isinstance(model, compose.Pipeline):
        *transformers, last = model.steps.values()
        for step in transformers:
            if not isinstance(step, base.AnomalyFilter):
                if not isinstance(step, _ALLOW_MISSING):
                    _refuse_missing(x)
                x = step.transform_one(x)
        model = last
    _refuse_missing(x)
    return model, x


def _refuse_missing(x: Any) -> None:
    if not isinstance(x, str) and None in x.values():
        raise ValueError(f"a value is missing, and no imputer replaces it: {x}")


def teach_transformers(model: Any, x: Any) -> None:
    """Let the transformers before the last step learn these features, except those that need y."""
    while isinstance(model, compose.Pipeline):
        *transformers, last = model.steps.values()
        for step in transformers:
            if not isinstance(step, base.AnomalyFilter):
                parts = step.transformers.values() if isinstance(step, compose.TransformerUnion) else [step]
                for part in parts:
                    if not part._supervised:
                        part.learn_one(x)
                x = step.transform_one(x)
        model = last
