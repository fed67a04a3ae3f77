"""What an adversary draws from its seed, once, so that both worlds play the same rounds."""

import numpy as np


def signs(rng, count):
    """Independent Rademacher variables: -1 or +1, each with probability one half."""
    return rng.choice(np.array([-1.0, 1.0]), count)


def axes(rng, count, dim):
    """Independent directions ±e_i, one a row: unit vectors without rounding, in every p-norm."""
    rows = np.zeros((count, dim))
    rows[np.arange(count), rng.integers(dim, size=count)] = signs(rng, count)
    return rows


def outliers(rng, k, rounds):
    """The numbers of k different rounds, in order."""
    return np.sort(rng.choice(rounds, k, replace=False))


def all_but(outliers, rounds):
    """The inliers, as a mask."""
    inliers = np.ones(rounds, bool)
    inliers[outliers] = False
    return frozen(inliers)


def frozen(array):
    """The same array, from now on read-only."""
    array.flags.writeable = False
    return array


def check_budget(k, rounds):
    if not 0 <= k <= rounds:
        raise ValueError(f"k counts outliers among the rounds: expected 0 <= k <= {rounds}, got {k}")


# The verbs of an adversary that plays the stream it has drawn: written once, and each class names them.


def extent(self):
    return self.stream.extent()


def start(self):
    return self.stream.start()


def reveal(self, state, t, w):
    return self.stream.reveal(state, t, w)
