"""Random draws of an adversary, made once, so that interpreted and compiled games have the same rounds."""

import numpy as np


def signs(rng, count):
    """Independent Rademacher variables: -1 or +1, each with probability one half."""
    return rng.choice(np.array([-1.0, 1.0]), count)


def axes(rng, count, dim):
    """Independent directions ±e_i, one in each row: exact unit vectors in every p-norm."""
    rows = np.zeros((count, dim))
    rows[np.arange(count), rng.integers(dim, size=count)] = signs(rng, count)
    return rows


def outliers(rng, k, rounds):
    """The indices of k different rounds, in order."""
    return np.sort(rng.choice(rounds, k, replace=False))


def all_but(outliers, rounds):
    """The inliers, as a mask."""
    inliers = np.ones(rounds, bool)
    inliers[outliers] = False
    return frozen(inliers)


def frozen(array):
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def check_budget(k, rounds):
    if not 0 <= k <= rounds:
        raise ValueError(f"k counts outliers among the rounds: expected 0 <= k <= {rounds}, got {k}")


# The methods of adversaries that play a stream they have drawn.


def extent(self):
    return self.stream.extent()


def start(self):
    return self.stream.start()


def reveal(self, state, t, w):
    return self.stream.reveal(state, t, w)
