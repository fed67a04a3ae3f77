"""Numbers as targets and many columns: a guard, scales that fade, and learners of first order."""

import math
import numbers

from holdfast.capped_loss import Capped
from holdfast.domains import Box
from holdfast.filters import TopShare
from holdfast.learners import AdaGrad, Averaged, Mixture, RobustRidge, RobustRidges, Scaled
from holdfast.learners.adagrad_fading import FadingAdaGrad
from holdfast.losses import Absolute
from holdfast.soft_guard import SoftGuarded

MEMORY, PATIENCE = 300.0, 1000  # rounds
MOST_COLUMNS = 100  # for which a learner of second order is the default: a round costs O(columns²)
_SHARE = 0.15  # of wrong rows and targets: 10 % on top of what is wrong in most tables anyway
_SLACK, _TARGET_SLACK = 15.0, 30.0  # with 15 for targets, waves of covid_deaths are skipped as outliers
_REPEAT_SLACK = 8.0
_NO_CLIP = 1e6  # the filter must see how far a cell is
_STORED = 250  # first rounds
_BOX = Box(-10.0, 10.0)

FIRST_ORDER = Mixture(
    (
        AdaGrad(_BOX, rate=0.008, ballast=1.0),
        AdaGrad(_BOX, rate=0.008, ballast=1.0, memory=1000.0),
        AdaGrad(_BOX, rate=0.03, ballast=1.0, memory=100.0),
    ),
    Capped(Absolute()),
)


def for_numbers(learner, memory="auto", patience="auto"):
    """A player for regression that withstands bad rows of many kinds and follows changes.

    Rows, targets and repeated rows are filtered, in units of scales that fade (`Scaled`). After a lasting
    change scales are taken from the recent rows (`SoftGuarded`). In the first 150 rows a run of 75 bad ones
    counts as such a change, because the rows before it may be the bad ones.

    Parameters
    ----------
    learner : a learner
        One that a large residual hardly moves, such as `FIRST_ORDER`.
    memory : "auto" or a number of rows
        Of the scales: after so many rows a value counts about a third. "auto" is 300.
    patience : "auto" or a number of rows
        So many bad rows in a row are withstood, and about as many good ones are lost after a change of units.
        "auto" is 1000.

    Guarantee: none for the whole. The filters keep no row that is more than 15 times as large as the largest
    good one, in the units of the scale, if at most 15 % of the last 3 to 6 `patience` rows are bad
    (Theorem W).
    """
    rounds = int(rounds_for("patience", patience, PATIENCE))
    rows, targets, repeats = (
        TopShare(_SHARE, slack=slack, window=3 * rounds, patience=rounds)
        for slack in (_SLACK, _TARGET_SLACK, _REPEAT_SLACK)
    )
    scaled = Scaled(
        learner,
        target=True,
        clip=_NO_CLIP,
        memory=rounds_for("memory", memory, MEMORY),
        stored=_STORED,
    )
    return SoftGuarded(scaled, rows, targets, repeats, patience=rounds)


def with_loss(learner, loss):
    """`FIRST_ORDER` for another loss. A row that is mispredicted by far counts little.

    >>> with_loss(FIRST_ORDER, Absolute()) == FIRST_ORDER
    True
    """
    return learner._replace(loss=Capped(loss))


def is_auto(value):
    return isinstance(value, str) and value == "auto"


def rounds_for(name, value, auto):
    """A number of rounds as a float, `auto` for "auto"; raises if it is no number or less than 10."""
    if is_auto(value):
        return float(auto)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 10 <= value < math.inf:
        raise ValueError(f'{name} must be "auto" or a number of rounds, at least 10: got {value!r}')
    return float(value)


def withstands_targets(learner):
    """Whether a large residual hardly moves it: `RobustRidges`, a mixture of `RobustRidge` and `AdaGrad`."""
    inner = learner.learner if isinstance(learner, Averaged) else learner
    robust = RobustRidge | AdaGrad | FadingAdaGrad
    if isinstance(inner, Mixture):
        return all(isinstance(each, robust) for each in inner.learners)
    return isinstance(inner, RobustRidges)
