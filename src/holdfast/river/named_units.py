"""Centers and units of features that have names: how unusual is a value?"""

import math
import numbers
import statistics
from typing import Any

from holdfast.river.cells import as_float, is_missing
from holdfast.steady.units import budget, factor_of, octave_of, octave_of_factor

FAR = 1e100  # squares and cubes of smaller numbers are finite; with larger ones River's models overflow
FIRST = 8  # values of a feature: their median is its first center
_FEW = 3  # with fewer values a feature has no unit
_MEMORY = 2000.0  # the other constants are those of `holdfast.steady.units`
_WIDE, _FAR, _NEAR = 2, 2.0, 3.0
_STUCK = 20  # equal values in a row; `holdfast.steady.units` counts only the first of them
_OFTEN, _RARELY, _YOUNG = 16, 64, 512


class NamedUnits:
    """For each feature a center and a unit, the order statistic of `holdfast.steady.units`.

    The size of a row is the largest deviation from a center, in units. It is a maximum, so a single wrong
    sensor counts in full, whatever the other features are. A feature that is new, or was always constant,
    does not count. A row without known features has size 1.

    Parameters
    ----------
    share : float
        The share of the values of a feature that may be wrong.

    Guarantee: none of its own, because units change.

    Examples
    --------
    >>> units = NamedUnits(0.12)
    >>> for t in range(100):
    ...     units.update({"pressure": 1000.0 + t % 7, "rain": 0.0})
    >>> units.size({"pressure": 1004.0, "rain": 0.0}), units.size({"pressure": 5000.0, "rain": 0.0})
    (0.5, 1998.5)
    >>> units.size({"rain": 3.0}), units.size({"wind": 7.0})
    (1.0, 1.0)
    """

    def __init__(self, share):
        self.share = share
        self.features: dict[Any, FeatureUnit] = {}
        self.texts: dict[Any, str] = {}  # the last one of each feature

    def size(self, row):
        """The largest deviation; NaN if a number is not finite, or so large that its square might not be.

        A text has no size, but it is as bad as NaN in a feature that had numbers before. A missing value
        (None) has no size, because an imputer may replace it.
        """
        largest = None
        for name, value in row.items():
            unit = self.features.get(name)
            if type(value) is not float:
                if value is None or (unit is None and not isinstance(value, numbers.Real)):
                    continue
                value = as_float(value)
            if not -FAR < value < FAR:
                return math.nan
            if unit is not None and unit.factor > 0.0:
                deviation = abs(value - unit.center) * unit.factor
                if largest is None or deviation > largest:
                    largest = deviation
        return 1.0 if largest is None else largest

    def farthest(self, row):
        """The name and the value of the farthest cell. One that is no finite number is the farthest."""
        found, largest = ("", math.nan), -1.0
        for name, value in row.items():
            value, unit = as_float(value), self.features.get(name)
            if not -FAR < value < FAR:
                return name, value
            deviation = abs(value - unit.center) * unit.factor if unit else 0.0
            if deviation > largest:
                found, largest = (name, value), deviation
        return found

    def filled(self, row, share, drop):
        """The row with usual values for its missing cells (None or NaN), if at most this share is missing.

        A missing cell without a center is dropped, or left as it is.
        """
        missing = [name for name, value in row.items() if is_missing(value)]
        if not 0 < len(missing) <= share * len(row):
            return row
        known = {name: self.features[name].mean for name in missing if name in self.features}
        left = row if not drop else {name: value for name, value in row.items() if name not in missing}
        return {name: (left | known)[name] for name in row if name in left or name in known}

    def usual(self):
        """A row with the usual value of every feature: for numbers a running mean, for text the last one."""
        return self.texts | {name: unit.mean for name, unit in self.features.items()}

    def update(self, row):
        """Learn from the values of this row."""
        for name, value in row.items():
            if type(value) is not float:
                if isinstance(value, str):
                    self.texts[name] = value
                if not isinstance(value, numbers.Real):
                    continue
                value = as_float(value)
            unit = self.features.get(name)
            if unit is None:
                unit = self.features[name] = FeatureUnit()
            unit.update(value, self.share)


class FeatureUnit:
    """The center and the unit of one feature, as `holdfast.steady.units` has them for an array of columns.

    Counts are in a dict: there may be a hundred thousand features, each with few values.
    """

    __slots__ = ("center", "counts", "factor", "first", "last", "mean", "run", "seen")

    def __init__(self):
        self.center, self.factor, self.mean, self.seen = 0.0, 0.0, 0.0, 0.0  # factor: 1 / unit
        self.counts, self.first, self.last, self.run = {}, [], math.nan, 0

    def update(self, value, share):
        """Count a value, unless it is the last one for the 20th time: then the sensor may be stuck."""
        if self.first is not None:
            self._begin(value, share)
            return
        self.run, self.last = self.run + 1 if value == self.last else 0, value
        if self.run >= _STUCK:
            return
        self._count(value)
        if self.factor == 0.0:
            self.factor = factor_of(self.octave(share))
            return
        step = min(max((value - self.mean) * self.factor, -_NEAR), _NEAR) / self.factor
        self.mean += max(1.0 / self.seen, 1.0 / _MEMORY) * step
        if int(self.seen) % (_OFTEN if self.seen < _YOUNG else _RARELY) == 0:
            self._replace(share)

    def octave(self, share):
        """The octave of the (k + 1)-th largest deviation, or of those that are not 0; 0 if there is none."""
        others = self.seen - self.counts.get(0, 0.0)
        return self._octave_of_rank(budget(self.seen, share)) or self._octave_of_rank(budget(others, share))

    def _begin(self, value, share):
        """Measure center and unit anew from the first values."""
        self.first.append(value)
        self.center = self.mean = statistics.median_low(self.first)
        self.counts, self.seen = {}, 0.0
        for one in self.first:
            self._count(one)
        self.factor = factor_of(self.octave(share)) if len(self.first) >= _FEW else 0.0
        if len(self.first) == FIRST:
            self.first = None

    def _count(self, value):
        octave = octave_of(value - self.center)
        self.counts[octave] = self.counts.get(octave, 0.0) + 1.0
        self.seen += 1.0

    def _octave_of_rank(self, k):
        total = 0.0
        for octave in sorted(self.counts, reverse=True):
            total += self.counts[octave]
            if total > k:
                return octave
        return 0

    def _replace(self, share):
        """Another center or unit, if it is off. Counts about another center count a quarter."""
        if self.seen > _MEMORY:
            self._fade(0.5)
        octave, factor = self.octave(share), self.factor
        if octave == 0:
            return
        moved = abs(self.mean - self.center) * factor > _FAR
        if moved or abs(octave - octave_of_factor(factor)) >= _WIDE:
            self.factor = factor_of(octave)
        if moved:
            self.center = self.mean
            self._fade(0.25)
        elif self.factor > factor:
            self.mean = self.center  # it has moved in steps of a unit that was too large

    def _fade(self, factor):
        self.counts = {octave: factor * count for octave, count in self.counts.items()}
        self.seen *= factor


class TargetRange:
    """The smallest and the largest target."""

    def __init__(self):
        self.low, self.high = math.inf, -math.inf

    def update(self, row):
        for value in row.values():
            self.low, self.high = min(self.low, value), max(self.high, value)

    def clip(self, value, unit):
        """The value, clipped to the range that is wider by half of itself, or a unit, on both sides."""
        beyond = (self.high - self.low) / 6
        return max(min(value, self.high + beyond), self.low - beyond)
