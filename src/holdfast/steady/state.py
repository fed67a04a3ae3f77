"""The state of the default, and of its forecasts as they were asked for."""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.steady.epochs import Epoch
from holdfast.steady.hedge import HedgeState
from holdfast.steady.units import Units

EPOCH, LOW, HIGH, ROUNDS, Y_CENTER, Y_FACTOR = range(6)
NEVER, NOW = -1.0, -2.0  # in place of the epoch of what was asked: nothing was; it is always the state of now


class Asked(NamedTuple):
    """Everything that predicts, frozen when a batch began.

    With batches of one round the epoch is `NOW`: the state itself predicts, and only numbers are copied.
    """

    v: np.ndarray  # the weights of the deployed forecast
    each: np.ndarray  # those of each regression
    fallback: np.ndarray
    center: np.ndarray
    factors: np.ndarray
    row: np.ndarray  # a buffer
    numbers: np.ndarray  # those of the state at that time; center and factor of the target


class SteadyState(NamedTuple):
    """The state of the default. All arrays are changed in place; only the filters return other states."""

    learner: Any
    gate: Any
    surprise: Any
    units: Units
    fallback: Any
    hedge: HedgeState
    asked: Asked
    v: np.ndarray  # the weights of the deployed forecast, now
    row: np.ndarray  # a buffer: the row as it is learned from
    raw: np.ndarray  # a buffer: the row in its own units, missing cells filled, and the target
    losses: np.ndarray  # a buffer
    first: np.ndarray  # the first rounds, each with its target and its weight
    start: np.ndarray  # centers and factors at the last start
    runs: np.ndarray  # 1 if the last row was refused; 1 if the last target was
    learned: Epoch  # what the theorem needs of the rounds since the fallback started again
    numbers: np.ndarray  # how often units were replaced, -1 before the first start; the range of the targets
    # that were predictable; the number of readable rounds


def nothing_asked(learners: int, dim: int) -> Asked:
    """What a state that knows nothing would have said."""
    weights = (np.zeros(dim + 1), np.zeros((learners, dim + 1)), np.zeros(dim + 1))
    numbers = np.zeros(6)
    numbers[EPOCH] = NEVER
    return Asked(*weights, np.zeros(dim), np.zeros(dim), np.zeros(dim + 1), numbers)


def first_numbers() -> np.ndarray:
    """The numbers of a state before its first round."""
    return np.array([-1.0, math.inf, -math.inf, 0.0])


def with_filters(state: SteadyState, gate: Any, surprise: Any) -> SteadyState:
    """The same arrays, with other states of the filters."""
    parts = (state.learner, gate, surprise, state.units, state.fallback, state.hedge, state.asked)
    buffers = (state.v, state.row, state.raw, state.losses)
    return SteadyState(*parts, *buffers, state.first, state.start, state.runs, state.learned, state.numbers)
