"""Random draws of an adversary, made once, so that interpreted and compiled games have the same rounds."""

from typing import Any

import numpy as np

from holdfast.protocols import Row, Weights
from holdfast.rule import frozen


def signs(rng: np.random.Generator, count: int) -> np.ndarray:
    """Independent Rademacher variables: -1 or +1, each with probability one half."""
    return rng.choice(np.array([-1.0, 1.0]), count)


def axes(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
    """Independent directions ±e_i, one in each row: exact unit vectors in every p-norm."""
    rows = np.zeros((count, dim))
    rows[np.arange(count), rng.integers(dim, size=count)] = signs(rng, count)
    return rows


def outliers(rng: np.random.Generator, k: int, rounds: int) -> np.ndarray:
    """The indices of k different rounds, in order."""
    return np.sort(rng.choice(rounds, k, replace=False))


def all_but(outliers: np.ndarray, rounds: int) -> np.ndarray:
    """The inliers, as a mask."""
    inliers = np.ones(rounds, bool)
    inliers[outliers] = False
    return frozen(inliers)


def check_budget(k: int, rounds: int) -> None:
    if not 0 <= k <= rounds:
        raise ValueError(f"k counts outliers among the rounds: expected 0 <= k <= {rounds}, got {k}")


# The methods of adversaries that play a stream they have drawn.


def extent(self: Any) -> tuple[int, int]:
    return self.stream.extent()


def start(self: Any) -> Any:
    return self.stream.start()


def reveal(self: Any, state: Any, t: int, w: Weights) -> tuple[Any, float, float, Row]:
    return self.stream.reveal(state, t, w)
