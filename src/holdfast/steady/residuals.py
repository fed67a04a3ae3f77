"""The usual size of a residual: the order statistic that the filters use, in a short window."""

import math
from typing import NamedTuple

import numpy as np

from holdfast.rule import rarely_called
from holdfast.steady.units import budget, end_of
from holdfast.vectors import assign, sum_abs

_BITS = 2  # an octave has four places
_OCTAVES, _MIDDLE = 64, 32  # residuals from 2^-32 to 2^31 units of the target
PLACES = _OCTAVES << _BITS
_SHIFT = 52 - _BITS  # of the bits of a float: its octave and two bits of its fraction are left
_FIRST = (1022 - _MIDDLE) << _BITS  # what these are for the first place
_NORMAL = 1.44  # the 85 % quantile of absolute normal numbers
_FEW = 20  # residuals: with fewer, the usual one counts as 1
_OFTEN, _RARELY, _YOUNG = 1, 8, 100  # it is computed anew every eighth round, in the first 100 every round


class Residuals(NamedTuple):
    """For each learner the sizes of its residuals in two blocks, and the usual one."""

    counts: np.ndarray  # by learner, block (the last one, this one) and place
    seen: np.ndarray  # by learner and block
    places: np.ndarray  # by learner: that of the usual one, and how many sizes have a higher place
    usual: np.ndarray


def new_residuals(learners: int) -> Residuals:
    """Residuals of learners that had none."""
    arrays = (np.zeros((learners, 2, PLACES)), np.zeros((learners, 2)), np.zeros((learners, 2)))
    return Residuals(*arrays, np.ones(learners))


@rarely_called
def forget_residuals(residuals: Residuals) -> None:
    """Set it back to the beginning, in place."""
    forget_counts(residuals)
    residuals.usual[:] = 1.0


@rarely_called
def forget_counts(residuals: Residuals) -> None:
    """Forget all sizes, but not the usual ones, in place."""
    residuals.counts[:] = 0.0
    residuals.seen[:] = 0.0
    residuals.places[:] = 0.0


def are_valid_residuals(residuals: Residuals) -> bool:
    """Whether `count_residual` can go on: it walks over the counts from its last place."""
    counts, places = residuals.counts, residuals.places
    for k in range(len(places)):
        place, higher = places[k]
        inside = 0.0 <= place < PLACES and math.floor(place) == place
        if not inside or higher != np.sum(counts[k, :, int(place) + 1 :]):
            return False
    return bool(np.all(counts >= 0.0)) and bool(np.all(residuals.usual > 0.0))


def place_of(size: float) -> int:
    """The place of a size: four in an octave, of equal length."""
    if not size > 0.0:
        return 0
    place = (int(np.float64(size).view(np.int64)) >> _SHIFT) - _FIRST  # this is faster than frexp
    return min(max(place, 0), PLACES - 1)


def lower_end(place: int) -> float:
    """The smallest size of a place."""
    return float(np.int64((place + _FIRST) << _SHIFT).view(np.float64))


def sum_of_largest(counts: np.ndarray, k: float, most: float) -> float:
    """The sum of the k largest of these sizes, or up to a quarter more; none of them exceeds `most`."""
    total, left = 0.0, float(k)
    for i in range(PLACES - 1, -1, -1):
        some = min(left, float(counts[i]))
        total += some * min(lower_end(i + 1), most) if i < PLACES - 1 else some * most
        left -= some
    return total


def usual_size(counts: np.ndarray, places: np.ndarray, seen: float, share: float) -> float:
    """The (k + 1)-th largest size of both blocks, or of those that are not 0, as a standard deviation."""
    place = place_from(counts, places, budget(seen, share))
    if place == 0:
        others = seen - float(counts[0, 0]) - float(counts[1, 0])
        place = place_of_rank(counts, budget(others, share)) if others > 0.0 else 0
    return lower_end(place) / _NORMAL if place > 0 else 0.0


def place_from(counts: np.ndarray, places: np.ndarray, k: float) -> int:
    """`place_of_rank`, found from the last one: it moves little from round to round."""
    place, higher = int(places[0]), float(places[1])
    while higher > k:
        place += 1
        higher -= float(counts[0, place]) + float(counts[1, place])
    while place > 0:
        own = float(counts[0, place]) + float(counts[1, place])
        if higher + own > k:
            break
        higher += own
        place -= 1
    places[0], places[1] = float(place), higher
    return place


def count_higher(counts: np.ndarray, places: np.ndarray) -> None:
    """Count again how many sizes have a higher place."""
    start = int(places[0]) + 1
    places[1] = sum_abs(counts[0, start:]) + sum_abs(counts[1, start:])


def place_of_rank(counts: np.ndarray, k: float) -> int:
    """The place of the (k + 1)-th largest size; 0 if that is 0."""
    total, last = 0.0, max(end_of(counts[0]), end_of(counts[1])) - 1
    for i in range(last, 0, -1):
        total += float(counts[0, i]) + float(counts[1, i])
        if total > k:
            return i
    return 0


def count_residual(
    residuals: Residuals, k: int, size: float, window: float, share: float, least: float, rounds: float
) -> None:
    """Count a residual of learner k, and sometimes compute the usual one again, at least `least`."""
    counts, seen, places = residuals.counts[k], residuals.seen[k], residuals.places[k]
    if seen[1] >= window:
        assign(counts[0], counts[1])
        assign(counts[1], np.zeros(PLACES))
        seen[0], seen[1] = seen[1], 0.0
        count_higher(counts, places)
    place = place_of(size)
    counts[1, place] += 1.0
    seen[1] += 1.0
    if place > places[0]:
        places[1] += 1.0
    n = float(seen[0]) + float(seen[1])
    if n >= _FEW and int(rounds) % (_OFTEN if rounds < _YOUNG else _RARELY) == 0:
        residuals.usual[k] = max(usual_size(counts, places, n, share), least)


@rarely_called
def rescale_residuals(residuals: Residuals, octaves: int) -> None:
    """Express all residuals in a unit that is 2^octaves times as large, in place."""
    shift, factor = octaves << _BITS, math.ldexp(1.0, -octaves)
    for k in range(len(residuals.usual)):
        residuals.usual[k] *= factor
        for block in range(2):
            counts = residuals.counts[k, block]
            if shift > 0:
                low = float(np.sum(counts[1 : min(shift + 1, PLACES)]))
                for i in range(1, PLACES):
                    counts[i] = counts[i + shift] if i + shift < PLACES else 0.0
                counts[0] += low
            else:
                high = float(np.sum(counts[max(PLACES + shift, 1) :]))
                for i in range(PLACES - 1, 0, -1):
                    counts[i] = counts[i + shift] if i + shift > 0 else 0.0
                counts[PLACES - 1] += high
        count_higher(residuals.counts[k], residuals.places[k])
