"""The forecasts that were given: everything that predicts, frozen when a batch began."""

from typing import NamedTuple

import numpy as np

Y_CENTER, Y_FACTOR, LOW, HIGH, EPOCH = range(5)


class Asked(NamedTuple):
    """Weights and units at the time when they were asked for forecasts."""

    v: np.ndarray  # the weights of the deployed forecast
    each: np.ndarray  # those of each regression
    fallback: np.ndarray
    center: np.ndarray
    factors: np.ndarray
    row: np.ndarray  # a buffer
    numbers: np.ndarray  # center, factor and range of the target; and the epoch


def nothing_asked(learners, dim):
    """What a state that knows nothing would have said."""
    weights = (np.zeros(dim + 1), np.zeros((learners, dim + 1)), np.zeros(dim + 1))
    numbers = np.zeros(5)
    numbers[EPOCH] = -1.0
    return Asked(*weights, np.zeros(dim), np.zeros(dim), np.zeros(dim + 1), numbers)
