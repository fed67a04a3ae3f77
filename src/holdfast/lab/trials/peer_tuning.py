"""`holdfast trials --data FOLDER --tune`: the settings of WoLF and QC-SGD, chosen on clean data.

Clean means without the rounds that the source marks, and without corruption. The setting with the smallest
geometric mean of the errors over all data sets is used in all trials.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from holdfast.lab.trials.contestants import HALF_LIFE, QCSGD_FOR_LABELS, QCSGD_FOR_NUMBERS, WOLF, Peer
from holdfast.lab.trials.corruptions import SPARED, untouched
from holdfast.lab.trials.data import available, load
from holdfast.lab.trials.one_pass import predictions_of
from holdfast.lab.trials.qcsgd import QCSGD
from holdfast.lab.trials.scalers import Fading, Running
from holdfast.lab.trials.sgd import LogSlope, SquaredSlope
from holdfast.lab.trials.wolf import WoLF
from holdfast.terminal import overwrite, tell

_ROUNDS = 20_000  # of any stream, at most
_STEPS, _QUANTILES = (0.003, 0.01, 0.03, 0.1, 0.3), (0.25, 0.5, 0.75, 0.9, 0.95)
_CUTOFFS, _SCALERS = (1.0, 2.0, 4.0, 8.0), (Running(), Fading(HALF_LIFE))


def _qcsgd(loss):
    models = [QCSGD(loss, step, quantile) for step in _STEPS for quantile in _QUANTILES]
    return [Peer(model, scaler) for model in models for scaler in _SCALERS]


GRID = {  # in use -> all that were tried
    WOLF: [Peer(WoLF(cutoff), scaler) for cutoff in _CUTOFFS for scaler in _SCALERS],
    QCSGD_FOR_NUMBERS: _qcsgd(SquaredSlope()),
    QCSGD_FOR_LABELS: _qcsgd(LogSlope()),
}


class Setting(NamedTuple):
    """A setting, and its errors by data set."""

    peer: Any
    errors: dict[str, float]

    def mean(self):
        """The geometric mean; infinite if it failed somewhere."""
        logs = [math.log(error) if error < math.inf else math.inf for error in self.errors.values()]
        return math.exp(sum(logs) / len(logs)) if math.inf not in logs else math.inf


def tune_peers(folder, grid=GRID):
    """Print the settings of each peer, the best first, and mark the one in use."""
    streams = {name: [_clean(table) for table in load(folder, name)] for name in available(folder)}
    for used, peers in grid.items():
        regression = used != QCSGD_FOR_LABELS
        chosen = {name: each for name, each in streams.items() if each[0].table.regression == regression}
        if not chosen:
            continue
        tried = []
        for number, peer in enumerate(peers, 1):
            overwrite(f"{type(used.model).__name__}: {number} of {len(peers)}")
            tried.append(Setting(peer, {name: _error(peer, each) for name, each in chosen.items()}))
        for setting in sorted(tried, key=Setting.mean):
            errors = ", ".join(f"{name} {error:.4g}" for name, error in setting.errors.items())
            mark = "*" if setting.peer == used else " "
            tell(f"{mark} {setting.mean():8.4g}  {setting.peer.model}, {setting.peer.scaler}: {errors}")


def _clean(table):
    table = table.first(_ROUNDS)
    good = ~table.marked
    return untouched(table._replace(X=table.X[good], y=table.y[good], marked=table.marked[good]))


def _error(peer, streams):
    errors = [each.errors(predictions_of(*peer, each.table))[SPARED:] for each in streams]
    error = float(np.concatenate(errors).mean())
    return error if math.isfinite(error) else math.inf
