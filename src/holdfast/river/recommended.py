"""The filters of `Robust`, and how long it remembers."""

import math
import numbers
from typing import Any, NamedTuple

from holdfast.defaults import PATIENCE, filters_for, is_auto, rounds_for
from holdfast.filters import TopShare
from holdfast.for_numbers import MEMORY

_FOR_NUMBERS, _FOR_LABELS = 0.15, 0.1  # the shares of bad rows, as in the estimators for scikit-learn
_GRADIENT = TopShare(0.01)
_LABEL_MEMORY = 580.0  # rows, of scales for labels: chosen on spambase, Phishing and ImageSegments
_SLACK, _WINDOW = 15.0, 3  # the window is in units of the patience


class Recommended(NamedTuple):
    """Filters for features, target and gradient; memory and patience in rows, infinite for "for ever"."""

    filters: tuple
    memory: float
    patience: Any


def recommended(regression, outliers, memory, patience):
    """The filters, memory and patience for parameters of `Robust`; raises if they do not go together.

    >>> recommended(True, "auto", memory=50, patience="auto")[1:]
    (50.0, 1000)
    """
    filters = filters_for(outliers)
    auto, share = (MEMORY, _FOR_NUMBERS) if regression else (_LABEL_MEMORY, _FOR_LABELS)
    share = share if is_auto(outliers) else outliers
    if isinstance(share, numbers.Real) and 0.0 < share < 1.0:
        rows = int(rounds_for("patience", patience, PATIENCE))
        sizes = TopShare(float(share), slack=_SLACK, window=_WINDOW * rows, patience=rows)
        gradient = _GRADIENT if is_auto(outliers) else filters[2]
        return Recommended((sizes, sizes, gradient), rounds_for("memory", memory, auto), rows)
    if not (is_auto(memory) and is_auto(patience)):
        raise ValueError(
            'memory and patience are for outliers="auto" or a share: with a count or a filter nothing is '
            f"forgotten, got memory={memory!r} and patience={patience!r}"
        )
    return Recommended(filters, math.inf, math.inf)
