"""Theorems 6 and 7: no learner can do better than this. And what specialists would cost."""

import math


def theorem_6(D: float, G: float, k: int) -> float:
    """D G k/2 (1 - C(2k, k) / 4^k): expected regret that i.i.d. losses force on any learner; T >= 2k - 1.

    The paper's losses ± G w, but with up to k of the wrong sign left out of 2k rounds, not of the first k.
    The proof is in `docs/paper.md`. Of order D G k/2; the paper's own constant is 1/4.

    >>> round(theorem_6(D=1.0, G=1.0, k=100), 1)
    47.2
    """
    central = math.exp(math.lgamma(2.0 * k + 1.0) - 2.0 * math.lgamma(k + 1.0) - k * math.log(4.0))
    return D * G * k / 2.0 * (1.0 - central)


def theorem_6_paper(D: float, G: float, k: int) -> float:
    """D G k / 4, for T >= k.

    >>> theorem_6_paper(D=1.0, G=1.0, k=100)
    25.0
    """
    return D * G * k / 4.0


def theorem_7(G: float, sigma: float, k: int) -> float:
    """G² k / (16 sigma): expected regret that sigma-strongly convex losses can force on any learner; T >= k.

    >>> theorem_7(G=2.0, sigma=0.5, k=10)
    5.0
    """
    return G * G * k / (16.0 * sigma)


def theorem_6_combined(D: float, G: float, k: int, T: int) -> float:
    """max(`theorem_6`, D G/2 E|ξ_1 + ... + ξ_T|): of order D G (sqrt(T) + k); T >= 2k - 1.

    On the coins of Theorem 6 a learner loses nothing on average, and the better of the two ends of the domain
    gains D/2 G |ξ_1 + ... + ξ_T| on all T rounds, without any outlier. The mean of the last factor is
    T C(T-1, floor((T-1)/2)) / 2^(T-1), at least sqrt(T/2).

    >>> [round(theorem_6_combined(D=1.0, G=1.0, k=k, T=10_000), 1) for k in (10, 1000)]
    [39.9, 491.1]
    """
    half = (T - 1) // 2
    ways = math.lgamma(T) - math.lgamma(half + 1.0) - math.lgamma(T - half)
    return max(theorem_6(D, G, k), D * G * T / 2.0 * math.exp(ways - (T - 1) * math.log(2.0)))


def theorem_7_combined(G: float, sigma: float, k: int, T: int) -> float:
    """max(`theorem_7`, G² (1 + 1/2 + ... + 1/(T+1)) / (12 sigma)): of order G²/sigma (ln T + k); T >= k.

    The second is for losses sigma/2 (w - W ξ_t)² whose coins show +1 with a probability that is itself drawn
    evenly from [0, 1]. There are no outliers. The best learner predicts by Laplace's rule of succession, and
    its expected regret against the mean of the W ξ_t is exactly sigma W²/3 times the harmonic sum
    (`docs/math.md`, 3.4); and G <= 2 sigma W.

    >>> [round(theorem_7_combined(G=1.0, sigma=1.0, k=k, T=10_000), 2) for k in (10, 100)]
    [0.82, 6.25]
    """
    return max(theorem_7(G, sigma, k), G * G * _harmonic(T + 1) / (12.0 * sigma))


def specialists(D: float, G: float, k: int, T: int) -> float:
    """D G sqrt(T ln C(T, k)): what one specialist for each set of k outliers would cost, up to a constant.

    The paper's comparison: an expert for every 𝒮, active on 𝒮 only. It is at least D G sqrt(k T ln(T/k)), so
    k multiplies T. The filter adds 4 D G k instead, which is less as long as k <= T/8.

    >>> round(specialists(D=1.0, G=1.0, k=50, T=10_000)), 4 * 50
    (1766, 200)
    """
    ways = math.lgamma(T + 1.0) - math.lgamma(k + 1.0) - math.lgamma(T - k + 1.0)
    return D * G * math.sqrt(T * ways)


def _harmonic(n: int) -> float:
    """1 + 1/2 + ... + 1/n, rounded down where n is large."""
    if n <= 1000:
        return math.fsum(1.0 / i for i in range(1, n + 1))
    return math.log(n) + 0.5772156649 + 0.5 / n - 1.0 / (12.0 * n * n)
