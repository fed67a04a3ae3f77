"""River's contestants."""

import math

import numpy as np

_SUSPECT = 0.95  # rows with scores above this quantile are skipped, as in the example of QuantileFilter


def plain_river(table, delay=1):
    """StandardScaler | LinearRegression or LogisticRegression."""
    from river import linear_model, preprocessing

    model = linear_model.LinearRegression() if table.regression else linear_model.LogisticRegression()
    return _learned(preprocessing.StandardScaler() | model, table, delay)


def filtered_river(table, delay=1):
    """The same with River's means against outliers: an anomaly filter, and gradients clipped at 1.

    River clips the slope of the loss, so targets are standardised.
    """
    from river import anomaly, linear_model, preprocessing

    suspicion = anomaly.QuantileFilter(anomaly.OneClassSVM(), q=_SUSPECT)
    if table.regression:
        model = preprocessing.TargetStandardScaler(linear_model.LinearRegression(clip_gradient=1.0))
    else:
        model = linear_model.LogisticRegression(clip_gradient=1.0)
    return _learned(preprocessing.StandardScaler() | suspicion | model, table, delay)


def _learned(model, table, delay):
    """The predictions of a model, up to the batch in which it raises. It never meets a row with NaN.

    All rounds of a batch are predicted before the first of them is learned from.
    """
    predictions = np.full(table.rounds, math.nan)
    finite = np.isfinite(table.X).all(axis=1)
    for start in range(0, table.rounds, delay):
        rounds = start + np.flatnonzero(finite[start : start + delay])
        rows = [dict(enumerate(table.X[t].tolist())) for t in rounds]
        try:
            for t, x in zip(rounds, rows, strict=True):
                predictions[t] = _predicted(model, x, table.regression)
            for t, x in zip(rounds, rows, strict=True):
                model.learn_one(x, float(table.y[t]) if table.regression else bool(table.y[t] > 0.0))
        except (OverflowError, ValueError, ZeroDivisionError):
            break
    return predictions


def _predicted(model, x, regression):
    return model.predict_one(x) if regression else model.predict_proba_one(x).get(True, 0.5) - 0.5
