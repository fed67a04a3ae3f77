"""Theorem 8 and Proposition 9: sizes are i.i.d., and the outliers are those above their p-quantile."""

import math
from collections.abc import Sequence

import numpy as np

from holdfast.bounds.checks import above_one, probability
from holdfast.bounds.odds import rank_odds


def theorem_8(B: float, D: float, G: float, p: float, T: int, delta: float | None = None) -> float:
    """B + D G [2 sqrt(2 p q T L) + (L/3 + p)(1 + ln T) + q delta T² / 2] with L = ln(1/delta), q = 1 - p.

    Expected regret against the best u in hindsight, behind `Quantile(p)` with Bernstein or binomial ranks at
    a constant `delta`. Without one it is T^-2, as with `horizon=T`, and the leading term 4 sqrt(p q T ln T).
    G is the p-quantile, exceeded with probability exactly q; B is the learner's bound, concave in T, for
    p T rounds (`docs/math.md`, 6.2).

    >>> round(theorem_8(B=0.0, D=1.0, G=1.0, p=0.5, T=10_000))
    675
    """
    q, L = 1.0 - probability("p", p), 2.0 * math.log(T) if delta is None else -math.log(delta)
    failures = q / 2.0 if delta is None else q / 2.0 * delta * T**2
    overhead = 2.0 * math.sqrt(2.0 * p * q * T * L) + (L / 3.0 + p) * (1.0 + math.log(T)) + failures
    return B + D * G * overhead


def theorem_8_paper(B: float, D: float, G: float, p: float, T: int) -> float:
    """B + D G [4 sqrt(2 p (1-p) T ln T) + 13/3 (ln T)² + 3], for delta = T^-2.

    True, though not by the paper's proof, which would need 8 sqrt(p (1-p) T ln T). The ranks as printed, with
    1/(n+1) where n sizes are known, need an argument of their own (`docs/math.md`, 6.2).

    >>> round(theorem_8_paper(B=0.0, D=1.0, G=1.0, p=0.5, T=10_000))
    1229
    """
    probability("p", p)
    overhead = 4.0 * math.sqrt(2.0 * p * (1.0 - p) * T * math.log(T)) + 13.0 / 3.0 * math.log(T) ** 2 + 3.0
    return B + D * G * overhead


def theorem_8_exact(
    B: float,
    D: float,
    G: float,
    ranks: Sequence[int] | np.ndarray,
    p: float,
    ends: Sequence[int] | np.ndarray | None = None,
    ties: bool = False,
) -> float:
    """B + D G [Σ_n a_n + p Σ_n phi_n (end_n - n - 1)], for any ranks that do not depend on the sizes.

    In round n + 1 an inlier is skipped with probability a_n, and the first outlier of an epoch kept with
    probability phi_n; all later rounds of that epoch count as lost (`docs/math.md`, 6.2). Without `ends`
    there is one epoch; with them B is the sum over the epochs. Sizes are continuous; with `ties`,
    those above the quantile may tie in the worst way. For filters with `exact=True`: a histogram also loses
    the inliers less than 0.8 % below the threshold.

    >>> from holdfast import Quantile
    >>> from holdfast.bounds import ranks
    >>> newsvendor = Quantile(0.5, horizon=10_000, ranks="newsvendor")
    >>> round(theorem_8_exact(B=0.0, D=1.0, G=1.0, ranks=ranks(newsvendor, 10_000), p=0.5))
    338
    """
    T = len(ranks)
    last = np.minimum(T, np.full(T, T) if ends is None else ends)
    odds = rank_odds(ranks, p, last, ties)
    ahead = last - np.arange(T) - 1
    return B + D * G * float(odds.skipped.sum() + p * np.sum(odds.spoiled * ahead))


def theorem_8_uniform(
    B: float, D: float, G: float, p: float, T: int, delta: float | None = None, rho: float = 2.0
) -> float:
    """B + D G [2 gamma sqrt(2 p q T L) + (L/3 + p)(1 + ln T) + delta T], for the ranks of `uniform_ranks`.

    Here `delta`, T^-1/2 by default, is the probability that any of the T thresholds fails, L = ln(J / delta)
    with J = 1 + floor(log_rho T), gamma = (rho^(1/4) + rho^(-1/4)) / 2: a time-uniform Bernstein inequality.
    The leading term is (2 gamma + o(1)) sqrt(p q T ln T), with 2 gamma = 2.03 at rho = 2. It is 2 + o(1) only
    if rho tends to 1 as T grows, for example rho = 1 + 1/ln T. No filter here uses these ranks: newsvendor's
    are better.

    >>> round(theorem_8_uniform(B=0.0, D=1.0, G=1.0, p=0.5, T=10_000, delta=0.003))
    481
    """
    q, delta, L, gamma = _uniform(p, T, delta, rho)
    overhead = 2.0 * gamma * math.sqrt(2.0 * p * q * T * L) + (L / 3.0 + p) * (1.0 + math.log(T)) + delta * T
    return B + D * G * overhead


def uniform_ranks(p: float, T: int, delta: float | None = None, rho: float = 2.0) -> np.ndarray:
    """max(0, ceil(n p - gamma sqrt(2 p q L n) - L/3)) for n = 0, ..., T - 1, as `theorem_8_uniform` has it.

    >>> uniform_ranks(p=0.5, T=10_000)[[10, 100, 1000]].tolist()
    [0, 29, 437]
    """
    q, delta, L, gamma = _uniform(p, T, delta, rho)
    n = np.arange(T)
    return np.maximum(0, np.ceil(n * p - gamma * np.sqrt(2.0 * p * q * L * n) - L / 3.0 - 1e-9)).astype(int)


def _uniform(p: float, T: int, delta: float | None, rho: float) -> tuple[float, float, float, float]:
    delta = T**-0.5 if delta is None else probability("delta", delta)
    J = 1 + math.floor(math.log(T) / math.log(above_one(rho)))
    return 1.0 - probability("p", p), delta, math.log(J / delta), (rho**0.25 + rho**-0.25) / 2.0


def theorem_8_probable(
    B: float, D: float, G: float, ranks: Sequence[int] | np.ndarray, p: float, delta: float
) -> float:
    """B + D G [Σ (p - r_n/(n+1)) + sqrt(2 T p q L) + q L/3 + sqrt(2 V L) + L/3], not only in expectation.

    L = ln(2/delta) and V = Σ r_n/(n+1) (1 - r_n/(n+1)); for continuous sizes, with probability at least
    1 - delta - `failure_probability(ranks, p)`. B is the learner's bound for the rounds it kept. Unless an
    outlier is kept, the skipped inliers are all inliers less all kept rounds, both sums of independent
    indicators: Bernstein's inequality, twice.

    >>> from holdfast import Quantile
    >>> from holdfast.bounds import ranks
    >>> r = ranks(Quantile(0.9, horizon=2000), 2000)
    >>> round(theorem_8_probable(B=0.0, D=1.0, G=1.0, ranks=r, p=0.9, delta=0.01))
    252
    """
    T, q, L = len(ranks), 1.0 - probability("p", p), math.log(2.0 / probability("delta", delta))
    share = np.asarray(ranks) / np.arange(1, T + 1)
    V = float(np.sum(share * (1.0 - share)))
    deviation = math.sqrt(2.0 * T * p * q * L) + q * L / 3.0 + math.sqrt(2.0 * V * L) + L / 3.0
    return B + D * G * (float(np.sum(p - share)) + deviation)


def failure_probability(ranks: Sequence[int] | np.ndarray, p: float, ties: bool = False) -> float:
    """The probability that any outlier is kept in len(ranks) rounds.

    >>> from holdfast import Quantile
    >>> from holdfast.bounds import ranks
    >>> failure_probability(ranks(Quantile(0.9, horizon=2000), 2000), p=0.9) < 1e-4
    True
    """
    return float(rank_odds(ranks, p, ties=ties).spoiled.sum())


def epochs_factor(growth: float) -> float:
    """sqrt(1 + kappa²), kappa² = (sqrt(growth) + 1) / (sqrt(growth) - 1): what restarting costs B.

    The sum of beta G sqrt(length) over epochs that end at n_0, growth n_0, growth² n_0, ... is at most this
    times beta G sqrt(T), for all T (`docs/math.md`, 6.4).

    >>> round(epochs_factor(4.0), 9)
    2.0
    """
    root = math.sqrt(above_one(growth))
    return math.sqrt(1.0 + (root + 1.0) / (root - 1.0))


def proposition_9(
    B: float, D: float, X: float, p: float, T: int, delta: float | None = None, L: float = 1.0
) -> float:
    """`theorem_8` for losses h_t(⟨w, x_t⟩) with |h_t'| <= L, X the p-quantile of the i.i.d. ‖x_t‖*.

    The h_t may be chosen by an adversary; the filter judges features (`Filtered(..., on=Features())`). Any
    convex losses will do whose gradients are at most L ‖x_t‖* long (`docs/math.md`, 6.5).

    >>> round(proposition_9(B=0.0, D=1.0, X=2.0, p=0.5, T=10_000, L=0.5))
    675
    """
    return theorem_8(B, D, L * X, p, T, delta)


def proposition_9_paper(B: float, D: float, X: float, p: float, T: int) -> float:
    """`theorem_8_paper` with X for G; "Lipschitz" must be read as |h_t'| <= 1.

    >>> round(proposition_9_paper(B=0.0, D=1.0, X=1.0, p=0.5, T=10_000))
    1229
    """
    return theorem_8_paper(B, D, X, p, T)
