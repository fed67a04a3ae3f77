"""One pass over a table for the peers, in batches: predict all rounds of a batch, then learn from each.

To learn from a round is to update the scales, then the weights. So all predictions of a batch are made with
the scales and the weights at its start, and none of them has to be copied.
"""

import math
from typing import Any

import numpy as np

from holdfast.rounds import Round
from holdfast.rule import rule
from holdfast.vectors import dot, largest
from holdfast_lab.trials.scalers import Moments, Still

FED = 50  # the first rounds only feed the scaler
_FITTED = 1000  # rounds that `RobustScaler` is fitted to beforehand
_WORTH_COMPILING = 350  # rounds


def predictions_of(model, scaler, table, delay=1):
    """The predictions of a peer behind a scaler. It never meets a row with NaN: scikit-learn would raise.

    Batches are those of the whole table, so that one with such a row has fewer rounds.
    """
    rounds = np.isfinite(table.X).all(axis=1)
    blocks = np.flatnonzero(rounds) // delay
    return on_rounds(rounds, lambda rows: _learned(model, scaler, rows, blocks), table)


def on_rounds(rounds, predict, table):
    """The predictions of a contestant that meets these rounds and no others; NaN elsewhere."""
    predictions = np.full(table.rounds, math.nan)
    rows = table._replace(X=table.X[rounds], y=table.y[rounds], marked=table.marked[rounds])
    predictions[rounds] = predict(rows)
    return predictions


def _learned(model, scaler, table, blocks):
    predictions = np.full(table.rounds, math.nan)
    first = table.first(_FITTED)
    features, targets, target_scaler = scaler.fitted(first.X), Moments.empty(1), Still()
    if table.regression:
        targets, target_scaler = scaler.fitted(first.y[:, None]), scaler
    scales = (scaler, features, target_scaler, targets)
    state = model.init(table.X.shape[1])
    played = _call(one_pass, table.X, table.y, blocks, *scales, model, state, predictions)
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
        return self.learner.update(state, Round(self.loss.slope(self.output(state, x), y), row))


def one_pass(X, y, blocks, scaler, features, target_scaler, targets, model, state, predictions):
    """Fill in `predictions`, and return how many were made. `blocks` has the number of each round's batch.

    It ends where a weight is no longer finite at the start of a batch: scikit-learn raises there.
    """
    first = 0
    while first < len(y) and model.is_finite(state):
        last = first
        while last < len(y) and blocks[last] == blocks[first]:
            z = model.output(state, features.of(X[last]))
            predictions[last] = targets.mean[0] + targets.width[0] * z
            last += 1
        for t in range(first, last):
            n, goal = t + 1.0, y[t : t + 1]
            scaler.absorb(features, n, X[t])
            target_scaler.absorb(targets, n, goal)
            if t >= FED:
                state = model.learn(state, n - FED, features.of(X[t]), targets.of(goal)[0])
        first = last
    return first
