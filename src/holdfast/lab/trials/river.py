"""River, one dictionary at a time."""

import math

import numpy as np

_SUSPECT = 0.95  # scores above this quantile are not learned from, as in the example of QuantileFilter


def plain_river(table):
    """StandardScaler | LinearRegression or LogisticRegression."""
    from river import linear_model, preprocessing

    model = linear_model.LinearRegression() if table.regression else linear_model.LogisticRegression()
    return _learned(preprocessing.StandardScaler() | model, table)


def filtered_river(table):
    """The same with what River has against outliers: an anomaly filter, and gradients clipped at 1.

    That is a slope, so targets are standardised before.
    """
    from river import anomaly, linear_model, preprocessing

    doubt = anomaly.QuantileFilter(anomaly.OneClassSVM(), q=_SUSPECT)
    if table.regression:
        model = preprocessing.TargetStandardScaler(linear_model.LinearRegression(clip_gradient=1.0))
    else:
        model = linear_model.LogisticRegression(clip_gradient=1.0)
    return _learned(preprocessing.StandardScaler() | doubt | model, table)


def _learned(model, table):
    """Its predictions, up to the round that is too much for it. It never sees a row with NaN."""
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
