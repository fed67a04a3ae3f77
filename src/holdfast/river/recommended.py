"""The filters of `Robust`."""

import numbers
from typing import NamedTuple

from holdfast.defaults import PATIENCE, filters_for, is_auto, rounds_for
from holdfast.filters import TopShare
from holdfast.river.named_units import NEAR
from holdfast.steady.choice import gate_for

_FOR_NUMBERS, _FOR_LABELS = 0.15, 0.1  # the shares of bad rows; a larger one has a longer warm-up
_SLACK = 15.0
_GRADIENT = TopShare(0.01)


class Recommended(NamedTuple):
    """Filters for features, target and gradient. The first two keep a size up to `near` units."""

    filters: tuple
    near: float


def recommended(regression, outliers, patience):
    """The filters for parameters of `Robust`; raises if they do not go together.

    With "auto" or a share they are those of `holdfast.steady.Steady`, and follow changes. Others are used as
    they are, for all three sizes.

    >>> recommended(True, "auto", patience=50).filters[0].patience
    50
    """
    filters = filters_for(outliers)
    share = (_FOR_NUMBERS if regression else _FOR_LABELS) if is_auto(outliers) else outliers
    if isinstance(share, numbers.Real) and 0.0 < share < 1.0:
        sizes = gate_for(share, share, _SLACK, int(rounds_for("patience", patience, PATIENCE)))
        return Recommended((sizes, sizes, _GRADIENT if is_auto(outliers) else filters[2]), NEAR)
    if not is_auto(patience):
        raise ValueError(
            'patience is for outliers="auto" or a share: with a count or a filter nothing is forgotten, '
            f"got patience={patience!r}"
        )
    return Recommended(filters, 0.0)
