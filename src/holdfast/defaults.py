"""The learner and the filters that the estimators use if you choose none."""

import math
import numbers

from holdfast.change import Changing
from holdfast.domains import Ball, Box
from holdfast.filters import Everything, TopK, TopShare
from holdfast.for_numbers import (
    FIRST_ORDER,
    MOST_COLUMNS,
    PATIENCE,
    SECOND_ORDER,
    for_numbers,
    is_auto,
    is_central,
    rounds_for,
    with_loss,
    withstands_targets,
)
from holdfast.guard import Guarded
from holdfast.learners import (
    OGD,
    ONS,
    VAW,
    AdaFTRL,
    AdaGrad,
    Adaptive,
    Bounded,
    Clipped,
    Compressed,
    DiagonalMetaGrad,
    FreeGrad,
    MetaGrad,
    Mixture,
    OnlineLogistic,
    OnlineRidge,
    Returning,
    RobustRidge,
    RobustRidges,
    Scaled,
    ScaleInvariant,
    SoloFTRL,
)
from holdfast.losses import Absolute, Hinge, Linear, Logistic, Squared, SquaredHinge
from holdfast.norms import L1
from holdfast.protocols import Filter, LipschitzLoss
from holdfast.role_checks import Rule, check_role

LEARNER = AdaGrad(Box(-10.0, 10.0), rate=0.008, ballast=1.0)
# Rounds, of the weights. With 1,500 a label in 0.2 % of the rounds is forgotten; with 2,000 a border that
# turns is followed too slowly.
LABEL_MEMORY = 1750.0
LABEL_SCALES = 1.0 / 3.0  # of these rounds: the memory of scales
LABEL_LEARNER = OnlineLogistic(memory=LABEL_MEMORY, prior=10.0, flips=0.05)
LEARNERS = {  # for standardised features; docs/learners.md says which settings were chosen by trial
    "adagrad": LEARNER,
    "ogd": OGD(Ball(10.0), Adaptive(0.03)),
    "adaftrl": AdaFTRL(Ball(1.0)),
    "soloftrl": SoloFTRL(Ball(10.0)),
    "freegrad": Bounded(Clipped(FreeGrad(10.0)), Ball(10.0)),
    "ons": ONS(Ball(3.0), alpha=0.1),
    "metagrad": Clipped(MetaGrad(Ball(3.0))),
    "diagonalmetagrad": DiagonalMetaGrad(Box(-3.0, 3.0)),
    "scaleinvariant": ScaleInvariant(),
    "onlineridge": OnlineRidge(),
    "vaw": VAW(),
}
LEARNERS_FOR_LABELS = {"onlinelogistic": LABEL_LEARNER}
FOR_NUMBERS = {"first_order": FIRST_ORDER, "second_order": SECOND_ORDER}  # for numbers as targets
ALL_LEARNERS = LEARNERS | LEARNERS_FOR_LABELS | FOR_NUMBERS
_FOR_EXPERTS = ("adahedge", "squint", "eg")
FEATURES = TARGET = TopShare(0.1, slack=4.5)
GRADIENT = TopShare(0.01)
# First rounds, for labels. Not more than `Changing` takes new scales from, or a stream that has changed would
# be compared with its first rows.
_STORED = 100


def recommended(regression, outliers="auto", learner=None, scale=True, memory="auto", patience="auto"):
    """A guarded player for standardised features, chosen on public data (`docs/real-data.md`).

    For labels, if no learner is chosen and features are scaled, it is that of `recommended_for_labels`. For
    numbers as targets and outliers="auto" it is that of `for_numbers`. Both follow changes.

    For all others it is `Guarded`, which has a theorem: features are always filtered, and so are targets in
    units of their running scale. Features and targets then bound the gradients, so gradients are filtered
    only if there is no scale. The gradients of labels are always filtered, with a filter for each label.

    Parameters
    ----------
    regression : bool
        Whether targets are numbers, which are standardised too, or labels -1 and +1.
    outliers : "auto", a share below 1, a count, or a filter
        How many rounds may be wrong. "auto" tolerates, in the default for numbers, 15 % of wrong rows and
        15 % of wrong targets; in that for labels, 10 % of wrong rows and some 5 % of wrong labels. With
        `Guarded` it tolerates 10 % of wrong rows and targets, and 1 % of wrong labels in rows whose features
        are not wrong, for each label. 0 keeps every round.
    learner : a learner, optional
        If features are scaled, it has one weight more than there are features, for the constant. By default
        that of `default_learner`. `for_numbers` is used only with `RobustRidges`, or with a mixture of
        `RobustRidge` and `AdaGrad`.
    scale : bool
        Whether features, and targets, have a running scale.
    memory, patience : "auto" or a number of rounds
        As in `recommended_for_labels` and `for_numbers`.
    """
    if not regression and learner is None and scale:
        return recommended_for_labels(outliers, memory, patience)
    learner = default_learner(regression, outliers, scale) if learner is None else learner
    if is_auto(outliers) and regression and scale and withstands_targets(learner):
        return for_numbers(learner, memory, patience)
    if not (is_auto(memory) and is_auto(patience)):
        raise ValueError(
            'memory and patience are for numbers with outliers="auto" and a learner like "second_order", and '
            "for labels with the default learner, both with scaled features: "
            f"got memory={memory!r} and patience={patience!r}"
        )
    features, target, gradient = filters_for(outliers)
    if regression and scale:
        return Guarded(Scaled(learner, target=True), features, target, Everything())
    scaled = Scaled(learner) if scale else learner
    return Guarded(scaled, features, Everything(), gradient, labels=not regression)


def recommended_for_labels(outliers="auto", memory="auto", patience="auto"):
    """A guarded player for labels -1 and +1, for `Logistic()` losses and up to about a hundred features.

    Logistic regression of second order (`OnlineLogistic`) learns from standardised features. Far
    cells are compressed (`Compressed`). A row is skipped if its farthest cell is too far, before it is
    compressed. Labels are not filtered, because a filter cannot tell a wrong label from a rare class: the
    learner counts with 5 % of wrong labels instead, and returns to its former weights when a burst of wrong
    labels is over (`Returning`). If most rows are skipped for long, or most features vary
    much less than before, the stream has changed, and scales start again (`Changing`).

    Parameters
    ----------
    outliers : "auto", a share below 1, a count, or a filter
        How many rows may be wrong. "auto" is a share of 10 %. With a count or a filter, nothing is forgotten
        by filters, gradients are filtered for each label too, and there is no `Changing`.
    memory : "auto" or a number of rounds
        After so many rounds a round counts about a third in the weights. Scales remember a third as many.
        "auto" is 1,750.
    patience : "auto" or a number of rounds
        So many bad rows or labels in a row are withstood, and after a change of units about so many good ones
        are lost. "auto" is 1,000. It must be "auto" if `outliers` is a count or a filter.

    Guarantee: none for the whole. In the units of the scale, the filter keeps no cell farther than 100 times
    the farthest cell of the good rows of the window, if at most 10 % of the window and no run longer than
    `patience` is bad (Theorem W).

    Examples
    --------
    >>> player = recommended_for_labels(memory=10_000, patience=200)
    >>> player.guard.learner.learner.learner.learner
    OnlineLogistic(memory=10000.0, prior=10.0, flips=0.05, domain=Everywhere())
    """
    features, _, gradient = filters_for(outliers)
    memory = rounds_for("memory", memory, LABEL_MEMORY)
    rounds = int(rounds_for("patience", patience, PATIENCE))
    learner = Returning(LABEL_LEARNER._replace(memory=memory), patience=rounds)
    view = Compressed(learner, knee=1.5, most=8.0)
    scaled = Scaled(view, clip=1e6, memory=LABEL_SCALES * memory, stored=min(rounds, _STORED))
    share = 0.1 if is_auto(outliers) else outliers
    if isinstance(share, numbers.Real) and 0.0 < share < 1.0:
        rows = TopShare(float(share), slack=100.0, window=max(5 * rounds, 5000), patience=rounds)
        guard = Guarded(scaled, rows, Everything(), Everything(), labels=True, norm=L1())
        return Changing(guard, rounds)
    if not is_auto(patience):
        raise ValueError(
            'patience is for labels with outliers="auto" or a share: with a count or a filter it has no '
            f"effect, got outliers={outliers!r} and patience={patience!r}"
        )
    return Guarded(scaled, features, Everything(), gradient, labels=True, norm=L1())


def default_learner(regression, outliers="auto", scale=True, loss=None, columns=0, plain=False):
    """The learner to use if none is chosen.

    For numbers and outliers="auto": `SECOND_ORDER` up to 100 columns, `FIRST_ORDER` with this loss beyond
    and for quantiles. For all others, and if `plain`, AdaGrad, which also learns from rows with weights.

    >>> default_learner(regression=True, columns=500) == FIRST_ORDER
    True
    """
    if plain or not (regression and scale and is_auto(outliers)):
        return LEARNER
    loss = loss or recommended_loss(regression)
    learner = SECOND_ORDER if columns <= MOST_COLUMNS and is_central(loss) else FIRST_ORDER
    return with_loss(learner, loss)


def named_learner(name, loss):
    """The learner of this name, for a linear model with this loss; raises if there is none.

    Examples
    --------
    >>> named_learner("adaftrl", Logistic())
    AdaFTRL(domain=Ball(radius=1.0, around=0.0))
    """
    if name in _FOR_EXPERTS:
        raise ValueError(
            f"{name} divides weight among experts, and a linear model has features instead: "
            f"use one of {', '.join(LEARNERS)}"
        )
    if name not in ALL_LEARNERS:
        names = ", ".join(ALL_LEARNERS)
        raise ValueError(f"learner must be one of {names}, or a learner itself: got {name!r}")
    if name in FOR_NUMBERS:
        if isinstance(loss, Hinge | Logistic | SquaredHinge):
            raise ValueError(f"{name} is for numbers as targets, and {loss!r} is for labels: use adagrad")
        return with_loss(FOR_NUMBERS[name], loss)
    return suited(ALL_LEARNERS[name], loss)


def suited(learner, loss):
    """The learner, with the Lipschitz constant of the loss if it needs it; raises if the two do not fit."""
    needed, name = learner.needs().losses, type(learner).__name__
    if needed == "squared" and not isinstance(loss, Squared):
        raise ValueError(f"{name} is made for squared losses: use it with Squared(), not with {loss!r}")
    if needed == "exp-concave" and not isinstance(loss, Squared | Logistic | SquaredHinge):
        raise ValueError(
            f"{name} is made for exp-concave losses: use it with Squared(), "
            f"Logistic() or SquaredHinge(), not with {loss!r}"
        )
    if needed == "logistic" and not isinstance(loss, Logistic):
        raise ValueError(f"{name} is made for logistic losses: use it with Logistic(), not with {loss!r}")
    if needed != "Lipschitz":
        return learner
    check_role(loss, LipschitzLoss)
    if not loss.lipschitz() < math.inf:
        raise ValueError(f"{name} must know how steep a loss can be, and {loss!r} has no limit")
    return learner._replace(steepest=loss.lipschitz())


def refuse_weights(learner):
    """Raise if a learner uses more than the gradient, because a weight can only multiply the gradient."""
    if isinstance(learner, OnlineRidge | VAW | ScaleInvariant | RobustRidge | RobustRidges | Mixture):
        raise ValueError(
            f"{type(learner).__name__} uses the target as well as the gradient, so rows cannot have "
            "weights: repeat rows instead, or use another learner"
        )


def refuse_loss(loss, regression):
    """Raise if a linear model cannot be learned with this loss."""
    if isinstance(loss, Linear):
        raise ValueError("Linear() has no smallest value, so no model fits best: use another loss")
    if regression and isinstance(loss, Hinge | SquaredHinge | Logistic):
        raise ValueError(
            f"{loss!r} is a loss for labels, and the targets are numbers: use a classifier, "
            "or a loss such as Absolute()"
        )


def refuse_experts(learner):
    """Raise if the weights of a learner are shares, which are never negative."""
    needs = learner.needs()
    if needs is not None and needs.domain == "simplex":
        raise ValueError(
            f"{learner!r} divides weight among experts, so its weights are never negative; a linear model "
            f"needs signs: use one of {', '.join(LEARNERS)}"
        )


def recommended_loss(regression):
    """The loss to use with `recommended`."""
    return Absolute() if regression else Logistic()


def filters_for(outliers):
    """The filters for features, targets and gradients."""
    if isinstance(outliers, str):
        if not is_auto(outliers):
            raise ValueError(f'outliers must be "auto", a share, a count or a filter: got {outliers!r}')
        return FEATURES, TARGET, GRADIENT
    if isinstance(outliers, numbers.Real) and not isinstance(outliers, bool):
        return (_filter_for(outliers),) * 3
    if not isinstance(outliers, Rule):
        raise TypeError(f'outliers must be "auto", a share, a count or a filter: got {outliers!r}')
    check_role(outliers, Filter)
    return (outliers,) * 3


def _filter_for(outliers):
    if outliers == 0:
        return Everything()
    if not 0.0 < outliers < math.inf:
        raise ValueError(f"outliers is a share or a count, so it cannot be negative: got {outliers}")
    if 0.5 <= outliers < 1.0:
        raise ValueError(f"outliers must be fewer than half of the rows, or they look right: got {outliers}")
    if outliers < 1.0:
        return TopShare(float(outliers))
    if outliers != int(outliers):
        raise ValueError(f"outliers of 1 or more is a count: got {outliers}; a share lies below 1")
    return TopK(int(outliers))
