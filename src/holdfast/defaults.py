"""The learner and the filters that the estimators use if you choose none."""

import math
from typing import Any

from holdfast.checks import FEATURES, GRADIENT, TARGET, Guarded, usual_checks
from holdfast.filters import Everything
from holdfast.learners import Scaled
from holdfast.losses import Logistic
from holdfast.options import (
    LEARNER,
    filter_of,
    is_auto,
    read_loss,
    read_outliers,
    read_rows,
    refuse_without_default,
)
from holdfast.protocols import Filter, Loss
from holdfast.rule import replaced
from holdfast.steady import Diagonal, Full, Logits, Ridges
from holdfast.steady.choice import MOST_COLUMNS, PATIENCE, ridges_for, steady_for


def recommended(
    regression: bool,
    outliers: Any = "auto",
    learner: Any = None,
    scale: bool = True,
    memory: Any = "auto",
    patience: Any = "auto",
    delay: int = 1,
    weighted: bool = False,
) -> Any:
    """The player that the estimators use, chosen on public data (`docs/real-data.md`).

    With a running scale, and no learner or one of `holdfast.steady`, it is `holdfast.steady.Steady`: it has a
    theorem, follows changes and is judged as it was asked. With another learner, or without a scale, it is
    `Guarded`, which has a theorem too: features are always filtered, and so are targets in units of their
    running scale, or else gradients. The gradients of labels are filtered for each label.

    Parameters:
        regression: Whether targets are numbers, which are standardised too, or labels -1 and +1.
        outliers ("auto", a share below 1, a count, or a filter): How many rounds may be wrong. "auto"
            tolerates, in `Steady`, 15 % of wrong rows and 15 % of wrong targets for numbers, 15 % of wrong
            rows and some 5 % of wrong labels for labels. With `Guarded` it tolerates 10 % of wrong rows and
            targets, and 1 % of wrong labels in rows whose features are not wrong, for each label. 0 keeps
            every round.
        learner: If features are scaled, it has one weight more than there are features, for the constant. By
            default that of `default_learner`.
        scale: Whether features, and targets, have a running scale.
        memory ("auto" or a number of rounds): With `Steady`, the longest memory of a regression; "auto" is
            for ever.
        patience ("auto" or a number of rounds): So many bad rounds in a row are withstood, and after a change
            of units about so many good ones are lost. "auto" is 1,000.
        delay: The number of rounds of a batch that is predicted before it is learned from; 0 if the batches
            begin where the game is told so. Only `Steady` is judged by it.
        weighted: Whether rounds have weights. For `Steady`.

    >>> recommended(regression=False, memory=10_000, delay=50).learner.memories.tolist()
    [10000.0, 10000.0, 100.0]
    """
    learner = default_learner(regression, scale) if learner is None else learner
    outliers = read_outliers(outliers)
    features, target, gradient = filters_for(outliers)
    if scale and isinstance(learner, Ridges | Logits):
        if isinstance(learner, Ridges) != bool(regression):
            raise ValueError(f"{type(learner).__name__} is for {'labels' if regression else 'numbers'}")
        rows, patient = read_rows("memory", memory), int(read_rows("patience", patience) or PATIENCE)
        return steady_for(learner, outliers, rows, patient, delay, weighted)
    refuse_without_default(memory, patience)
    if regression and scale:
        return Guarded(Scaled(learner, target=True), usual_checks(features, target, Everything()))
    scaled = Scaled(learner) if scale else learner
    return Guarded(scaled, usual_checks(features, Everything(), gradient, by_label=not regression))


def default_learner(
    regression: bool, scale: bool = True, loss: Loss | None = None, columns: float = 0, plain: bool = False
) -> Any:
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
    return replaced(ridges_for(loss) if regression else Logits(), covariance=covariance)


def recommended_loss(regression: bool) -> Loss:
    """The loss to use with `recommended`."""
    return read_loss("auto", regression)


def filters_for(outliers: Any) -> tuple[Filter, Filter, Filter]:
    """The filters for features, targets and gradients."""
    outliers = read_outliers(outliers)
    return (FEATURES, TARGET, GRADIENT) if is_auto(outliers) else (filter_of(outliers),) * 3
