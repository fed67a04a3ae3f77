"""Centers and units of features that have names: how unusual is a value?"""

import collections
import math
import numbers
import statistics
from typing import Any

from holdfast.river.batches import as_float, is_missing
from holdfast.steady.units import budget, factor_of, octave_of, octave_of_factor

Row = dict[Any, Any]

FAR = 1e100  # squares and cubes of smaller numbers are finite; with larger ones River's models overflow
FIRST = 8  # values of a feature: their median is its first center
NEAR = 30.0  # units: a value that is as near is kept. At 15, two or three good rows more of TrumpApproval are
# skipped; at 60 all is the same there
_FEW = 3  # with fewer values a feature has no unit
_MEMORY = 2000.0  # the other constants are those of `holdfast.steady.units`
_WIDE, _FAR, _NEAR = 2, 2.0, 3.0
_RECENT = 32  # values, from which a center or unit that is off is measured again
_STUCK = 100  # rows: a value that has repeated so often is not counted
_OFTEN, _RARELY, _YOUNG = 16, 64, 512


class NamedUnits:
    """For each feature a center and a unit, the order statistic of `holdfast.steady.units`.

    The size of a row is the largest deviation from a center, in units. It is a maximum, so a single wrong
    sensor counts in full, whatever the other features are. A feature that is new, or was always constant,
    does not count. A row without known features has size 1.

    Parameters:
        share: The share of the values of a feature that may be wrong.

    Guarantee: none of its own, because units change.

    >>> units = NamedUnits(0.12)
    >>> for t in range(100):
    ...     _ = units.update({"pressure": 1000.0 + t % 7, "rain": 0.0})
    >>> units.size({"pressure": 1004.0, "rain": 0.0}), units.size({"pressure": 5000.0, "rain": 0.0})
    (1.0, 1999.0)
    >>> units.size({"rain": 3.0}), units.size({"wind": 7.0})
    (1.0, 1.0)
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.features: dict[Any, FeatureUnit] = {}
        self.texts: dict[Any, str] = {}  # the last one of each feature

    def size(self, row: Row) -> float:
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

    def farthest(self, row: Row) -> tuple[Any, float]:
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

    def beyond(self, row: Row, far: float) -> dict[Any, float]:
        """The cells that are infinite, or farther from their center than so many units."""
        found = {}
        for name, value in row.items():
            unit, number = self.features.get(name), as_float(value)
            deviation = abs(number - unit.center) * unit.factor if unit and unit.factor > 0.0 else 0.0
            if deviation > far or abs(number) == math.inf:
                found[name] = number
        return found

    def filled(self, row: Row, share: float, drop: bool) -> Row:
        """The row with usual values for its missing cells (None or NaN), if at most this share is missing.

        A missing cell without a center is dropped, or left as it is.
        """
        missing = [name for name, value in row.items() if is_missing(value)]
        if not 0 < len(missing) <= share * len(row):
            return row
        known = {name: self.features[name].mean for name in missing if name in self.features}
        left = row if not drop else {name: value for name, value in row.items() if name not in missing}
        return {name: (left | known)[name] for name in row if name in left or name in known}

    def usual(self) -> Row:
        """A row with the usual value of every feature: for numbers a running mean, for text the last one."""
        return self.texts | {name: unit.mean for name, unit in self.features.items()}

    def update(self, row: Row) -> bool:
        """Learn from the values of this row. Returns whether sizes before and after cannot be compared."""
        others = False
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
            others |= unit.update(value, self.share)
        return others


class FeatureUnit:
    """The center and the unit of one feature, by the rule of `holdfast.steady.units` for one of many columns.

    Two things differ. Counts are in a dict: there may be a hundred thousand features, each with few values. A
    center or unit that is off is measured again from the last 32 values, because a model in `Robust` does not
    squash what is far: after a change, an outlier that the old unit cannot tell from a good value would reach
    it.
    """

    __slots__ = ("center", "counts", "factor", "last", "mean", "recent", "run", "seen", "young")

    def __init__(self) -> None:
        self.center, self.factor, self.mean, self.seen = 0.0, 0.0, 0.0, 0.0  # factor: 1 / unit
        self.counts: dict[int, float] = {}
        self.last, self.run, self.young = math.nan, 0, True
        self.recent: collections.deque[float] = collections.deque(maxlen=_RECENT)

    def update(self, value: float, share: float) -> bool:
        """Count a value, unless it has repeated for 100 rows: then the sensor may be stuck.

        Returns whether sizes before and after cannot be compared.
        """
        self.run, self.last = self.run + 1 if value == self.last else 0, value
        if self.run > _STUCK and not self.young:
            return False
        self.recent.append(value)
        if self.young:
            self._measure(share)
            self.young = len(self.recent) < FIRST
            return False
        self._count(value)
        if self.factor == 0.0:
            self.factor = factor_of(self.octave(share))
            return False
        step = min(max((value - self.mean) * self.factor, -_NEAR), _NEAR) / self.factor
        self.mean += max(1.0 / self.seen, 1.0 / _MEMORY) * step
        return int(self.seen) % (_OFTEN if self.seen < _YOUNG else _RARELY) == 0 and self._replace(share)

    def octave(self, share: float) -> int:
        """As `holdfast.steady.units.unit_octave`; 0 if there is no deviation."""
        others = self.seen - self.counts.get(0, 0.0)
        return self._octave_of_rank(budget(self.seen, share)) or self._octave_of_rank(0.5 * others)

    def _measure(self, share: float) -> None:
        """Measure center and unit anew from the last values."""
        self.center = self.mean = statistics.median_low(self.recent)
        self.counts, self.seen = {}, 0.0
        for value in self.recent:
            self._count(value)
        self.factor = factor_of(self.octave(share)) if len(self.recent) >= _FEW else 0.0

    def _count(self, value: float) -> None:
        octave = octave_of(value - self.center)
        self.counts[octave] = self.counts.get(octave, 0.0) + 1.0
        self.seen += 1.0

    def _octave_of_rank(self, k: float) -> int:
        total = 0.0
        for octave in sorted(self.counts, reverse=True):
            total += self.counts[octave]
            if total > k:
                return octave
        return 0

    def _replace(self, share: float) -> bool:
        """Another center and unit, if one of them is off. Returns whether they are of another kind."""
        if self.seen > _MEMORY:
            self.counts = {octave: 0.5 * count for octave, count in self.counts.items()}
            self.seen *= 0.5
        octave, center, factor = self.octave(share), self.center, self.factor
        is_off = abs(octave - octave_of_factor(factor)) >= _WIDE
        if octave == 0 or not (is_off or abs(self.mean - center) * factor > _FAR):
            return False
        if len(set(self.recent)) <= _FEW:  # they say little, such as those of a rare flag
            self.mean, self.factor = center, factor_of(octave)
            return False
        self._measure(share)
        times = max(self.factor, factor) / min(self.factor, factor) if self.factor > 0.0 else 1.0
        return times > NEAR or abs(self.center - center) * self.factor > NEAR


class TargetRange:
    """The smallest and the largest target."""

    def __init__(self) -> None:
        self.low, self.high = math.inf, -math.inf

    def update(self, row: dict[str, float]) -> None:
        for value in row.values():
            self.low, self.high = min(self.low, value), max(self.high, value)

    def clip(self, value: float) -> float:
        """The value, clipped to the range that is wider by a sixth on both sides."""
        beyond = (self.high - self.low) / 6.0
        return max(min(value, self.high + beyond), self.low - beyond)
