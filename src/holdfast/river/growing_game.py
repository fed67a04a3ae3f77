"""A game of the default whose rows get longer as a stream has new features."""

import math

import numpy as np

from holdfast.adversaries.replay import replay_of_arrays
from holdfast.continuing import Game
from holdfast.steady.growing import grown
from holdfast.vectors import dot, prediction_of

_KEEP = ("sizes", "thresholds", "kept", "guard", "predictions")


class GrowingGame:
    """A game that goes on, one row at a time: in Python, and compiled as soon as that is on disk.

    Parameters
    ----------
    player : Steady
    dim : int
        The number of columns at first.
    """

    def __init__(self, player, dim):
        self.player, self._dim = player, dim
        self._game = Game(player, self._replay(np.zeros(dim), 1.0))

    @property
    def state(self):
        """The state of the player."""
        return self._game.state

    def learn(self, row, y):
        """Play one round. Returns its columns (`holdfast.game.Columns`)."""
        return self._game.play(self._replay(row, y), _KEEP)

    def grow(self, values):
        """More columns, of which these values are known, a column each."""
        self._dim += values.shape[1]
        self._game.set_state(grown(self.player, self._game.state, values), self._dim)

    def weights(self):
        """The weights after the last round."""
        return self.player.current_weights(self._game.state)

    def predict(self, row):
        """The prediction for a row. An infinite cell counts as missing; without any cell: the constant."""
        w, row = self.weights(), np.where(np.isinf(row), math.nan, row)
        with np.errstate(all="ignore"):
            z = dot(w, row)
            return prediction_of(w, z if z == z else float(w.v[-1]))

    def _replay(self, row, y):
        return replay_of_arrays(row[None], np.array([float(y)]), self.player.loss)
