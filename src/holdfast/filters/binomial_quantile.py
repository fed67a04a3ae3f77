"""The quantile of a binomial distribution, without the quantile of an earlier round."""

import math

import numpy as np

from holdfast.filters.binomial import CAUTION
from holdfast.rule import rarely_called

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@rarely_called
def smallest(n: int, share: float, rest: float, level: float, k: int = 0) -> int:
    """The smallest k with P(Bin(n, share) > k) <= level, for a level below 1/2, from a k that is not larger.

    `rest` is 1 - share: a difference would lose digits where it is small.

    >>> smallest(1_000_000, 0.1, 0.9, level=1e-15)
    102391
    """
    level *= CAUTION
    k = max(k, int(share * n))  # below the mean `tail_over_mass` is slow
    mass = mass_at(n, k, share, rest)
    tail = mass * tail_over_mass(n, k, share)
    while tail > level and k < n:
        least = max(level, 1e-3 * tail)  # below, a difference has lost too many digits
        while tail > least and k < n:
            mass *= (n - k) * share / ((k + 1.0) * rest)
            k += 1
            tail -= mass
        tail = mass * tail_over_mass(n, k, share)
    return k


def mass_at(n: int, k: int, share: float, rest: float) -> float:
    """P(Bin(n, share) = k), to a dozen digits also where n is 10⁸ (C. Loader's saddle point expansion, 2000).

    >>> round(mass_at(10, 3, 0.5, 0.5) * 2**10, 9)
    120.0
    """
    if k == 0:
        return math.exp(n * math.log(rest))
    if k == n:
        return math.exp(n * math.log(share))
    unlikely = _apart(k, n * share) + _apart(n - k, n * rest)
    rounding = _stirling(n) - _stirling(k) - _stirling(n - k)
    return math.exp(rounding - unlikely - _HALF_LOG_2PI) * math.sqrt(n / (float(k) * (n - k)))


def _stirling(n: int) -> float:
    """ln n! less Stirling's formula, sqrt(2 pi n) (n/e)^n."""
    if n < 16:
        return _FIRST[n]
    x = 1.0 / (float(n) * n)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - x / 1188) * x) * x) * x) / n


_FIRST = np.array(
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - _HALF_LOG_2PI for n in range(1, 16)]
)


def _apart(k: float, mean: float) -> float:
    """k ln(k / mean) - k + mean, also where these nearly cancel."""
    if abs(k - mean) >= 0.1 * (k + mean):
        return k * math.log(k / mean) - k + mean
    v = (k - mean) / (k + mean)
    total, power, j, before = (k - mean) * v, 2.0 * k * v, 1.0, math.inf
    while total != before:
        before, power, j = total, power * v * v, j + 2.0
        total += power / j
    return total


def tail_over_mass(n: int, k: int, share: float) -> float:
    """P(Bin(n, share) > k) / P(Bin(n, share) = k), by the incomplete beta function's continued fraction.

    Evaluated from its beginning (Lentz). Far above the mean a dozen terms do.

    >>> round(tail_over_mass(3, 1, 0.5) * 3)
    4
    """
    if k >= n:
        return 0.0
    a, b = k + 1.0, float(n - k)
    c, d = 1.0, 1.0 / (1.0 - (a + b) * share / (a + 1.0))
    value, factor, m = d, 0.0, 0.0
    while abs(factor - 1.0) > 1e-14 and m < n:
        m += 1.0
        even = m * (b - m) * share / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd = -(a + m) * (a + b + m) * share / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d, c = 1.0 / (1.0 + even * d), 1.0 + even / c
        value *= d * c
        d, c = 1.0 / (1.0 + odd * d), 1.0 + odd / c
        factor = d * c
        value *= factor
    return value * share * b / a
