"""From targets to the targets of each game, and from the outcomes of games to predictions and errors."""

import numpy as np


def targets_of(target, y):
    """The targets in the game of each label: numbers, or +1 for the label and -1 for all others."""
    if target.regression:
        return [np.where(np.isfinite(y), y, np.nan)]
    codes = [1] if len(target.labels) == 2 else range(len(target.labels))
    return [np.where(y == float(code), 1.0, -1.0) for code in codes]


def predictions_of(target, outcomes):
    """The prediction of each round, from a column for each game: a number, or the index of a label."""
    if target.regression:
        return outcomes[:, 0]
    return (outcomes[:, 0] > 0.0 if outcomes.shape[1] == 1 else outcomes.argmax(axis=1)).astype(float)


def errors_of(target, outcomes, predicted, y):
    """The error of each prediction; NaN if it is unknown."""
    known = np.isfinite(outcomes).all(axis=1) & np.isfinite(y)
    with np.errstate(all="ignore"):
        errors = np.abs(predicted - y) if target.regression else predicted != y
    return np.where(known, errors, np.nan)
