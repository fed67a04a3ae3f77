"""The learner and the filters that the estimators use if you choose none."""

import math
import numbers

from holdfast.domains import Ball, Box
from holdfast.filters import Everything, TopK, TopShare
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
    DiagonalMetaGrad,
    FreeGrad,
    MetaGrad,
    Mixture,
    OnlineRidge,
    RobustRidge,
    Scaled,
    ScaleInvariant,
    SoloFTRL,
)
from holdfast.losses import Absolute, Hinge, Linear, Logistic, Squared, SquaredHinge
from holdfast.protocols import Filter, LipschitzLoss
from holdfast.role_checks import Rule, check_role
from holdfast.steady import Diagonal, Full, Logits, Ridges, choice
from holdfast.steady.choice import MOST_COLUMNS, PATIENCE, ridges_for

LEARNER = AdaGrad(Box(-10.0, 10.0), rate=0.008, ballast=1.0)
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
FOR_NUMBERS = {"first_order": Ridges(covariance=Diagonal()), "second_order": Ridges()}  # numbers as targets
FOR_LABELS = {"logits": Logits()}
ALL_LEARNERS = LEARNERS | FOR_LABELS | FOR_NUMBERS
_FOR_EXPERTS = ("adahedge", "squint", "eg")
FEATURES = TARGET = TopShare(0.1, slack=4.5)
GRADIENT = TopShare(0.01)


def recommended(
    regression,
    outliers="auto",
    learner=None,
    scale=True,
    memory="auto",
    patience="auto",
    delay=1,
    weighted=False,
):
    """The player that the estimators use, chosen on public data (`docs/real-data.md`).

    With a running scale, and no learner or one of `holdfast.steady`, it is `holdfast.steady.Steady`: it has a
    theorem, follows changes and is judged as it was asked. With another learner, or without a scale, it is
    `Guarded`, which has a theorem too: features are always filtered, and so are targets in units of their
    running scale, or else gradients. The gradients of labels are filtered for each label.

    Parameters
    ----------
    regression : bool
        Whether targets are numbers, which are standardised too, or labels -1 and +1.
    outliers : "auto", a share below 1, a count, or a filter
        How many rounds may be wrong. "auto" tolerates, in `Steady`, 15 % of wrong rows and 15 % of wrong
        targets for numbers, 15 % of wrong rows and some 5 % of wrong labels for labels. With `Guarded` it
        tolerates 10 % of wrong rows and targets, and 1 % of wrong labels in rows whose features are not
        wrong, for each label. 0 keeps every round.
    learner : a learner, optional
        If features are scaled, it has one weight more than there are features, for the constant. By default
        that of `default_learner`.
    scale : bool
        Whether features, and targets, have a running scale.
    memory : "auto" or a number of rounds
        With `Steady`, the longest memory of a regression; "auto" is for ever.
    patience : "auto" or a number of rounds
        So many bad rounds in a row are withstood, and after a change of units about so many good ones are
        lost. "auto" is 1,000.
    delay : int
        The number of rounds of a batch that is predicted before it is learned from; 0 if the batches begin
        where the game is told so. Only `Steady` is judged by it.
    weighted : bool
        Whether rounds have weights. For `Steady`.

    Examples
    --------
    >>> recommended(regression=False, memory=10_000, delay=50).learner.memories.tolist()
    [10000.0, 10000.0, 1000.0, 100.0]
    """
    learner = default_learner(regression, scale) if learner is None else learner
    features, target, gradient = filters_for(outliers)
    if scale and isinstance(learner, Ridges | Logits):
        if isinstance(learner, Ridges) != bool(regression):
            raise ValueError(f"{type(learner).__name__} is for {'labels' if regression else 'numbers'}")
        rows = None if is_auto(memory) else rounds_for("memory", memory, 0.0)
        patient = int(rounds_for("patience", patience, PATIENCE))
        if isinstance(learner, Ridges):
            return choice.for_numbers(learner, outliers, rows, patient, delay, weighted)
        return choice.for_labels(learner, outliers, rows, patient, delay, weighted)
    if not (is_auto(memory) and is_auto(patience)):
        raise ValueError(
            "memory and patience are for the default learner with scaled features: "
            f"got memory={memory!r} and patience={patience!r}"
        )
    if regression and scale:
        return Guarded(Scaled(learner, target=True), features, target, Everything())
    scaled = Scaled(learner) if scale else learner
    return Guarded(scaled, features, Everything(), gradient, labels=not regression)


def default_learner(regression, scale=True, loss=None, columns=0, plain=False):
    """The learner to use if none is chosen.

    With a scale, `Ridges` for numbers and `Logits` for labels with log loss. With more than 300 columns their
    covariance is diagonal. For all others, if `plain`, and for rows that stay sparse, AdaGrad: for these
    `columns` is infinite.

    >>> default_learner(regression=True, columns=500).covariance
    Diagonal()
    """
    loss = loss or recommended_loss(regression)
    if plain or not scale or columns == math.inf or not (regression or isinstance(loss, Logistic)):
        return LEARNER
    covariance = Full() if columns <= MOST_COLUMNS else Diagonal()
    return (ridges_for(loss) if regression else Logits())._replace(covariance=covariance)


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
        return ridges_for(loss)._replace(covariance=FOR_NUMBERS[name].covariance)
    if name in FOR_LABELS:
        if not isinstance(loss, Logistic):
            raise ValueError(f"{name} is made for log loss: use it with Logistic(), not with {loss!r}")
        return FOR_LABELS[name]
    return suited(ALL_LEARNERS[name], loss)


def suited(learner, loss):
    """The learner, with the Lipschitz constant of the loss if it needs it; raises if the two do not fit."""
    refuse_pair(learner, loss)
    if learner.needs().losses != "Lipschitz":
        return learner
    check_role(loss, LipschitzLoss)
    if not loss.lipschitz() < math.inf:
        name = type(learner).__name__
        raise ValueError(f"{name} must know how steep a loss can be, and {loss!r} has no limit")
    return learner._replace(steepest=loss.lipschitz())


def refuse_pair(learner, loss):
    """Raise if a learner would learn with another loss than this one."""
    needs, name = learner.needs(), type(learner).__name__
    needed = "any" if needs is None else "squared" if isinstance(learner, RobustRidge) else needs.losses
    if isinstance(learner, Mixture) and learner.loss != loss:
        raise ValueError(f"{name} learns with {learner.loss!r}, not with {loss!r}: give both the same loss")
    if needed == "squared" and not isinstance(loss, Squared):
        raise ValueError(f"{name} is made for squared losses: use it with Squared(), not with {loss!r}")
    if needed == "exp-concave" and not isinstance(loss, Squared | Logistic | SquaredHinge):
        raise ValueError(
            f"{name} is made for exp-concave losses: use it with Squared(), "
            f"Logistic() or SquaredHinge(), not with {loss!r}"
        )
    if needed == "logistic" and not isinstance(loss, Logistic):
        raise ValueError(f"{name} is made for logistic losses: use it with Logistic(), not with {loss!r}")


def refuse_weights(learner):
    """Raise if a learner uses more than the gradient, because a weight can only multiply the gradient."""
    if isinstance(learner, OnlineRidge | VAW | ScaleInvariant | RobustRidge | Mixture):
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


def is_auto(value):
    return isinstance(value, str) and value == "auto"


def rounds_for(name, value, auto):
    """A number of rounds as a float, `auto` for "auto"; raises if it is no number or less than 10."""
    if is_auto(value):
        return float(auto)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 10 <= value < math.inf:
        raise ValueError(f'{name} must be "auto" or a number of rounds, at least 10: got {value!r}')
    return float(value)
