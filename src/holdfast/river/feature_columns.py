"""Features by name as columns of an array. New names may appear at any time."""

import math
import warnings

import numpy as np

from holdfast.audit import HoldfastWarning
from holdfast.river.cells import as_float

FIRST = 8  # values of a feature, from which its center and unit are measured
_MOST = 1000  # columns


class FeatureColumns:
    """A place for each feature that has been a number. Text, None and NaN are missing cells.

    In the first 8 rows a feature has its column at once. Later it gets one with its 8th number, whose center
    and unit these 8 show; so a feature that occurs once or twice costs nothing.

    Examples
    --------
    >>> columns = FeatureColumns()
    >>> {name: values.tolist() for name, values in columns.begin({"rain": 2, "city": "Rome"}).items()}
    {'rain': []}
    >>> columns.row({"rain": 3.5, "wind": 1.0}).tolist()
    [3.5]
    """

    def __init__(self):
        self.places = {}
        self.rows = 0
        self._first = {}  # the numbers of features that have no column yet

    def begin(self, x):
        """Count a row, and give places to features. Returns the first numbers of each of them.

        Features that begin together are in the order of their names: that in a dict does not matter.
        """
        self.rows += 1
        begun = {}
        for name in sorted(x.keys() - self.places.keys(), key=str):
            number = as_float(x[name])
            if math.isnan(number) or not self._has_room():
                continue
            first = self._first.setdefault(name, [])
            if self.rows > FIRST:
                first.append(number)
                if len(first) < FIRST:
                    continue
            begun[name] = np.array(self._first.pop(name))
            self.places[name] = len(self.places)
        return begun

    def row(self, x):
        """The numbers of a row in their places, NaN where there is none."""
        row = np.full(len(self.places), math.nan)
        for name, value in x.items():
            place = self.places.get(name)
            if place is not None:
                row[place] = value if type(value) is float else as_float(value)
        return row

    def name_of(self, place):
        """The name of the feature in this place."""
        return list(self.places)[place]

    def _has_room(self):
        if len(self.places) < _MOST:
            return True
        warnings.warn(
            f"there are more than {_MOST:,} features, and the others are left out: use "
            "Robust(StandardScaler() | LinearRegressor()), whose time for a row does not depend on them",
            HoldfastWarning,
            stacklevel=5,
        )
        return False
