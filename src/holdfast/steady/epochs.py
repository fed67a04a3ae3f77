"""What the theorem needs of the rounds that the fallback has learned from since its last start: an epoch."""

import numpy as np

from holdfast.vectors import dot, sum_abs

JUDGED, UNJUDGED, LOST, FAR, WIDE = range(5)


def new_epoch():
    """Its numbers before the first round: rounds with and without a forecast that was given, what the
    forecasts that were given lost beside those one row ahead, how far the latter were from those of the
    start, and the largest sum of absolute cells.
    """
    return np.zeros(5)


def count_learned(epoch, fallback, row, z, lost):
    """Count a round from which the fallback learns; its forecast of now is z.

    `lost` is by how much the loss of the forecast that was given exceeds that of z; below 0 if none was.
    """
    epoch[FAR] = max(float(epoch[FAR]), abs(z - dot(fallback.around, row)))
    epoch[WIDE] = max(float(epoch[WIDE]), sum_abs(row))
    if lost >= 0.0:
        epoch[JUDGED] += 1.0
        epoch[LOST] += lost
    else:
        epoch[UNJUDGED] += 1.0
