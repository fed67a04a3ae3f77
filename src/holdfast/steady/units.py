"""Centers and units of columns that hold: they change only if they are off by a factor of four.

The unit of a column is the paper's order statistic (Lemma A1): the (k + 1)-th largest deviation from the
center, where k is the number of rows that may be wrong. So it is never larger than what the good rows have
shown, and a median or a mean that collapses on many equal values is not needed. If nearly all values equal
the center, the unit is the median deviation of the others: the 1 of a rare 0/1 column is one unit from its 0,
also where a third of the values that are not 0 are wrong ones.

Deviations are counted by octaves. The unit is the lower end of the octave, a power of two, so to express a
weight in another unit is exact. Counts fade: when there are 2,000 they are halved. A value that has repeated
the one before 100 times says nothing new and is not counted, so a sensor that is stuck keeps its unit.
"""

import math
from typing import NamedTuple

import numpy as np

from holdfast.kernels import Entry, each_entry, where
from holdfast.rule import rarely_called
from holdfast.vectors import sum_abs

OCTAVES = 256  # deviations from 2^-128 to 2^127; the first place is for 0 and what is smaller
_MIDDLE = 128
_MEMORY = 2000.0  # values of a column: after so many its counts are halved
_WIDE = 2  # octaves: a unit that is off by so many is replaced
_FAR = 2.0  # units: a center that is off by so many is replaced
_APART = 4.0  # units: rows whose center is so far away are others
_SMALLER, _LARGER = 8.0, 0.25  # the same, if their units are smaller by this factor, and not larger by four
_NEAR = 3.0  # units: a value moves the mean no further
_STUCK = 100.0  # rows: a value that has repeated so often is not counted
_OFTEN, _RARELY, _YOUNG = 16, 64, 512  # a column is looked at every 16 rounds, after the first 512 every 64
_FIELD = 1022 - _MIDDLE  # what the exponent in the bits of a float is for the first place
_ZERO, _SMALLEST, _LARGEST = 2.0**-129, 2.0**-128, 2.0**126  # of the first place, the second and the last
_AT_ONCE = 16  # counts: most of the large octaves are empty


class Units(NamedTuple):
    """For every column its center and unit, and what it takes to find better ones. The target may be last."""

    center: np.ndarray
    factors: np.ndarray  # 1 / unit; 0 for a column that has not varied
    means: np.ndarray  # running means, a row moves them by at most three units
    counts: np.ndarray  # of deviations, by column and octave
    seen: np.ndarray  # the sums of these counts
    last: np.ndarray  # the last value of each column
    repeats: np.ndarray  # how often it came again


def new_units(columns: int) -> Units:
    """Units of columns of which nothing is known."""
    numbers = (np.zeros(columns), np.zeros(columns), np.zeros(columns), np.zeros((columns, OCTAVES)))
    return Units(*numbers, np.zeros(columns), np.full(columns, math.nan), np.zeros(columns))


def are_valid(units: Units) -> bool:
    """Whether units that were read from a file can be used."""
    finite = np.isfinite(units.center) & np.isfinite(units.means) & (units.seen >= 0.0)
    fine = (units.factors >= 0.0) & (units.factors <= 2.0**_MIDDLE)
    return bool(np.all(finite & fine)) and bool(np.all(units.counts >= 0.0))


@rarely_called
def forget_units(units: Units) -> None:
    """Set all of it back to the beginning, in place."""
    for array in (units.center, units.factors, units.means, units.seen, units.repeats):
        array[:] = 0.0
    units.counts[:] = 0.0
    units.last[:] = math.nan


def octave_of(deviation: float) -> int:
    """The place of a deviation in the counts: that of 2^(e - 1) <= |deviation| < 2^e is e + 128."""
    size = abs(deviation)
    if not size > 0.0:
        return 0
    return min(max(math.frexp(size)[1] + _MIDDLE, 1), OCTAVES - 1)


def budget(n: float, share: float) -> float:
    """How many of n values may be wrong, if the probability of each is `share`: two deviations above."""
    return share * n + 2.0 * math.sqrt(share * n)


def octave_of_rank(counts: np.ndarray, k: float) -> int:
    """The octave of the (k + 1)-th largest deviation; 0 if that is 0."""
    total = 0.0
    for i in range(end_of(counts) - 1, 0, -1):
        total += float(counts[i])
        if total > k:
            return i
    return 0


def end_of(counts: np.ndarray) -> int:
    """An index from which on there are no counts."""
    end = len(counts)
    while end > _AT_ONCE and sum_abs(counts[end - _AT_ONCE : end]) == 0.0:
        end -= _AT_ONCE
    return end


def unit_octave(counts: np.ndarray, seen: float, share: float) -> int:
    """The octave of the unit: that of the (k + 1)-th largest deviation.

    If that is 0, it is that of the median of the others: wrong values may be a large part of them.
    """
    octave = octave_of_rank(counts, budget(seen, share))
    if octave > 0:
        return octave
    others = seen - float(counts[0])
    return octave_of_rank(counts, 0.5 * others)


def factor_of(octave: int) -> float:
    """1 / unit of an octave."""
    return math.ldexp(1.0, _MIDDLE + 1 - octave) if octave > 0 else 0.0


def octave_of_factor(factor: float) -> int:
    """The octave of a unit."""
    return octave_of(1.0 / factor) if factor > 0.0 else 0


@rarely_called
def measure_units(units: Units, rows: np.ndarray, share: float) -> Units:
    """Set all units from some rows, in place: medians as centers. Missing cells do not count."""
    for j in range(len(units.center)):
        center, seen = count_column(rows[:, j], units.counts[j])
        units.center[j], units.means[j], units.seen[j] = center, center, seen
        units.factors[j] = factor_of(unit_octave(units.counts[j], seen, share))
        units.last[j], units.repeats[j] = math.nan, 0.0
    return units


def count_column(values: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Fill in the counts of deviations from the median. Returns the median and the number of values."""
    counts[:] = 0.0
    column = np.sort(values[np.isfinite(values)])
    if len(column) == 0:
        return 0.0, 0.0
    center = float(column[(len(column) - 1) // 2])
    for i in range(len(column)):
        counts[octave_of(float(column[i]) - center)] += 1.0
    return center, float(len(column))


@rarely_called
def have_changed(
    center: np.ndarray, factors: np.ndarray, rows: np.ndarray, share: float, near: float, target: int
) -> bool:
    """Whether some rows are better ones to start from: bad rows have set these units.

    A column has others if its unit is smaller by a factor of eight or more, or its center four units away.
    The column `target` decides alone, if there is one. Of the features, all must have others: then whole rows
    were wrong. If only some have, they may be quiet for a while. But one is enough if its unit is smaller by
    a factor of `near`, or its center so many units away: in its unit, the gate would refuse the first rows.

    If the unit of a column is larger by more than four, these rows may be the bad ones themselves: the gate
    lets them in if they are many. Only columns with values other than the center in a third of the rows are
    compared.
    """
    counts, one, compared, every = np.zeros(OCTAVES), False, False, True
    for j in range(len(factors)):
        median, seen = count_column(rows[:, j], counts)
        octave = unit_octave(counts, seen, share)
        varied = seen - float(counts[0]) >= len(rows) / 3.0
        if factors[j] > 0.0 and octave > 0 and varied:
            own, new = float(factors[j]), factor_of(octave)
            smaller, moved = new / own, abs(median - float(center[j])) if new >= _LARGER * own else 0.0
            if j == target:
                one = one or smaller >= _SMALLER or moved * max(own, new) > _APART
            else:
                one = one or max(smaller, moved * new) > near
                compared, every = True, every and (smaller >= _SMALLER or moved * new > _APART)
    return one or (compared and every)


def count_row(units: Units, row: np.ndarray, columns: int, share: float, rounds: float) -> bool:
    """Count the values of a row, in the first so many columns. Returns whether a unit should be replaced.

    The row is a buffer, and holds the sizes of deviations afterwards. Their octaves are `octave_of` them.
    """
    center, factors, means, counts, seen, last, repeats = units
    learned, about = (means[:columns], seen[:columns], last[:columns]), (center[:columns], factors[:columns])
    due = not _count_values(*learned, repeats[:columns], *about, row[:columns])
    period, bits = _OFTEN if rounds < _YOUNG else _RARELY, row.view(np.int64)
    for j in range(columns):
        if repeats[j] <= _STUCK:
            counts[j, ((int(bits[j]) >> 52) - _FIELD) & (OCTAVES - 1)] += 1.0  # faster than frexp
    for j in range(-int(rounds) % period, columns, period):
        if factors[j] > 0.0 and repeats[j] <= _STUCK:
            due = is_off(units, j, share) or due
    return due


@np.errstate(all="ignore")
@each_entry("means", "seen", "last", "repeats", "x", reports=True)
def _count_values(
    means: Entry, seen: Entry, last: Entry, repeats: Entry, center: Entry, factors: Entry, x: Entry
) -> tuple[Entry, Entry, Entry, Entry, Entry, Entry]:
    """The size of a deviation is at least the end of an octave that is counted. A column is fine unless it
    begins to vary.
    """
    again = x == last
    times = where(again, repeats + 1.0, 0.0)
    counts = times < _STUCK + 1.0
    n = where(counts, seen + 1.0, seen)
    far = (x - means) * factors
    near = where(far > _NEAR, _NEAR, where(far < -_NEAR, -_NEAR, far))
    step = near / (where(n < _MEMORY, n, _MEMORY) * factors)
    moved = where(counts & (factors > 0.0), means + step, means)
    size = abs(x - center)
    known = where(size < _LARGEST, where(size > _SMALLEST, size, _SMALLEST), _LARGEST)
    fine = (factors != 0.0) | (size == 0.0) | (times > _STUCK)
    return moved, n, where(again, last, x), times, where(size == 0.0, _ZERO, known), fine


def repeated(units: Units, columns: int) -> float:
    """How often the whole row has repeated the one before."""
    least = math.inf
    for j in range(columns):
        least = min(least, float(units.repeats[j]))
        if least == 0.0:
            return 0.0
    return least if least < math.inf else 0.0


def is_off(units: Units, j: int, share: float) -> bool:
    """Whether a column needs another center or unit. Halves its counts if there are many."""
    if units.seen[j] > _MEMORY:
        units.counts[j] *= 0.5
        units.seen[j] *= 0.5
    factor, counts, seen = float(units.factors[j]), units.counts[j], float(units.seen[j])
    moved, own = abs(float(units.means[j]) - float(units.center[j])) * factor, octave_of_factor(factor)
    if moved <= _FAR and is_about(counts, own, budget(seen, share)):
        return False
    octave = unit_octave(counts, seen, share)
    return octave > 0 and (moved > _FAR or abs(octave - own) >= _WIDE)


def is_about(counts: np.ndarray, octave: int, k: float) -> bool:
    """Whether the (k + 1)-th largest deviation is in this octave or beside it. `octave_of_rank` is slower."""
    first, after = max(octave - _WIDE + 1, 1), min(octave + _WIDE, OCTAVES)
    larger = sum_abs(counts[after:])
    if larger > k:
        return False
    for i in range(first, after):
        larger += float(counts[i])
    return larger > k


def replaced(units: Units, j: int, share: float) -> tuple[float, float]:
    """Replace center and unit of a column, in place. Returns by how many old units the center has moved, and
    the new unit in old ones.

    If the center moves, the counts are about another center, and count a quarter.
    """
    factor, octave = float(units.factors[j]), unit_octave(units.counts[j], float(units.seen[j]), share)
    new = factor_of(octave)
    units.factors[j] = new
    if factor == 0.0:
        return 0.0, 1.0
    moved = (float(units.means[j]) - float(units.center[j])) * factor
    if abs(moved) <= _FAR:
        # The mean was moved in old units. In a smaller one it would be far away, though the counts say that
        # the values are near the center: then it would become the center, and good rows would be refused.
        most, off = _FAR / new, float(units.means[j]) - float(units.center[j])
        if abs(off) > most:
            units.means[j] = units.center[j] + math.copysign(most, off)
        return 0.0, factor / new
    units.center[j] = units.means[j]
    units.counts[j] *= 0.25
    units.seen[j] *= 0.25
    return moved, factor / new
