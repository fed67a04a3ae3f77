"""Theorems X, P and D: a learner with a proof weighed beside others, for every set of inliers."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike


def mixability_gap(rate: float, width: float) -> float:
    """min(rate s² / 8, s): the mixability gap of a batch is at most this.

    s (`width`) is the range of the sums of the losses in the batch.

    >>> mixability_gap(rate=0.1, width=4.0), mixability_gap(rate=10.0, width=4.0)
    (0.2, 4.0)
    """
    return min(rate * width * width / 8.0, width)


def theorem_x(
    gaps: Iterable[float],
    batches: ArrayLike,
    rates: Sequence[float],
    forecasters: int,
    share: float,
    ranges: Iterable[float] = (),
    k: int = 0,
    changes: int = 0,
) -> float:
    """Σ gaps + Σ n ln(1/(1-α)) / η + ln N / η₁ + Σ_{j>1} ln(N/α) / η_j + the k largest `ranges`.

    What the mean of N forecasters by `Hedge` loses beyond each of them, for every set of inliers that leaves
    out at most k rounds. `rates` has η of each stretch, `batches` the number n of its batches, and `gaps` the
    gaps of all batches, measured or as in `mixability_gap`. `ranges` has that of the losses of each round.
    For sequences of forecasters, each of the `changes` adds ln(N/α) / (the smallest η).

    >>> round(theorem_x([0.2] * 10, [10], [0.1], forecasters=6, share=1e-4, ranges=[1.0, 3.0], k=1), 2)
    22.93
    """
    names, alpha = math.log(forecasters), share
    again = names - math.log(alpha)
    first = math.fsum(gaps) - math.log1p(-alpha) * math.fsum(np.divide(batches, rates))
    entries = names / rates[0] + again * math.fsum(1.0 / rate for rate in rates[1:])
    left_out = math.fsum(sorted(ranges, reverse=True)[:k])
    return first + entries + changes * again / min(rates) + left_out


def theorem_p(
    u: ArrayLike,
    around: ArrayLike,
    roots: ArrayLike,
    limits: ArrayLike,
    wealth: float = 0.5,
    left_out: float = 0.0,
) -> float:
    """Σ [wealth + 2 |u - around| a (ln(2 |u - around| a / wealth) + log₂(a / h) - 3/4)₊] + `left_out`.

    The sum over the weights of `Bettors` is its bound on all rounds of an epoch: `roots` has a, the root of
    the squared limit and the squared gradients, and `limits` has h, which is a without any gradient.
    `left_out` is L Σ |z - <u, x>| over the outliers that were learned from and the inliers that were not.

    >>> round(theorem_p(u=[1.0], around=[0.0], roots=[31**0.5], limits=[1.0]), 1)
    54.3
    """
    far = np.abs(np.asarray(u, np.float64) - np.asarray(around, np.float64))
    a, h = np.asarray(roots, np.float64), np.asarray(limits, np.float64)
    reach = 2.0 * far * a
    grown = np.log(np.where(reach > 0.0, reach, 1.0) / wealth) + np.log2(a / h) - 0.75
    return float(np.sum(np.where(a > h, wealth + reach * np.maximum(grown, 0.0), 0.0))) + left_out


def default_bound(mixed: float, epochs: ArrayLike, units: ArrayLike = 1.0, clipped: float = 0.0) -> float:
    """Theorem D: `mixed` + Σ `units` times `epochs` + `clipped`, the default against a u for each epoch.

    `mixed` is a `theorem_x`, in the units of the losses. `epochs` has a `theorem_p` for each epoch, and
    `units` the unit of the target in each. `clipped` is what it has cost to bring forecasts into a range, and
    to give them a batch ahead, as measured: Σ κ + Σ λ (`docs/math.md`, 11).

    >>> default_bound(mixed=8.0, epochs=[20.0, 10.0], units=[0.5, 1.0], clipped=1.0)
    29.0
    """
    return mixed + float(np.sum(np.asarray(units) * np.asarray(epochs, np.float64))) + clipped
