"""The number of outliers to allow for, when each round is one with some probability."""

import math

import numpy as np

from holdfast.bounds.checks import probability


def binomial_budget(share, T, level):
    """The smallest k with P(Bin(T, share) > k) <= level.

    >>> binomial_budget(share=0.5, T=3, level=0.2)
    2
    """
    if probability("share", share, zero=True) == 0.0:
        return 0
    log_factorial = np.array([math.lgamma(j + 1.0) for j in range(T + 1)])
    j = np.arange(T + 1)
    ways = log_factorial[-1] - log_factorial - log_factorial[::-1]
    mass = np.exp(ways + j * math.log(share) + (T - j) * math.log1p(-share))
    above = np.cumsum(mass[::-1])[::-1] - mass
    return int(np.argmax(above <= level * (1.0 - 1e-7)))  # rounding must not lower it
