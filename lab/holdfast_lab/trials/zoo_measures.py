"""Measure an estimator on a table of the zoo, beside least squares on clean rows.

Four measurements of each table: a stream, where each batch is predicted before it is learned, and `fit` on
two thirds of the rows; both with clean rows, and with 5 % of the cells of the first column x 1000 in what is
learned. Predicted are always clean rows. The peer learns from clean rows only: `LinearRegression` or
`LogisticRegression`, behind a `StandardScaler`; in a stream it is fitted again on all rows so far every 500
rows.
"""

import warnings
import zlib
from typing import NamedTuple

import numpy as np

from holdfast.audit import HoldfastWarning
from holdfast_lab.trials.zoo import ZOO, make

WAYS = {"stream": 1.10, "fit": 1.10, "stream, bad cells": 1.15, "fit, bad cells": 1.15}  # and the goal
BATCH, REFITTED = 50, 500  # rows: of a batch, and between two fits of the peer in a stream
BAD, FACTOR = 0.05, 1000.0  # the share of bad cells, and what they are multiplied by
TINY, FLOOR = 1e-6, 1e-3  # of the spread: a peer's error below the one counts as the other


class ZooRow(NamedTuple):
    """One table: the peer's error in a stream and after `fit`, and ours over it in each of the `WAYS`."""

    animal: str
    labels: bool
    peer: tuple[float, float]
    ratios: tuple[float, ...]
    floored: bool  # the peer has no error, and ours is compared with 0.1 % of the spread

    @property
    def name(self):
        return f"{self.animal}, labels" if self.labels else self.animal

    def missed(self):
        """For each of the `WAYS`, whether the goal is missed; NaN misses it."""
        has_goal = not ZOO[self.animal].remark
        return [has_goal and not r <= most for r, most in zip(self.ratios, WAYS.values(), strict=True)]


class Refitted:
    """A peer for streams: fitted on all rows so far, and again when there are 500 more."""

    def __init__(self, model):
        self.model, self.rows, self.targets, self.fitted = model, [], [], 0

    def partial_fit(self, X, y, **_):
        self.rows.append(X)
        self.targets.append(y)

    def predict(self, X):
        y = np.concatenate(self.targets)
        if self.fitted == 0 or len(y) - self.fitted >= REFITTED:
            self.fitted = len(y)
            self.model.fit(np.concatenate(self.rows), y)
        return self.model.predict(X)


def default_estimator(labels):
    from holdfast.sklearn import RobustClassifier, RobustRegressor

    return RobustClassifier(random_state=0) if labels else RobustRegressor(random_state=0)


def peer_estimator(labels):
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=2000) if labels else LinearRegression()
    )


def measure(name, labels=False, quick=False, estimator=default_estimator):
    """The row of an animal, with numbers or with labels; the same in each call."""
    animal, table = ZOO[name], make(name, labels, quick)
    rng = np.random.default_rng([zlib.crc32(name.encode()), 2])
    streamed, fitted = _stream(animal, table, rng), _fit(animal, table, rng)
    bad = table.X.copy()
    bad[rng.random(len(bad)) < BAD, 0] *= FACTOR
    peer = streamed(Refitted(peer_estimator(labels)), table.X), fitted(peer_estimator(labels), table.X)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", HoldfastWarning
        )  # many rows are skipped: the ratio says whether rightly
        ours = [way(estimator(labels), X) for X in (table.X, bad) for way in (streamed, fitted)]
    spread = np.abs(table.y - np.median(table.y)).mean()
    least = [compared_with(error, spread) for error in peer]
    ratios = tuple(float(error / below) for error, below in zip(ours, least * 2, strict=True))
    return ZooRow(name, labels, peer, ratios, any(a != b for a, b in zip(peer, least, strict=True)))


def compared_with(error, spread):
    """What our error is divided by: the peer's, or 0.1 % of the spread if that is next to nothing."""
    return max(error, FLOOR * spread) if error < TINY * spread else error


def _stream(animal, table, rng):
    """A function of a model and of what it learns from: its error on the rows asked before each batch."""
    rows = len(table.y)
    starts, spared = range(0, rows, BATCH), rows * animal.spared // animal.rows
    asked = {
        start: rng.integers(start, size=BATCH) if animal.old else np.arange(start, min(start + BATCH, rows))
        for start in starts
        if start >= spared
    }

    def error(model, learned):
        errors = []
        for start in starts:
            if start in asked:
                errors.append(_errors(model, table, asked[start]))
            batch = slice(start, start + BATCH)
            known = {"classes": [0, 1]} if table.labels else {}
            model.partial_fit(learned[batch], table.y[batch], **known)
        return float(np.concatenate(errors).mean())

    return error


def _fit(animal, table, rng):
    """A function of a model and of what it learns from: its error on the others, or on the same."""
    rows = np.arange(len(table.y)) if animal.timed else rng.permutation(len(table.y))
    train, rest = np.split(rows, [len(rows) * 2 // 3])

    def error(model, learned):
        model.fit(learned[train], table.y[train])
        return float(_errors(model, table, train if animal.old else rest).mean())

    return error


def _errors(model, table, rows):
    """How far off each prediction is; for labels, whether it is wrong."""
    return np.abs(model.predict(table.X[rows]) - table.y[rows])
