"""`holdfast trials --data FOLDER --tune`: the settings of WoLF and QC-SGD, chosen on clean data.

Clean means without the rounds that the source marks, and without corruption. The setting with the smallest
geometric mean of the errors over all data sets, with a delay of 1, is used in all trials.
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.terminal import overwrite, tell
from holdfast_lab.trials.contestants import QCSGD_FOR_LABELS, QCSGD_FOR_NUMBERS, WOLF, behind_our_scale
from holdfast_lab.trials.corruptions import untouched
from holdfast_lab.trials.data import available, load
from holdfast_lab.trials.qcsgd import QCSGD
from holdfast_lab.trials.wolf import WoLF

_ROUNDS = 20_000  # of any stream, at most
_STEPS, _QUANTILES = (0.003, 0.01, 0.03, 0.1), (0.25, 0.5, 0.75, 0.9, 0.95)
_QCSGD = [QCSGD(step, quantile) for step in _STEPS for quantile in _QUANTILES]


class Grid(NamedTuple):
    """The settings of a peer that are tried, and the one in use."""

    used: Any
    tried: list
    regression: bool


GRIDS = [
    Grid(WOLF, [WoLF(cutoff) for cutoff in (1.0, 2.0, 4.0, 8.0)], True),
    Grid(QCSGD_FOR_NUMBERS, _QCSGD, True),
    Grid(QCSGD_FOR_LABELS, _QCSGD, False),
]


class Setting(NamedTuple):
    """A setting, and its errors by data set."""

    learner: Any
    errors: dict[str, float]

    def mean(self):
        """The geometric mean; infinite if it failed somewhere."""
        logs = [math.log(error) if error < math.inf else math.inf for error in self.errors.values()]
        return math.exp(sum(logs) / len(logs)) if math.inf not in logs else math.inf


def tune_peers(folder, grids=GRIDS, delays=(1,)):
    """Print the settings of each peer for each delay, the best first, and mark the one in use."""
    streams = {name: [_clean(table) for table in load(folder, name)] for name in available(folder)}
    for delay, grid in itertools.product(delays, grids):
        chosen = {name: each for name, each in streams.items() if each[0].table.regression == grid.regression}
        settings = []
        for number, learner in enumerate(grid.tried if chosen else (), 1):
            overwrite(f"{type(learner).__name__}: delay {delay}, {number} of {len(grid.tried)}")
            errors = {name: _error(learner, each, delay) for name, each in chosen.items()}
            settings.append(Setting(learner, errors))
        for setting in sorted(settings, key=Setting.mean):
            shown = ", ".join(f"{name} {error:.4g}" for name, error in setting.errors.items())
            mark = "*" if setting.learner == grid.used else " "
            tell(f"{mark} {setting.mean():8.4g}  delay {delay}  {setting.learner}: {shown}")


def _clean(table):
    table = table.first(_ROUNDS)
    good = ~table.marked
    return untouched(table._replace(X=table.X[good], y=table.y[good], marked=table.marked[good]))


def _error(learner, streams, delay):
    errors = [each.errors(behind_our_scale(learner, each.table, delay))[each.scored] for each in streams]
    error = float(np.concatenate(errors).mean())
    return error if math.isfinite(error) else math.inf
