"""The contestants: each predicts every round of a stream before it learns from it, in one pass."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import holdfast as hf
from holdfast.defaults import LEARNER, recommended, recommended_loss
from holdfast.lab.trials import sgd
from holdfast.lab.trials.clipped_gradients import ClippedGradients
from holdfast.lab.trials.corruptions import CorruptedTable
from holdfast.lab.trials.one_pass import WithConstant, on_rounds, predictions_of
from holdfast.lab.trials.qcsgd import QCSGD
from holdfast.lab.trials.river import filtered_river, plain_river
from holdfast.lab.trials.scalers import FadingScale, Running, Still
from holdfast.lab.trials.wolf import WoLF

_WORTH_COMPILING = 350  # rounds: short tables are played in many orders
_HALF_LIFE = 500.0  # rounds, of a scale that fades


def by_default(stream):
    """Ours, with nothing set."""
    return _played(recommended(stream.table.regression), stream.table)


def unfiltered_default(stream):
    """Ours, with filters that are too wide to skip a round. It is the same compiled game."""
    if stream.table.regression:
        player = _widened(recommended(regression=True), ("features", "target", "repeats"))
    else:
        player = recommended(regression=False)
        player = player._replace(guard=_widened(player.guard, ("features",)))
    return _played(player, stream.table)


def _widened(guard, names):
    return guard._replace(**{name: getattr(guard, name)._replace(slack=1e300) for name in names})


def with_true_share(stream):
    """Ours, with the share of the rounds that are corrupted or marked."""
    share = 1.0 - stream.good.mean()
    return _played(recommended(stream.table.regression, outliers=share), stream.table)


def without_a_filter(stream):
    return _played(recommended(stream.table.regression, outliers=0), stream.table)


def oracle(stream):
    """The same learner, which meets neither the corrupted rounds nor the marked ones."""

    def predict(table):
        return unfiltered_default(stream._replace(table=table))

    return on_rounds(stream.good, predict, stream.table)


def clipped(stream):
    """The same learner, all rounds, gradients clipped at a running quantile."""
    return _played(ClippedGradients(hf.Scaled(LEARNER, target=stream.table.regression)), stream.table)


def plain_sgd(stream):
    """scikit-learn's SGD with its defaults, behind a running StandardScaler."""
    return predictions_of(_sgd(stream, sgd.SquaredSlope(), sgd.HingeSlope()), Running(), stream.table)


def robust_scaler_sgd(stream):
    """The same behind a RobustScaler that was fitted to the first 1,000 rounds."""
    return predictions_of(_sgd(stream, sgd.SquaredSlope(), sgd.HingeSlope()), Still(), stream.table)


def huber_sgd(stream):
    """SGD with scikit-learn's losses against outliers: huber, and modified_huber for labels."""
    return predictions_of(_sgd(stream, sgd.HuberSlope(), sgd.ModifiedHuberSlope()), Running(), stream.table)


def _sgd(stream, for_numbers, for_labels):
    if stream.table.regression:
        return sgd.SGD(for_numbers, sgd.InverseScalingStep())
    return sgd.SGD(for_labels, sgd.OptimalStep())


def constant_sgd(stream):
    """SGD with a constant step of 0.01 behind a running StandardScaler.

    The losses are Huber's, linear from one standard deviation on, and the logistic loss for labels.
    """
    return predictions_of(_constant(stream), Running(), stream.table)


def fading_sgd(stream):
    """The same behind a scale that fades."""
    return predictions_of(_constant(stream), FadingScale(_HALF_LIFE), stream.table)


def _constant(stream):
    loss = sgd.HuberSlope(1.0) if stream.table.regression else sgd.LogSlope()
    return sgd.SGD(loss, sgd.ConstantStep(0.01))


# The settings of the next two were chosen on clean data: `holdfast trials --data FOLDER --tune`.
WOLF = WoLF(cutoff=2.0)
QCSGD_FOR_NUMBERS = QCSGD(step=0.1, quantile=0.25)
QCSGD_FOR_LABELS = QCSGD(step=0.03, quantile=0.95)


def wolf(stream):
    """Weighted ridge regression that forgets, behind our running scale."""
    return behind_our_scale(WOLF, stream.table)


def qc_sgd(stream):
    """Quantile-clipped SGD, behind our running scale."""
    return behind_our_scale(_qcsgd(stream), stream.table)


def fading_wolf(stream):
    return _behind_a_fading_scale(WOLF, stream.table)


def fading_qc_sgd(stream):
    return _behind_a_fading_scale(_qcsgd(stream), stream.table)


def _qcsgd(stream):
    return QCSGD_FOR_NUMBERS if stream.table.regression else QCSGD_FOR_LABELS


def behind_our_scale(learner, table):
    """The predictions of a learner without a filter, for squared or logistic losses."""
    player = hf.Filtered(hf.Scaled(learner, target=table.regression), hf.Everything())
    return _played(player, table, hf.Squared() if table.regression else hf.Logistic())


def _behind_a_fading_scale(learner, table):
    loss = sgd.SquaredSlope() if table.regression else sgd.LogSlope()
    return predictions_of(WithConstant(learner, loss), FadingScale(_HALF_LIFE), table)


def river(stream):
    return plain_river(stream.table)


def river_with_filter(stream):
    return filtered_river(stream.table)


class Contestant(NamedTuple):
    """How to predict, and what to measure: slow contestants meet fewer rounds."""

    predict: Callable[[CorruptedTable], np.ndarray]
    is_slow: bool = False
    is_peer: bool = True
    needs_numbers: bool = False  # as targets

    def can_play(self, table):
        return table.regression or not self.needs_numbers


ORACLE, OURS = "oracle", "default"
PLAIN, FADING = "SGD", "SGD, fading scale"

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
    "River": Contestant(river, is_slow=True),
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


def _played(player, table, loss=None):
    replay = hf.Replay(table.X, table.y, loss or recommended_loss(table.regression))
    compiled = table.rounds >= _WORTH_COMPILING
    return hf.play(player, replay, keep=("predictions",), compiled=compiled).predictions
