"""Running scales of features that have names: how unusual is a value?"""

import math
import numbers
import statistics
from typing import Any

from holdfast.river.cells import as_float, is_missing

FAR = 1e100  # squares and cubes of smaller numbers are finite; with larger ones River's models overflow
FIRST = 10  # values of a feature, for the median; later values move a mean
_SIGMAS = 3.0 * 1.4826  # so many median deviations are three standard deviations
_GROWTH = 10.0  # the n-th value may make the reach larger by a factor of at most 1 + 10 / n
_SLOW = 10.0  # with a memory, n is at most so many times its rows


class RunningScale:
    """For each feature a center and a reach: the distance from the center to the farthest usual value.

    The size of a row is the largest deviation from a center, in units of the reach: 1 is as far as a feature
    ever was. It is a maximum, so a single wrong sensor counts in full, whatever the other features are.

    `holdfast.Scaled` has the mean and the standard deviation of a fixed set of features. Here a feature may
    appear at any time, and models get the values without scaling, so a wrong value must not be clipped. A
    standard deviation would not do: a flag that is set in one of a thousand rows is then thirty standard
    deviations from its mean.

    The first values give a median and the median deviation from it, which less than half of wrong values
    cannot ruin. Later the center is a mean, and the n-th value can make the reach larger by 10 / n at most.
    So outliers that were kept by mistake have little effect.

    With a `memory`, a value counts about a third in the center after so many rows. A reach never shrinks, or
    rare values would look wild: filters that forget find out if all sizes are smaller than before.

    A feature that is new, or was always constant, does not count. The first deviation of a constant feature
    becomes its reach, so it is not an outlier. A row without known features has size 1.

    Guarantee: none of its own, because the units change from row to row.

    Examples
    --------
    >>> scale = RunningScale()
    >>> for t in range(100):
    ...     scale.update({"pressure": 1000.0 + t % 7, "rain": 0.0})
    >>> scale.size({"pressure": 1004.0, "rain": 0.0}) < 1.0
    True
    >>> round(scale.size({"pressure": 5000.0, "rain": 0.0}))
    899
    >>> scale.size({"rain": 3.0}), scale.size({"wind": 7.0})
    (1.0, 1.0)
    """

    def __init__(self, memory=math.inf):
        self.features: dict[Any, FeatureScale] = {}
        self.memory = memory

    def size(self, row):
        """The largest deviation; NaN if a number is not finite, or so large that its square might not be.

        A text has no size, but it is as bad as NaN in a feature that had numbers before. A missing value
        (None) has no size, because an imputer may replace it.
        """
        largest = None
        for name, value in row.items():
            scale = self.features.get(name)
            if type(value) is not float:
                if value is None or (scale is None and not isinstance(value, numbers.Real)):
                    continue
                value = as_float(value)
            if not -FAR < value < FAR:
                return math.nan
            if scale is not None and scale.reach > 0.0:
                deviation = abs(value - scale.center) / scale.reach
                if largest is None or deviation > largest:
                    largest = deviation
        return 1.0 if largest is None else largest

    def farthest(self, row):
        """The name and the value of the farthest cell. One that is no finite number is the farthest."""
        found, largest = ("", math.nan), -1.0
        for name, value in row.items():
            value, scale = as_float(value), self.features.get(name)
            if not -FAR < value < FAR:
                return name, value
            deviation = abs(value - scale.center) / scale.reach if scale and scale.reach > 0.0 else 0.0
            if deviation > largest:
                found, largest = (name, value), deviation
        return found

    def filled(self, row, share, drop):
        """The row with centers for its missing cells (None or NaN), if at most this share is missing.

        A missing cell without a center is dropped, or left as it is.
        """
        missing = [name for name, value in row.items() if is_missing(value)]
        if not 0 < len(missing) <= share * len(row):
            return row
        known = {name: self.features[name].center for name in missing if name in self.features}
        left = row if not drop else {name: value for name, value in row.items() if name not in missing}
        return {name: (left | known)[name] for name in row if name in left or name in known}

    def usual(self):
        """A row with the center of every feature."""
        return {name: scale.center for name, scale in self.features.items()}

    def update(self, row):
        """Learn the scale from the numbers of this row."""
        for name, value in row.items():
            if type(value) is not float:
                if not isinstance(value, numbers.Real):
                    continue
                value = as_float(value)
            scale = self.features.get(name)
            if scale is None:
                scale = self.features[name] = FeatureScale(self.memory)
            scale.update(value)


class FeatureScale:
    """The center and the reach of one feature."""

    __slots__ = ("center", "count", "first", "memory", "reach")

    def __init__(self, memory=math.inf):
        self.center, self.reach, self.count, self.first, self.memory = 0.0, 0.0, 0, [], memory

    def update(self, value):
        self.count += 1
        if self.first is not None:
            self.first.append(value)
            self.center = statistics.median_low(self.first)
            deviations = [abs(one - self.center) for one in self.first]
            self.reach = _SIGMAS * statistics.median_low(deviations) if self.count > 2 else 0.0
            if self.count == FIRST:
                self.first = None
            return
        deviation, slow = value - self.center, _SLOW * self.memory
        if abs(deviation) > self.reach > 0.0:
            self.reach = min(abs(deviation), self.reach * (1.0 + _GROWTH / min(self.count, slow)))
            deviation = math.copysign(self.reach, deviation)
        elif self.reach == 0.0 and deviation != 0.0:
            self.reach, self.count = abs(deviation), 2  # start again, with a center halfway
        self.center += deviation / min(self.count, self.memory)


class TargetRange:
    """The smallest and the largest target."""

    def __init__(self):
        self.low, self.high = math.inf, -math.inf

    def update(self, row):
        for value in row.values():
            self.low, self.high = min(self.low, value), max(self.high, value)

    def clip(self, value, beyond):
        """The value, clipped to the range that is wider by `beyond` on both sides."""
        return max(min(value, self.high + beyond), self.low - beyond)
