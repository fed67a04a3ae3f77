"""`Steady` with the settings that the estimators use."""

import math
import numbers

import numpy as np

from holdfast.filters import Everything, TopK, TopShare
from holdfast.learners.bettors import Bettors
from holdfast.losses import Absolute, Logistic
from holdfast.role_checks import Rule
from holdfast.steady.hedge import Hedge
from holdfast.steady.player import Steady
from holdfast.steady.ridges import Ridges

PATIENCE = 1000  # rounds
MOST_COLUMNS = 300  # with a full covariance, whose rounds take 38 µs there; a diagonal one takes 14
_WINDOW = 3  # patiences
_SQUARED = 3.0  # units: where the slope of a squared loss is cut for the fallback


def ridges_for(loss):
    """The regressions for numbers and this loss."""
    return Ridges(loss, redescends=isinstance(loss, Absolute))


def for_numbers(learner, outliers="auto", memory=None, patience=PATIENCE, delay=1, weighted=False):
    """The default for numbers. `memory`, in rows, is the longest that a regression has."""
    if memory is not None:
        learner = learner._replace(memories=_at_most(learner.memories, memory), memory=max(memory, 2.0))
    steepest = learner.loss.lipschitz()
    fallback = Bettors(steepest if steepest < math.inf else _SQUARED, largest=40.0, constant=True)
    return Steady(
        learner,
        learner.loss,
        gate_for(outliers, 0.15, 15.0, patience),
        gate_for(outliers, 0.15, 8.0, patience),
        fallback,
        Hedge(),
        knee=30.0,
        most=40.0,
        near=15.0,
        wrong=0.12,
        delay=delay,
        weighted=weighted,
    )


def for_labels(learner, outliers="auto", memory=None, patience=PATIENCE, delay=1, weighted=False):
    """The default for labels -1 and +1 and log loss. `memory` as in `for_numbers`."""
    if memory is not None:
        learner = learner._replace(memories=_at_most(learner.memories, memory), memory=max(memory, 2.0))
    return Steady(
        learner,
        Logistic(),
        gate_for(outliers, 0.15, 100.0, patience),
        Everything(),
        Bettors(largest=8.0, wealth=2.0, constant=True),
        Hedge(rate=1.0),
        knee=1.5,
        most=8.0,
        near=100.0,
        wrong=0.12,
        delay=delay,
        weighted=weighted,
    )


def gate_for(outliers, auto, slack, patience):
    """The filter for `outliers`: "auto", a share, a count or a filter. All measure the farthest cell."""
    if isinstance(outliers, Rule):
        return outliers
    share = auto if isinstance(outliers, str) else outliers
    if isinstance(share, numbers.Real) and 0.0 < share < 1.0:
        return TopShare(float(share), slack=slack, window=int(_WINDOW * patience), patience=int(patience))
    return Everything() if share == 0 else TopK(int(share), slack=slack)


def _at_most(memories, memory):
    return np.minimum(memories, memory)
