"""Who takes part: each predicts every round of a stream before it learns from it, in one pass."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import holdfast as hf
from holdfast.defaults import LEARNER, recommended, recommended_loss
from holdfast.lab.trials import sgd
from holdfast.lab.trials.clipping import Clipped
from holdfast.lab.trials.corruptions import Stream
from holdfast.lab.trials.river import filtered_river, plain_river

_FITTED = 1000  # rounds that RobustScaler sees beforehand
_WORTH_COMPILING = 1500  # rounds


def by_default(stream):
    """Ours, with nothing set."""
    return _played(recommended(stream.table.regression), stream.table)


def told_the_share(stream):
    """Ours, told which share of the rounds is corrupted or marked."""
    share = 1.0 - stream.good.mean()
    return _played(recommended(stream.table.regression, outliers=share), stream.table)


def without_a_filter(stream):
    return _played(recommended(stream.table.regression, outliers=0), stream.table)


def oracle(stream):
    """The same learner, which meets neither the corrupted rounds nor the marked ones."""
    return on_rounds(stream.good, lambda table: without_a_filter(stream._replace(table=table)), stream.table)


def clipped(stream):
    """The same learner, all rounds, gradients clipped at a running quantile."""
    return _played(Clipped(hf.Scaled(LEARNER, target=stream.table.regression)), stream.table)


def plain_sgd(stream):
    """scikit-learn's SGD as it comes, behind a running StandardScaler."""
    return _descended(stream.table, sgd.Squared() if stream.table.regression else sgd.Hinge(), sgd.Running())


def robust_scaler_sgd(stream):
    """The same behind a RobustScaler that has seen the first 1,000 rounds beforehand."""
    return _descended(stream.table, sgd.Squared() if stream.table.regression else sgd.Hinge(), sgd.Still())


def huber_sgd(stream):
    """SGD with the losses that scikit-learn has against outliers: huber, and modified_huber for labels."""
    loss = sgd.Huber() if stream.table.regression else sgd.ModifiedHuber()
    return _descended(stream.table, loss, sgd.Running())


def river(stream):
    return plain_river(stream.table)


def river_with_filter(stream):
    return filtered_river(stream.table)


class Contestant(NamedTuple):
    """Who predicts, and whether it is slow, so that it meets fewer rounds."""

    predict: Callable[[Stream], np.ndarray]
    is_slow: bool = False
    is_peer: bool = True


ORACLE, OURS, PLAIN = "oracle", "default", "SGD"

CONTESTANTS = {
    ORACLE: Contestant(oracle, is_peer=False),
    OURS: Contestant(by_default, is_peer=False),
    "set_target": Contestant(told_the_share, is_peer=False),
    "no filter": Contestant(without_a_filter, is_peer=False),
    "clipping": Contestant(clipped),
    PLAIN: Contestant(plain_sgd),
    "SGD, RobustScaler": Contestant(robust_scaler_sgd),
    "SGD, Huber": Contestant(huber_sgd),
    "River": Contestant(river, is_slow=True),
    "River, filter": Contestant(river_with_filter, is_slow=True),
}


def on_rounds(rounds, predict, table):
    """The predictions of someone who meets these rounds and no others."""
    predictions = np.full(table.rounds, math.nan)
    rows = table._replace(X=table.X[rounds], y=table.y[rounds], marked=table.marked[rounds])
    predictions[rounds] = predict(rows)
    return predictions


def _played(player, table):
    replay = hf.Replay(table.X, table.y, recommended_loss(table.regression))
    compiled = table.rounds >= _WORTH_COMPILING
    return hf.play(player, replay, keep=("predictions",), compiled=compiled).predictions


def _descended(table, loss, scaler):
    """scikit-learn's SGD, which never sees a row with NaN: it would raise."""
    return on_rounds(np.isfinite(table.X).all(axis=1), lambda rows: _pass(rows, loss, scaler), table)


def _pass(table, loss, scaler):
    predictions = np.full(table.rounds, math.nan)
    first = table.first(_FITTED)
    features, targets, target_scaler = scaler.fitted(first.X), sgd.Scale.empty(1), sgd.Still()
    if table.regression:
        targets, target_scaler = scaler.fitted(first.y[:, None]), scaler
    step = sgd.InverseScaling() if table.regression else sgd.Optimal()
    scales = (scaler, features, target_scaler, targets)
    played = _call(sgd.one_pass, table.X, table.y, *scales, loss, step, predictions)
    if not table.regression:  # NaN is not above 0, so to scikit-learn it is the first label
        predictions[:played] = np.where(np.isnan(predictions[:played]), -1.0, predictions[:played])
    return predictions


def _call(function, X, *rest):
    if len(X) < _WORTH_COMPILING:
        with np.errstate(all="ignore"):
            return function(X, *rest)
    from holdfast._compiled import call

    return call(function, X, *rest)
