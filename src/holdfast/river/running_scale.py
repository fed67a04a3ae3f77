"""How far numbers with names are from where they usually are, however many names there are by now."""

import math
import numbers
import statistics
from typing import Any

FAR = 1e100  # of what is nearer, the square is finite, and the cube; River's models overflow beyond
FIRST = 10  # values of a name of which the median is taken, before means are
_SIGMAS = 3.0 * 1.4826  # median deviations that make three standard deviations
_GROWTH = 10.0  # the n-th value may widen the reach by this part of 1 / n


class Scale:
    """For each name a center and a reach, moved only by the rows that are learned from.

    The size of a row is the largest deviation in it, in units of its reach: 1 is as far out as a feature
    ever was. What matters is a single sensor that is off, and how many features came along with it does not.

    `holdfast.Scaled` has the mean and the standard deviation of a fixed number of features. Here names come
    and go, each begins when it first comes, and models see the values as they are, so that the size of a wild
    one must not be clipped. A standard deviation would not do: a flag that is set once in a thousand rounds
    is thirty of them from its mean whenever it is. Within its reach a value is like those learned from.

    The first values give a median and the median deviation from it, which half of them cannot spoil. Later
    the center is a mean, and the reach grows by 10 / n at most, so that outliers that were kept by mistake
    cannot widen it much together.

    A name that is new, or has never varied, tells nothing. When it varies for the first time, that is its
    reach: nobody is locked out for being new. A row of which nothing is known has size 1, like many others.

    Guarantee: none of its own, because the units change from round to round.

    Examples
    --------
    >>> scale = Scale()
    >>> for t in range(100):
    ...     scale.absorb({"pressure": 1000.0 + t % 7, "rain": 0.0})
    >>> scale.size({"pressure": 1004.0, "rain": 0.0}) < 1.0
    True
    >>> round(scale.size({"pressure": 5000.0, "rain": 0.0}))
    899
    >>> scale.size({"rain": 3.0}), scale.size({"wind": 7.0})
    (1.0, 1.0)
    """

    def __init__(self):
        self.places: dict[Any, Place] = {}

    def size(self, row):
        """The largest deviation; NaN if a number is not finite, or so large that its square might not be.

        Words have no size, but where numbers were known a word is as bad as NaN. What is missing (None) has
        no size either: an imputer may wait for it.
        """
        largest = None
        for name, value in row.items():
            place = self.places.get(name)
            if type(value) is not float:
                if value is None or (place is None and not isinstance(value, numbers.Real)):
                    continue
                value = as_float(value)
            if not -FAR < value < FAR:
                return math.nan
            if place is not None and place.reach > 0.0:
                deviation = abs(value - place.center) / place.reach
                if largest is None or deviation > largest:
                    largest = deviation
        return 1.0 if largest is None else largest

    def usual(self):
        """A row of numbers as they usually are."""
        return {name: place.center for name, place in self.places.items()}

    def absorb(self, row):
        """Learn where the numbers of this row are."""
        for name, value in row.items():
            if type(value) is not float:
                if not isinstance(value, numbers.Real):
                    continue
                value = as_float(value)
            place = self.places.get(name)
            if place is None:
                place = self.places[name] = Place()
            place.absorb(value)


class Place:
    """Where one number usually is."""

    __slots__ = ("center", "count", "first", "reach")

    def __init__(self):
        self.center, self.reach, self.count, self.first = 0.0, 0.0, 0, []

    def absorb(self, value):
        self.count += 1
        if self.first is not None:
            self.first.append(value)
            self.center = statistics.median_low(self.first)
            deviations = [abs(one - self.center) for one in self.first]
            self.reach = _SIGMAS * statistics.median_low(deviations) if self.count > 2 else 0.0
            if self.count == FIRST:
                self.first = None
            return
        deviation = value - self.center
        if abs(deviation) > self.reach > 0.0:
            self.reach = min(abs(deviation), self.reach * (1.0 + _GROWTH / self.count))
            deviation = math.copysign(self.reach, deviation)
        elif self.reach == 0.0 and deviation != 0.0:
            self.reach, self.count = abs(deviation), 2  # anew, from halfway
        self.center += deviation / self.count


class Range:
    """The smallest and the largest of some numbers with the same name."""

    def __init__(self):
        self.low, self.high = math.inf, -math.inf

    def absorb(self, row):
        for value in row.values():
            self.low, self.high = min(self.low, value), max(self.high, value)

    def nearest(self, value, beyond):
        """The nearest number that is no further beyond them than this."""
        return max(min(value, self.high + beyond), self.low - beyond)


def as_float(value):
    """A number as a float: infinite if it is too large for one, NaN if it is no number."""
    try:
        return float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        return math.inf
