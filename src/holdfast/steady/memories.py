"""What the learners for numbers and for labels share: several memories and one covariance."""

from typing import Any

import numpy as np

from holdfast.rule import rarely_called
from holdfast.vectors import add

_LOOSE = 1.5  # a variance that exceeds the prior's by this factor is set back
_LONG = 1000.0  # rounds: at first a shorter memory has a smaller part in the mean


def first_part(memory: float) -> float:
    """The part of a regression in the mean before anything was judged, over that of a long memory.

    All have seen the same then, and forecast the same. But in the first batches a burst of wrong targets
    would teach the agile ones, and the mean as far as they are part of it.
    """
    return min(memory, _LONG) / _LONG


def restore_prior(
    kind: Any, each: np.ndarray, covariance: Any, variance: float, turns: int, rounds: float, moves: bool
) -> None:
    """Set the variances of the weights whose turn it is back to that of the prior, if they are too large.

    With `moves`, the weights go back to 0 as far as this says.
    """
    dim = each.shape[1]
    for i in range(turns):
        k = (int(rounds) * turns + i) % dim
        own = kind.variance_of_weight(covariance, k)
        if own > _LOOSE * variance:
            noise = own * variance / (own - variance)
            kind.measure_weight(covariance, k)
            kind.shrink(covariance, own, noise)
            if moves:
                gain = float(covariance.growth[0]) / (noise + own)
                for row in range(len(each)):
                    add(each[row], -gain * float(each[row, k]), covariance.along)


@rarely_called
def express_column(each: np.ndarray, j: int, moved: float, factor: float) -> None:
    """Express weights in another center of a column, in old units, and multiply its own by a factor."""
    last = each.shape[1] - 1
    for row in range(len(each)):
        each[row, last] += float(each[row, j]) * moved
        each[row, j] *= factor


def told_in_unit(own: float, prior: float, unit: float) -> float:
    """How much more a weight owes to the rows, and less to its prior, in a unit that is `unit` old ones.

    The prior of a weight, mean 0 and this variance, is the same in every unit. Its own variance is
    1 / (1 / prior + i), where i is what rows say. In the new unit they say i / unit². So its variance is
    multiplied by unit² times this. A weight that no row has taught is as uncertain as before, whatever the
    old unit was.
    """
    said = max(1.0 / own - 1.0 / prior, 0.0)
    return (1.0 / prior + said) / (unit * unit / prior + said)


def weight_in_unit(unit: float, told: float) -> float:
    """The factor of a weight in such a unit, given `told_in_unit`.

    In a larger unit the prior counts for more, so the weight is smaller than `unit` times the old one. In a
    smaller unit the prior counts for less, but the weight is not larger than that: no forecast grows because
    a unit was replaced. What the prior held back, rows will teach.
    """
    return unit * min(told, 1.0)
