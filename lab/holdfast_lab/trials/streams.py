"""Streams for the comparison of learners, with outliers in them.

Each is made from the sizes of its rounds. A round is multiplied by its size, which is 1 for inliers; outliers
also change their sign.
"""

import math
from typing import Any, NamedTuple

import numpy as np

import holdfast as hf
from holdfast.rule import rule
from holdfast.vectors import add, dot

SHARE = 0.01  # of the rounds are outliers in `scattered`


def ordinary(rounds, seed):
    """No outliers."""
    return np.ones(rounds)


def single(rounds, seed):
    """One outlier of size 10⁹, in the middle."""
    return np.where(np.arange(rounds) == rounds // 2, 1e9, 1.0)


def scattered(rounds, seed):
    """One round in a hundred is an outlier, of size 10³ to 10⁹."""
    rng = np.random.default_rng([seed, 1])
    return np.where(rng.random(rounds) < SHARE, 10.0 ** rng.uniform(3.0, 9.0, rounds), 1.0)


class LearnerStream(NamedTuple):
    """A game, its inliers, and the u that regret is measured against."""

    adversary: Any
    inliers: np.ndarray
    comparator: Any = None  # None: the worst u of length 1 for the linearised losses


@rule
class Bowls:
    """Round t reveals f(w) = ½ ‖w - c_t‖², which is strongly convex.

    Parameters:
        C (array of shape (rounds, dim)): The c_t.
    """

    C: Any

    def extent(self):
        return self.C.shape

    def start(self):
        return np.zeros(self.C.shape[1])

    def reveal(self, state, t, w):
        state[:] = 0.0
        add(state, 1.0, w)
        add(state, -1.0, self.C[t])
        return state, 0.5 * dot(state, state), 1.0, state


def bowls(sizes, dim, seed):
    """The c_t are drawn from a cube; regret against the best u."""
    rng = np.random.default_rng(seed)
    C = _unit(rng, dim) / 2.0 + rng.uniform(-1.0, 1.0, (len(sizes), dim)) / math.sqrt(dim)
    inliers = sizes == 1.0
    best = C[inliers].mean(axis=0)
    C[~inliers] *= -sizes[~inliers, None]
    return LearnerStream(Bowls(C), inliers, best)


def absolute(sizes, dim, seed):
    """A linear model with noise, and the absolute loss; linearised regret against all u of length 1."""
    X, y, inliers, _ = _rows(sizes, dim, seed)
    return LearnerStream(hf.Replay(X, y, hf.Absolute()), inliers)


def squared(sizes, dim, seed):
    """The same with the squared loss; regret against the best u."""
    X, y, inliers, best = _rows(sizes, dim, seed)
    return LearnerStream(hf.Replay(X, y, hf.Squared()), inliers, best)


def experts(sizes, dim, seed):
    """Losses from 0 to 1, the first expert's mostly smaller; regret against the best expert."""
    G = np.random.default_rng(seed).random((len(sizes), dim))
    G[:, 0] *= 0.9
    inliers = sizes == 1.0
    best = np.eye(dim)[G[inliers].sum(axis=0).argmin()]
    G[~inliers] = sizes[~inliers, None] * (1.0 - G[~inliers])
    G[~inliers, 0] = sizes[~inliers]  # the best expert loses most
    return LearnerStream(hf.Gradients(G), inliers, best)


def _rows(sizes, dim, seed):
    rng = np.random.default_rng(seed)
    X, u = rng.uniform(-1.0, 1.0, (len(sizes), dim)), _unit(rng, dim) / 2.0
    y = X @ u + 0.1 * rng.standard_normal(len(sizes))
    inliers = sizes == 1.0
    best = np.linalg.lstsq(X[inliers], y[inliers], rcond=None)[0]
    return X * sizes[:, None], y * np.where(inliers, 1.0, -sizes), inliers, best


def _unit(rng, dim):
    u = rng.standard_normal(dim)
    return u / np.linalg.norm(u)
