"""Checks of the arguments of bounds."""

import math

import numpy as np
from numpy.typing import ArrayLike


def probability(name: str, value: float, zero: bool = False) -> float:
    if not (0.0 < value < 1.0 or (zero and value == 0.0)):
        raise ValueError(
            f"{name} is a probability: expected 0 {'<=' if zero else '<'} {name} < 1, got {value}"
        )
    return value


def above_one(value: float) -> float:
    if not 1.0 < value < math.inf:
        raise ValueError(f"this factor must be above 1, because the bound is infinite at 1: got {value}")
    return value


def largest(sizes: ArrayLike, k: int) -> np.ndarray:
    return np.sort(np.asarray(sizes, dtype=np.float64))[::-1][:k]


def columns(
    sizes: ArrayLike, kept: ArrayLike, inliers: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = np.asarray(sizes, dtype=np.float64)
    return sizes, np.asarray(kept, dtype=bool), np.asarray(inliers, dtype=bool)
