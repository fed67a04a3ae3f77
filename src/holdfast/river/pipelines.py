"""The transformers of a pipeline, without its last step."""

from river import base, compose


def teach_transformers(model, x):
    """Let the transformers before the last step learn these features; those that learn from y do not."""
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
