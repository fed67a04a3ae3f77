"""One pass over a table for the peers: predict each round, then update the scales, then the weights."""

import math
from typing import Any

import numpy as np

from holdfast.lab.trials.scalers import Moments, Still
from holdfast.rule import rule
from holdfast.vectors import dot, largest

FED = 50  # the first rounds only feed the scaler
_FITTED = 1000  # rounds that `RobustScaler` is fitted to beforehand
_WORTH_COMPILING = 350  # rounds


def predictions_of(model, scaler, table):
    """The predictions of a peer behind a scaler. It never meets a row with NaN: scikit-learn would raise."""
    return on_rounds(np.isfinite(table.X).all(axis=1), lambda rows: _learned(model, scaler, rows), table)


def on_rounds(rounds, predict, table):
    """The predictions of a contestant that meets these rounds and no others; NaN elsewhere."""
    predictions = np.full(table.rounds, math.nan)
    rows = table._replace(X=table.X[rounds], y=table.y[rounds], marked=table.marked[rounds])
    predictions[rounds] = predict(rows)
    return predictions


def _learned(model, scaler, table):
    predictions = np.full(table.rounds, math.nan)
    first = table.first(_FITTED)
    features, targets, target_scaler = scaler.fitted(first.X), Moments.empty(1), Still()
    if table.regression:
        targets, target_scaler = scaler.fitted(first.y[:, None]), scaler
    scales = (scaler, features, target_scaler, targets)
    state = model.init(table.X.shape[1])
    played = _call(one_pass, table.X, table.y, *scales, model, state, predictions)
    if not table.regression:  # NaN is not above 0, so to scikit-learn it is the first label
        predictions[:played] = np.where(np.isnan(predictions[:played]), -1.0, predictions[:played])
    return predictions


def _call(function, X, *rest):
    if len(X) < _WORTH_COMPILING:
        with np.errstate(all="ignore"):
            return function(X, *rest)
    from holdfast._compiled import call

    return call(function, X, *rest)


@rule
class WithConstant:
    """A learner of ours for `one_pass`, with a constant as its last weight."""

    learner: Any
    loss: Any

    def init(self, dim):
        return self.learner.init(dim + 1)

    def is_finite(self, state):
        return largest(self.learner.predict(state)) < math.inf

    def output(self, state, x):
        w = self.learner.predict(state)
        return dot(w[:-1], x) + w[-1]

    def learn(self, state, t, x, y):
        row = np.ones(len(x) + 1)
        row[:-1] = x
        return self.learner.update(state, self.loss.slope(self.output(state, x), y), row)


def one_pass(X, y, scaler, features, target_scaler, targets, model, state, predictions):
    """Fill in `predictions`, and return how many rounds were played.

    It ends where a weight is no longer finite: scikit-learn raises there.
    """
    for t in range(len(y)):
        if not model.is_finite(state):
            return t
        n, goal = t + 1.0, y[t : t + 1]
        predictions[t] = targets.mean[0] + targets.width[0] * model.output(state, features.of(X[t]))
        scaler.absorb(features, n, X[t])
        target_scaler.absorb(targets, n, goal)
        if t >= FED:
            state = model.learn(state, n - FED, features.of(X[t]), targets.of(goal)[0])
    return len(y)
