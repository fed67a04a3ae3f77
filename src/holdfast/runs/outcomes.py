"""From targets to the targets of each game, and from the outcomes of games to predictions and errors."""

import numpy as np

from holdfast.classes import class_margins


def targets_of(target, y):
    """The targets in each game: numbers, or +1 and -1 for two labels, or for a label and all others.

    In the game of a pair, the target is NaN for rows of other labels: they are predicted, and change nothing.
    A row without a label is one of the first game only.
    """
    if target.regression:
        return [np.where(np.isfinite(y), y, np.nan)]
    unknown, found = np.isnan(y), []
    for model in target.class_models():
        signs, taught = model.split(y)
        found.append(np.where(taught | unknown if not found else taught, signs, np.nan))
    return found


def margins_of(target, outcomes, paired=True):
    """A number for each label if there are three or more, from a column for each game; else the column."""
    return class_margins(outcomes, target.class_models(paired)) if len(target.labels) > 2 else outcomes


def predictions_of(target, margins):
    """The prediction of each round, from its margins: a number, or the index of a label."""
    if target.regression:
        return margins[:, 0]
    return (margins[:, 0] > 0.0 if margins.shape[1] == 1 else margins.argmax(axis=1)).astype(float)


def errors_of(target, margins, predicted, y):
    """The error of each prediction; NaN if it is unknown."""
    known = np.isfinite(margins).all(axis=1) & np.isfinite(y)
    with np.errstate(all="ignore"):
        errors = np.abs(predicted - y) if target.regression else predicted != y
    return np.where(known, errors, np.nan)
