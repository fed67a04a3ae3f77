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
    OnlineRidge,
    Scaled,
    ScaleInvariant,
    SoloFTRL,
)
from holdfast.losses import Absolute, Hinge, Linear, Logistic, Squared, SquaredHinge
from holdfast.protocols import Filter, LipschitzLoss
from holdfast.role_checks import Rule, check_role

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
_FOR_EXPERTS = ("adahedge", "squint", "eg")
FEATURES = TARGET = TopShare(0.1, slack=4.5)
GRADIENT = TopShare(0.01)


def recommended(regression, outliers="auto", learner=LEARNER, scale=True):
    """A guarded player for standardised features, chosen on public data (`docs/real-data.md`).

    Features are always filtered. Numbers as targets are filtered in units of their running scale. Then
    features and targets bound the gradients, so gradients are filtered only if there is no scale. The
    gradients of labels are always filtered, with a filter for each label.

    Parameters
    ----------
    regression : bool
        Whether targets are numbers, which are standardised too, or labels -1 and +1.
    outliers : "auto", a share below 1, a count, or a filter
        How many rounds may be wrong. "auto" tolerates 10 % of wrong rows and targets, and 1 % of wrong labels
        in rows whose features are not wrong, for each label. 0 keeps every round.
    learner : a learner
        If features are scaled, it has one weight more than there are features, for the constant.
    scale : bool
        Whether features, and targets, have a running scale.
    """
    features, target, gradient = filters_for(outliers)
    if regression and scale:
        return Guarded(Scaled(learner, target=True), features, target, Everything())
    scaled = Scaled(learner) if scale else learner
    return Guarded(scaled, features, Everything(), gradient, labels=not regression)


def named_learner(name, loss):
    """The learner of this name, for a linear model with this loss; raises if there is none.

    Examples
    --------
    >>> named_learner("adaftrl", Hinge())
    AdaFTRL(domain=Ball(radius=1.0, around=0.0))
    """
    if name in _FOR_EXPERTS:
        raise ValueError(
            f"{name} divides weight among experts, and a linear model has features instead: "
            f"use one of {', '.join(LEARNERS)}"
        )
    if name not in LEARNERS:
        raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, or a learner itself: got {name!r}")
    return suited(LEARNERS[name], loss)


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
    if needed != "Lipschitz":
        return learner
    check_role(loss, LipschitzLoss)
    if not loss.lipschitz() < math.inf:
        raise ValueError(f"{name} must know how steep a loss can be, and {loss!r} has no limit")
    return learner._replace(steepest=loss.lipschitz())


def refuse_weights(learner):
    """Raise if a learner uses more than the gradient, because a weight can only multiply the gradient."""
    if isinstance(learner, OnlineRidge | VAW | ScaleInvariant):
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
    return Absolute() if regression else Hinge()


def filters_for(outliers):
    """The filters for features, targets and gradients."""
    if isinstance(outliers, str):
        if outliers != "auto":
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
