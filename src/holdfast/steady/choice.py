"""`Steady` with the settings that the estimators use."""

import math
import numbers
from typing import Any

import numpy as np

from holdfast.filters import Everything, TopK, TopShare
from holdfast.learners.bettors import Bettors
from holdfast.losses import Absolute, Logistic
from holdfast.protocols import Loss
from holdfast.roles import Rule
from holdfast.rule import replaced
from holdfast.steady.hedge import Hedge
from holdfast.steady.logits import Logits
from holdfast.steady.player import Steady
from holdfast.steady.ridges import Ridges

PATIENCE = 1000  # rounds
MOST_COLUMNS = 300  # with a full covariance, whose rounds take 38 µs there; a diagonal one takes 14
_WINDOW = 3  # patiences
_LABEL_RATE = 0.3  # at 1, 2 % more mistakes in batches of 500; at 0.1, 1.5 times as many after a burst
_SQUARED = 3.0  # units: where the slope of a squared loss is cut for the fallback


def ridges_for(loss: Loss) -> Ridges:
    """The regressions for numbers and this loss."""
    return Ridges(loss, redescends=isinstance(loss, Absolute))


def steady_for(
    learner: Any,
    outliers: Any = "auto",
    memory: float | None = None,
    patience: int = PATIENCE,
    delay: int = 1,
    weighted: bool = False,
) -> Steady:
    """The default for numbers, with `Ridges`; for labels -1 and +1 and log loss, with `Logits`.

    `memory`, in rows, is the longest that a regression has.
    """
    if memory is not None:
        memories = np.minimum(learner.memories, memory)
        learner = replaced(learner, memories=memories, memory=max(memory, 2.0))
    if isinstance(learner, Logits):
        loss, gate, surprise = Logistic(), gate_for(outliers, 0.15, 100.0, patience), Everything()
        fallback, hedge = Bettors(largest=8.0, wealth=2.0, constant=True), Hedge(rate=_LABEL_RATE)
        knee, most, near = 1.5, 8.0, 100.0
    else:
        loss, gate = learner.loss, gate_for(outliers, 0.15, 15.0, patience)
        steepest, surprise = loss.lipschitz(), gate_for(outliers, 0.15, 8.0, patience)
        fallback = Bettors(steepest if steepest < math.inf else _SQUARED, largest=40.0, constant=True)
        hedge, knee, most, near = Hedge(), 30.0, 40.0, 15.0
    parts = (learner, loss, gate, surprise, fallback, hedge)
    return Steady(*parts, knee, most, near, wrong=0.12, delay=delay, weighted=weighted)


def gate_for(outliers: Any, auto: float, slack: float, patience: int) -> Any:
    """The filter for `outliers`: "auto", a share, a count or a filter. All measure the farthest cell."""
    if isinstance(outliers, Rule):
        return outliers
    share = auto if isinstance(outliers, str) else outliers
    if isinstance(share, numbers.Real) and 0.0 < float(share) < 1.0:
        return TopShare(float(share), slack=slack, window=int(_WINDOW * patience), patience=int(patience))
    return Everything() if share == 0 else TopK(int(share), slack=slack)
