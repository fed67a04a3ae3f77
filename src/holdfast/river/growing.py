"""Streams in which new features appear: their columns in a row, and a game whose rows get longer."""

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.adversaries.replay import replay_of_arrays
from holdfast.audit import HoldfastWarning
from holdfast.continuing import Game
from holdfast.linear_model import wild_limit
from holdfast.record import VERDICTS
from holdfast.river.batches import as_float
from holdfast.steady.growing import grown
from holdfast.vectors import dot, prediction_of

Floats = NDArray[np.float64]

FIRST = 8  # values of a feature, from which its center and unit are measured
_MOST = 1000  # columns
_KEEP = (*VERDICTS, "predictions")


class FeatureColumns:
    """A place for each feature that has been a number. Text, None and NaN are missing cells.

    In the first 8 rows a feature has its column at once. Later it gets one with its 8th number, whose center
    and unit these 8 show; so a feature that occurs once or twice costs nothing.

    >>> columns = FeatureColumns()
    >>> {name: values.tolist() for name, values in columns.begin({"rain": 2, "city": "Rome"}).items()}
    {'rain': []}
    >>> columns.row({"rain": 3.5, "wind": 1.0}).tolist()
    [3.5]
    """

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}
        self.rows = 0
        self._first: dict[Any, list[float]] = {}  # the numbers of features that have no column yet

    def begin(self, x: dict[Any, Any]) -> dict[Any, Floats]:
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

    def row(self, x: dict[Any, Any]) -> Floats:
        """The numbers of a row in their places, NaN where there is none."""
        row = np.full(len(self.places), math.nan)
        for name, value in x.items():
            place = self.places.get(name)
            if place is not None:
                row[place] = value if type(value) is float else as_float(value)
        return row

    def name_of(self, place: int) -> Any:
        """The name of the feature in this place."""
        return list(self.places)[place]

    def _has_room(self) -> bool:
        if len(self.places) < _MOST:
            return True
        warnings.warn(
            f"there are more than {_MOST:,} features, and the others are left out: use "
            "Robust(StandardScaler() | LinearRegressor()), whose time for a row does not depend on them",
            HoldfastWarning,
            stacklevel=5,
        )
        return False


class GrowingGame:
    """A game that goes on, one row at a time: in Python, and compiled as soon as that is on disk.

    The player is `Steady`, and `dim` the number of columns at first.
    """

    def __init__(self, player: Any, dim: int) -> None:
        self.player, self._dim = player, dim
        self._far = math.inf  # in units: a row with a cell beyond it would not be learned from
        self._game = Game(player, self._replay(np.zeros(dim), 1.0))

    @property
    def state(self) -> Any:
        """The state of the player."""
        return self._game.state

    def learn(self, row: Floats, y: float) -> Any:
        """Play one round. Returns its columns (`holdfast.game.Columns`)."""
        columns = self._game.play(self._replay(row, y), _KEEP)
        threshold = float(columns.thresholds[0, 0])
        self._far = threshold if threshold > 0.0 else self._far
        return columns

    def grow(self, values: Floats) -> None:
        """More columns, of which these values are known, a column each."""
        self._dim += values.shape[1]
        self._game.set_state(grown(self.player, self._game.state, values), self._dim)

    def weights(self) -> Any:
        """The weights after the last round."""
        return self.player.current_weights(self._game.state)

    def predict(self, row: Floats) -> float:
        """The prediction for a row. A wild cell counts as missing; without any cell: the constant."""
        w = self.weights()
        row = np.where(self.wild(row), math.nan, row)
        with np.errstate(all="ignore"):
            z = dot(w, row)
            return prediction_of(w, z if z == z else float(w.v[-1]))

    def wild(self, row: Floats) -> NDArray[np.bool_]:
        """Which cells are infinite or wild (`holdfast.linear_model.wild_limit`)."""
        w = self.weights()
        limit = wild_limit(self._far, w.view()[0])
        with np.errstate(all="ignore"):
            return (np.abs((row - w.center) * w.factors) > limit) | np.isinf(row)

    def _replay(self, row: Floats, y: float) -> Any:
        return replay_of_arrays(row[None], np.array([float(y)]), self.player.loss)
