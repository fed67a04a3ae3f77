"""Theorems 6 and 7: no learner can do better than this."""

import math


def theorem_6(D, G, k):
    """D G k/2 (1 - C(2k, k) / 4^k): expected regret that i.i.d. losses force on any learner; T >= 2k - 1.

    The paper's losses ± G w, but with up to k of the wrong sign left out of 2k rounds, not of the first k.
    The proof is in `docs/paper.md`. Of order D G k/2; the paper's own constant is 1/4.

    >>> round(theorem_6(D=1.0, G=1.0, k=100), 1)
    47.2
    """
    central = math.exp(math.lgamma(2.0 * k + 1.0) - 2.0 * math.lgamma(k + 1.0) - k * math.log(4.0))
    return D * G * k / 2.0 * (1.0 - central)


def theorem_6_paper(D, G, k):
    """D G k / 4, for T >= k.

    >>> theorem_6_paper(D=1.0, G=1.0, k=100)
    25.0
    """
    return D * G * k / 4.0


def theorem_7(G, sigma, k):
    """G² k / (16 sigma): expected regret that sigma-strongly convex losses can force on any learner; T >= k.

    >>> theorem_7(G=2.0, sigma=0.5, k=10)
    5.0
    """
    return G * G * k / (16.0 * sigma)
