"""The contestants: each predicts a stream before it learns from it, in one pass.

Rounds come in batches of `delay`. A contestant predicts all rounds of a batch, then learns from one after the
other.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import holdfast as hf
from holdfast.defaults import recommended, recommended_loss
from holdfast.options import LEARNER
from holdfast_lab.trials import sgd
from holdfast_lab.trials.batches import forecasts
from holdfast_lab.trials.clipped_gradients import ClippedGradients
from holdfast_lab.trials.corruptions import CorruptedTable
from holdfast_lab.trials.one_pass import WithConstant, on_rounds, predictions_of
from holdfast_lab.trials.qcsgd import QCSGD
from holdfast_lab.trials.river import filtered_river, plain_river
from holdfast_lab.trials.scalers import FadingScale, Running, Still
from holdfast_lab.trials.wolf import WoLF

BY_BATCH = 0  # the delay of a player that is told where a batch begins
_HALF_LIFE = 500.0  # rounds, of a scale that fades
_STEPS = (0.001, 0.003, 0.01, 0.03, 0.1)
_PLAIN_LOSSES = (sgd.SquaredSlope(), sgd.HingeSlope())  # for numbers, and for labels


def by_default(stream, delay=1):
    """Ours, with nothing set."""
    return _played(recommended(stream.table.regression, delay=BY_BATCH), stream.table, delay)


def oracle(stream, delay=1):
    """The same learner, which meets neither the corrupted rounds nor the marked ones.

    Its filters are too wide to skip a round, and it is the same compiled game. Its batches are those of the
    whole stream, without the rounds it never meets.
    """
    blocks = np.flatnonzero(stream.good) // delay
    return on_rounds(stream.good, lambda table: _unfiltered(table, blocks), stream.table)


def _unfiltered(table, blocks):
    player = recommended(table.regression, delay=BY_BATCH)
    player = player._replace(gate=player.gate._replace(slack=1e300))
    if table.regression:
        player = player._replace(surprise=player.surprise._replace(slack=1e300))
    return forecasts(player, table, recommended_loss(table.regression), blocks)


def with_true_share(stream, delay=1):
    """Ours, with the share of the rounds that are corrupted or marked."""
    share = 1.0 - stream.good.mean()
    return _played(recommended(stream.table.regression, outliers=share, delay=BY_BATCH), stream.table, delay)


def without_a_filter(stream, delay=1):
    return _played(recommended(stream.table.regression, outliers=0, delay=BY_BATCH), stream.table, delay)


def clipped(stream, delay=1):
    """The same learner, all rounds, gradients clipped at a running quantile."""
    player = ClippedGradients(hf.Scaled(LEARNER, target=stream.table.regression))
    return _played(player, stream.table, delay)


def plain_sgd(stream, delay=1):
    """scikit-learn's SGD with its defaults, behind a running StandardScaler."""
    return predictions_of(_sgd(stream, *_PLAIN_LOSSES), Running(), stream.table, delay)


def robust_scaler_sgd(stream, delay=1):
    """The same behind a RobustScaler that was fitted to the first 1,000 rounds."""
    return predictions_of(_sgd(stream, *_PLAIN_LOSSES), Still(), stream.table, delay)


def huber_sgd(stream, delay=1):
    """SGD with scikit-learn's losses against outliers: huber, and modified_huber for labels."""
    model = _sgd(stream, sgd.HuberSlope(), sgd.ModifiedHuberSlope())
    return predictions_of(model, Running(), stream.table, delay)


def _sgd(stream, for_numbers, for_labels):
    if stream.table.regression:
        return sgd.SGD(for_numbers, sgd.InverseScalingStep())
    return sgd.SGD(for_labels, sgd.OptimalStep())


def constant_sgd(stream, delay=1):
    """SGD with a constant step of 0.01 behind a running StandardScaler.

    The losses are Huber's, linear from one standard deviation on, and the logistic loss for labels.
    """
    return predictions_of(_constant(stream), Running(), stream.table, delay)


def fading_sgd(stream, delay=1):
    """The same behind a scale that fades."""
    return predictions_of(_constant(stream), FadingScale(_HALF_LIFE), stream.table, delay)


def tuned_sgd(stream, delay=1):
    """SGD with a constant step behind a running StandardScaler, and the losses of `constant_sgd`.

    The step is the best of five on the clean rows of the same stream, in batches of `delay` of them: those
    that are neither corrupted nor marked. So it is chosen in hindsight, and no bad row spoils the choice.
    """
    step = min(_STEPS, key=lambda step: _error_if_clean(stream, step, delay))
    return predictions_of(_constant(stream, step), Running(), stream.table, delay)


def _error_if_clean(stream, step, delay):
    def predict(rows):
        return predictions_of(_constant(stream, step), Running(), rows, delay)

    error = stream.errors(on_rounds(stream.good, predict, stream.table))[stream.scored].mean()
    return error if error < math.inf else math.inf


def _constant(stream, step=0.01):
    loss = sgd.HuberSlope(1.0) if stream.table.regression else sgd.LogSlope()
    return sgd.SGD(loss, sgd.ConstantStep(step))


# The settings of the next two were chosen on clean data: `holdfast trials --data FOLDER --tune`.
WOLF = WoLF(cutoff=2.0)
QCSGD_FOR_NUMBERS = QCSGD(step=0.1, quantile=0.25)
QCSGD_FOR_LABELS = QCSGD(step=0.03, quantile=0.95)


def wolf(stream, delay=1):
    """Weighted ridge regression that forgets, behind our running scale."""
    return behind_our_scale(WOLF, stream.table, delay)


def qc_sgd(stream, delay=1):
    """Quantile-clipped SGD, behind our running scale."""
    return behind_our_scale(_qcsgd(stream), stream.table, delay)


def fading_wolf(stream, delay=1):
    return _behind_a_fading_scale(WOLF, stream.table, delay)


def fading_qc_sgd(stream, delay=1):
    return _behind_a_fading_scale(_qcsgd(stream), stream.table, delay)


def _qcsgd(stream):
    return QCSGD_FOR_NUMBERS if stream.table.regression else QCSGD_FOR_LABELS


def behind_our_scale(learner, table, delay=1):
    """The predictions of a learner without a filter, for squared or logistic losses."""
    player = hf.Filtered(hf.Scaled(learner, target=table.regression), hf.Everything())
    return _played(player, table, delay, hf.Squared() if table.regression else hf.Logistic())


def _behind_a_fading_scale(learner, table, delay):
    loss = sgd.SquaredSlope() if table.regression else sgd.LogSlope()
    return predictions_of(WithConstant(learner, loss), FadingScale(_HALF_LIFE), table, delay)


def river(stream, delay=1):
    return plain_river(stream.table, delay)


def river_with_filter(stream, delay=1):
    return filtered_river(stream.table, delay)


class Contestant(NamedTuple):
    """How to predict, and what to measure: slow contestants meet fewer rounds."""

    predict: Callable[[CorruptedTable, int], np.ndarray]  # of a stream and its delay
    is_slow: bool = False
    is_peer: bool = True
    needs_numbers: bool = False  # as targets

    def can_play(self, table):
        return table.regression or not self.needs_numbers


ORACLE, OURS = "oracle", "default"
PLAIN, FADING, TUNED, RIVER = "SGD", "SGD, fading scale", "SGD, tuned", "River"

CONTESTANTS = {
    ORACLE: Contestant(oracle, is_peer=False),
    OURS: Contestant(by_default, is_peer=False),
    "true share": Contestant(with_true_share, is_peer=False),
    "no filter": Contestant(without_a_filter, is_peer=False),
    "clipping": Contestant(clipped),
    PLAIN: Contestant(plain_sgd),
    "SGD, RobustScaler": Contestant(robust_scaler_sgd),
    "SGD, Huber": Contestant(huber_sgd),
    "WoLF": Contestant(wolf, needs_numbers=True),
    "QC-SGD": Contestant(qc_sgd),
    RIVER: Contestant(river, is_slow=True),
    "River, filter": Contestant(river_with_filter, is_slow=True),
}

AFTER_A_CHANGE = {
    FADING: Contestant(fading_sgd),
    OURS: Contestant(by_default, is_peer=False),
    "no filter": Contestant(without_a_filter, is_peer=False),
    "clipping": Contestant(clipped),
    PLAIN: Contestant(plain_sgd),
    "SGD, step 0.01": Contestant(constant_sgd),
    "WoLF": Contestant(fading_wolf, needs_numbers=True),
    "QC-SGD": Contestant(fading_qc_sgd),
}


def _played(player, table, delay, loss=None):
    blocks = np.arange(table.rounds) // delay
    return forecasts(player, table, loss or recommended_loss(table.regression), blocks)
