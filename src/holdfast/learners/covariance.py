"""The covariance of the weights of a regression, as a square root (Potter's form).

P = growth SS' is then never negative in any direction, however rounding goes.
"""

import math
from typing import NamedTuple

import numpy as np

from holdfast.entrywise import padded, shrink_rows, sum_of_rows
from holdfast.protocols import Row
from holdfast.vectors import add, assign, scale_by, squared

_UNIT = 2.0**16


class Covariance(NamedTuple):
    """P = growth SS', and two buffers."""

    root: np.ndarray  # S, with columns of zeros up to a multiple of 8
    product: np.ndarray  # S'x, for the last row
    along: np.ndarray  # SS'x
    growth: float


def independent(dim: int, variance: float) -> Covariance:
    """The covariance of weights that are independent, all with this variance."""
    root = np.eye(dim, padded(dim)) * math.sqrt(variance)
    return Covariance(root, np.zeros(padded(dim)), np.zeros(dim), 1.0)


def set_independent(covariance: Covariance, variance: float) -> Covariance:
    """The same, in the arrays of another covariance."""
    root, product, along, _ = covariance
    for k in range(len(root)):
        assign(root[k], np.zeros(root.shape[1]))
        root[k, k] = math.sqrt(variance)
    assign(product, np.zeros(len(product)))
    assign(along, np.zeros(len(along)))
    return Covariance(root, product, along, 1.0)


def clear_buffers(covariance: Covariance) -> None:
    """Set both buffers to 0, in place."""
    assign(covariance.product, np.zeros(len(covariance.product)))
    assign(covariance.along, np.zeros(len(covariance.along)))


def variance_of(covariance: Covariance, x: Row) -> float:
    """x'Px, the variance of the prediction for a row."""
    sum_of_rows(covariance.root, x, covariance.product)
    return covariance.growth * squared(covariance.product)


def variance_of_weight(covariance: Covariance, k: int) -> float:
    """That of the k-th weight, as if its row had been measured."""
    measure_weight(covariance, k)
    return own_variance(covariance, k)


def own_variance(covariance: Covariance, k: int) -> float:
    """That of the k-th weight; nothing is measured."""
    return covariance.growth * squared(covariance.root[k])


def measure_weight(covariance: Covariance, k: int) -> None:
    """Let the k-th weight be the row that was measured last."""
    assign(covariance.product, covariance.root[k])


def shrink(covariance: Covariance, variance: float, noise: float) -> None:
    """Learn from the row that was measured last: P becomes P - Pxx'P / (variance + noise).

    Leaves SS'x in `along`: Px is growth times that. S becomes S (I - beta aa') with a = S'x.
    """
    gain = covariance.growth / (noise + variance)
    beta = gain / (1.0 + math.sqrt(noise / (noise + variance)))
    shrink_rows(covariance.root, covariance.product, -beta, covariance.along)


def learn(w: np.ndarray, covariance: Covariance, variance: float, noise: float, error: float) -> None:
    """Move weights and covariance by the row that was measured last."""
    if 0.0 < variance < math.inf and noise < math.inf:
        shrink(covariance, variance, noise)
        add(w, covariance.growth / (noise + variance) * error, covariance.along)


def forget(covariance: Covariance, memory: float) -> Covariance:
    """The covariance after a round of a memory that fades: it grows."""
    root, product, along, growth = covariance
    growth /= 1.0 - 1.0 / memory
    if growth > _UNIT * _UNIT:
        growth /= _UNIT * _UNIT
        for k in range(len(root)):
            scale_by(root[k], _UNIT)
    return Covariance(root, product, along, growth)
