"""River's contestants."""

import math

import numpy as np

_SUSPECT = 0.95  # rows with scores above this quantile are skipped, as in the example of QuantileFilter


def plain_river(table):
    """StandardScaler | LinearRegression or LogisticRegression."""
    from river import linear_model, preprocessing

    model = linear_model.LinearRegression() if table.regression else linear_model.LogisticRegression()
    return _learned(preprocessing.StandardScaler() | model, table)


def filtered_river(table):
    """The same with River's means against outliers: an anomaly filter, and gradients clipped at 1.

    River clips the slope of the loss, so targets are standardised.
    """
    from river import anomaly, linear_model, preprocessing

    suspicion = anomaly.QuantileFilter(anomaly.OneClassSVM(), q=_SUSPECT)
    if table.regression:
        model = preprocessing.TargetStandardScaler(linear_model.LinearRegression(clip_gradient=1.0))
    else:
        model = linear_model.LogisticRegression(clip_gradient=1.0)
    return _learned(preprocessing.StandardScaler() | suspicion | model, table)


def _learned(model, table):
    """The predictions of a model, up to the round in which it raises. It never meets a row with NaN."""
    predictions = np.full(table.rounds, math.nan)
    for t in np.flatnonzero(np.isfinite(table.X).all(axis=1)):
        x = dict(enumerate(table.X[t].tolist()))
        try:
            if table.regression:
                predictions[t] = model.predict_one(x)
                model.learn_one(x, float(table.y[t]))
            else:
                predictions[t] = model.predict_proba_one(x).get(True, 0.5) - 0.5
                model.learn_one(x, bool(table.y[t] > 0.0))
        except (OverflowError, ValueError, ZeroDivisionError):
            break
    return predictions
