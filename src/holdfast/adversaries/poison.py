"""What the poisoners of a data stream share: which rounds they may spoil, and with what to measure."""

import numpy as np

from holdfast.adversaries.draws import check_budget, outliers
from holdfast.adversaries.replay import Replay


def victims(stream, k, seed):
    """k rounds of a data stream, in order, and fresh copies of its X and y to spoil."""
    if not isinstance(stream, Replay):
        raise TypeError(f"a poisoner spoils data, Replay(X, y, loss): got {type(stream).__name__}")
    check_budget(k, len(stream.X))
    rng = np.random.default_rng(seed)
    return outliers(rng, k, len(stream.X)), stream.X.copy(), stream.y.copy(), rng


def lengths(X):
    """The Euclidean lengths of the rows."""
    with np.errstate(over="ignore"):
        return np.sqrt(np.square(X, dtype=np.float64).sum(axis=1))


def typical(values):
    """The median of what is finite, 1 if nothing is."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) > 0 else 1.0


# The verbs of an adversary that plays what it has poisoned: written once, and each class names them.


def extent(self):
    return self.poisoned.extent()


def start(self):
    return self.poisoned.start()


def reveal(self, state, t, w):
    return self.poisoned.reveal(state, t, w)
