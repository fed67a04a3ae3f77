"""Scores that can replace the sizes of a row: `Robust(model, score=residual)`."""

from river import base


def residual(model, x, y):
    """The error of the prediction: |y - prediction|, or the probability of all other labels.

    For any regressor, and any classifier with probabilities. Errors are also large while a model is new or
    the stream changes, and not only at outliers: so use a small share of outliers.

    Guarantee: none. It is the size of a derivative with respect to the prediction, not of a gradient: a row
    with a small residual may still change the model much.
    """
    if isinstance(model, base.Classifier):
        return 1.0 - model.predict_proba_one(x).get(y, 0.0)
    return abs(y - model.predict_one(x))
