"""Scores to judge rounds by instead of sizes: `Robust(model, score=residual)`."""

from river import base


def residual(model, x, y):
    """How far the model is from the answer: |y - prediction|, or the probability of all other labels.

    For any regressor, and any classifier with probabilities. A model that has yet to learn is far from every
    answer, and one that drifts is far from the right ones: give it a small share of outliers.

    Guarantee: none. It is the size of a derivative with regard to the prediction, and not of a gradient: a
    round with a small one may still move a model far.
    """
    if isinstance(model, base.Classifier):
        return 1.0 - model.predict_proba_one(x).get(y, 0.0)
    return abs(y - model.predict_one(x))
