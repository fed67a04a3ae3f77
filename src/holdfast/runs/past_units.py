"""The centers and units that a game of `Steady` had at earlier rounds of a piece."""

import numpy as np


class PastUnits:
    """Finds the units of rows that the gate refused, each at its own round, so that batches do not matter.

    Units change rarely. A row has those that are known if its size in them is the size that the gate saw.
    Only for others the rounds before are played again, in a game of its own.
    """

    def __init__(self, games):
        """`games`, of one label, are empty and used by this object only."""
        self._games = games

    @np.errstate(all="ignore")
    def of(self, start, rows, y, places, sizes, compiled):
        """Centers and factors, each with a row for each of these places.

        `start` is the flat state before the first of `rows`, `sizes` are what the gate measured.
        """
        self._games.set_flat_state(start)
        done, scale = 0, self._games.scale()
        found = np.zeros((2, len(places), rows.X.shape[1]))
        for i, (place, size) in enumerate(zip(places.tolist(), sizes.tolist(), strict=True)):
            if np.abs((rows.X[place] - scale[0]) * scale[1]).max(initial=0.0) != size:
                keys = np.zeros(place - done, np.int64)
                if len(keys):
                    self._games.play(keys, 0, rows.part(done, place), y[done:place], compiled)
                done, scale = place, self._games.scale()
            found[:, i] = scale
        return found
