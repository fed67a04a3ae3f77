"""What the theorem needs of the rounds that the fallback has learned from since its last start: an epoch."""

from typing import NamedTuple

import numpy as np

from holdfast.learners.bettors import BettorsState
from holdfast.rule import rarely_called
from holdfast.steady.residuals import PLACES, place_of
from holdfast.vectors import assign, dot, sum_abs

JUDGED, UNJUDGED, LOST, FARTHEST, WIDEST = range(5)


class Epoch(NamedTuple):
    """Counts and largest values of these rounds."""

    numbers: np.ndarray  # rounds with and without a forecast that was given; what forecasts that were given
    # lost beside those one row ahead; the largest of each of the following
    apart: np.ndarray  # counts: how far forecasts one row ahead were from those of the start
    widths: np.ndarray  # counts: the sum of the absolute cells of a row


def new_epoch() -> Epoch:
    """An epoch before its first round."""
    return Epoch(np.zeros(5), np.zeros(PLACES), np.zeros(PLACES))


@rarely_called
def forget_epoch(epoch: Epoch) -> None:
    """Set it back to the beginning, in place."""
    assign(epoch.numbers, np.zeros(5))
    assign(epoch.apart, np.zeros(PLACES))
    assign(epoch.widths, np.zeros(PLACES))


def count_learned(epoch: Epoch, fallback: BettorsState, row: np.ndarray, z: float, lost: float) -> None:
    """Count a round from which the fallback learns; its forecast of now is z.

    `lost` is by how much the loss of the forecast that was given exceeds that of z; below 0 if none was.
    """
    numbers, far, wide = epoch.numbers, abs(z - dot(fallback.around, row)), sum_abs(row)
    numbers[FARTHEST] = max(float(numbers[FARTHEST]), far)
    numbers[WIDEST] = max(float(numbers[WIDEST]), wide)
    epoch.apart[place_of(far)] += 1.0
    epoch.widths[place_of(wide)] += 1.0
    if lost >= 0.0:
        numbers[JUDGED] += 1.0
        numbers[LOST] += lost
    else:
        numbers[UNJUDGED] += 1.0
