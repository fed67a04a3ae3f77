"""Functions that all adversaries with corrupted data share."""

import numpy as np

from holdfast.adversaries.draws import check_budget, outliers
from holdfast.adversaries.replay import Replay


def choose_outliers(stream, k, seed):
    """k random rounds of a data stream, copies of its X and y to corrupt, and the random generator."""
    if not isinstance(stream, Replay):
        raise TypeError(f"the data to corrupt must be a Replay(X, y, loss): got {type(stream).__name__}")
    check_budget(k, len(stream.X))
    rng = np.random.default_rng(seed)
    return outliers(rng, k, len(stream.X)), stream.X.copy(), stream.y.copy(), rng


def lengths(X):
    """The Euclidean lengths of the rows."""
    with np.errstate(over="ignore"):
        return np.sqrt(np.square(X, dtype=np.float64).sum(axis=1))


def typical(values):
    """The median of the finite values, or 1."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) > 0 else 1.0


# The methods of adversaries that play the data they have corrupted.


def extent(self):
    return self.poisoned.extent()


def start(self):
    return self.poisoned.start()


def reveal(self, state, t, w):
    return self.poisoned.reveal(state, t, w)
