"""The right-hand side of every result, as a function of the paper's letters.

A result bears its number in the paper, and its forms bear the same suffixes throughout:

- `theorem_1_paper`: as printed.
- `theorem_1`: as we prove it, never larger than the printed one (for a lower bound: never smaller). Where
  there is no other, the printed one is ours too.
- `theorem_1_sizes`: tighter, for one who knows the sizes of the inliers.
- `theorem_1_hindsight`: tightest, for one who also knows which rounds were kept.
- `theorem_8_exact`: for one who knows the ranks that the quantile filter uses; `ranks` finds them.

Everywhere D is the diameter of the domain, G the largest size of an inlier, k the number of outliers
withstood, T the number of rounds and `slack` the filter's c, 2 in the paper. B is the learner's own bound, a
number: `ogd` and its kin give it. `docs/paper.md` says what each result is about and what to mind in print;
proofs are in `docs/math.md`.

Examples
--------
How much regret can 50 outliers cause online gradient descent in 10,000 rounds?

>>> f"{theorem_1(B=ogd(D=2.0, G=2.0, T=10_000), D=2.0, G=1.0, k=50):.0f}"
'966'
"""

import math
from typing import NamedTuple

import numpy as np

# -- the learner: online gradient descent on the rounds it is given


def ogd(D, G, T, scale=1.0):
    """sqrt(2) D G sqrt(T): regret of `OGD` with `Adaptive` steps on T rounds of size at most G.

    Convex losses, Euclidean norm (`docs/math.md`, 3.1). With `scale` s, sqrt(2) becomes (s + 1/s) / sqrt(2).

    >>> ogd(D=1.0, G=1.0, T=200)
    20.0
    """
    return (scale + 1.0 / scale) / math.sqrt(2.0) * D * G * math.sqrt(T)


def ogd_paper(D, G, T):
    """2 D G sqrt(T), the constant that the paper takes from the literature.

    >>> ogd_paper(D=1.0, G=1.0, T=100)
    20.0
    """
    return 2.0 * D * G * math.sqrt(T)


def ogd_hindsight(D, sizes, scale=1.0):
    """sqrt(2) D sqrt(Σ ‖g‖²), over the `sizes` of the rounds learned from.

    >>> ogd_hindsight(D=1.0, sizes=[10.0, 10.0])
    20.0
    """
    return ogd(D, float(np.linalg.norm(sizes)), 1.0, scale)


def ogd_strongly_convex(G, sigma, T):
    """G² (1 + ln T) / (2 sigma): `OGD` with `StronglyConvex` steps on sigma-strongly convex losses.

    `docs/math.md`, 3.2; T counts the rounds learned from.

    >>> ogd_strongly_convex(G=2.0, sigma=1.0, T=1)
    2.0
    """
    return G * G * (1.0 + math.log(T)) / (2.0 * sigma)


def ogd_strongly_convex_hindsight(sigma, sizes):
    """Σ ‖g_n‖² / (2 sigma n), over the `sizes` of the rounds learned from, in the order of time.

    >>> ogd_strongly_convex_hindsight(sigma=1.0, sizes=[2.0, 2.0])
    3.0
    """
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return float(np.sum(squares / (2.0 * sigma * np.arange(1, len(squares) + 1))))


# -- Theorem 1: Top-k against any adversary


def theorem_1(B, D, G, k, slack=2.0):
    """B + (c + c/(c-1)) D G k, for every set of inliers that leaves out at most k rounds.

    `TopK(k, slack)` before a learner whose regret on the kept rounds is at most B if their sizes are at most
    c G; such a B must not shrink as rounds or sizes grow. At c = 2 the overhead is 4 D G k, and smallest
    (`docs/math.md`, 2).

    >>> theorem_1(B=0.0, D=1.0, G=1.0, k=10)
    40.0
    """
    return B + (_above_one(slack) + slack / (slack - 1.0)) * D * G * k


def theorem_1_paper(B, D, G, k):
    """B + 4 D G (k + 1), eq. (4). At most k skipped rounds have sizes in (a/2, a], not k + 1: hence our k.

    >>> theorem_1_paper(B=0.0, D=1.0, G=1.0, k=10)
    44.0
    """
    return B + 4.0 * D * G * (k + 1)


def theorem_1_sizes(B, D, sizes, k, slack=2.0):
    """B + (c + c/(c-1)) D (x_1 + ... + x_k), with x the `sizes` of the inliers in descending order.

    >>> theorem_1_sizes(B=0.0, D=1.0, sizes=[1.0, 0.1, 0.1, 0.1], k=2)
    4.4
    """
    return theorem_1(B, D, float(_largest(sizes, k).sum()), 1, slack)


def theorem_1_hindsight(B, D, sizes, kept, inliers):
    """B + D Σ (sizes of the kept outliers and the skipped inliers), for any filter whatever.

    `sizes`, `kept` and `inliers` have an entry for each round. B bounds the regret on the kept rounds.

    >>> sizes, kept, inliers = [1.0, 1.0, 9.0, 2.0], [False, True, False, True], [True, True, False, False]
    >>> theorem_1_hindsight(B=0.0, D=1.0, sizes=sizes, kept=kept, inliers=inliers)
    3.0
    """
    sizes, kept, inliers = _columns(sizes, kept, inliers)
    return B + D * float(sizes[kept != inliers].sum())


def best_slack(beta, T, D, k):
    """The slack c that makes Theorem 1 smallest for a learner with B(G) = beta G sqrt(T).

    1 + sqrt(Dk / (Dk + beta sqrt(T))), at most 2 (`docs/math.md`, 2). It counts on a learner that suffers as
    much as its bound allows; `OGD` pays only for the sizes it meets, and for it 2 is as good a choice.

    >>> round(best_slack(beta=2.0, T=10_000, D=1.0, k=25), 3)
    1.333
    """
    return 1.0 + math.sqrt(D * k / (D * k + beta * math.sqrt(T)))


def theorem_1_at_best_slack(beta, T, D, G, k):
    """G (sqrt(beta sqrt(T) + Dk) + sqrt(Dk))²: Theorem 1 for B(G) = beta G sqrt(T) and `best_slack`.

    >>> theorem_1_at_best_slack(beta=2.0, T=10_000, D=1.0, G=1.0, k=25)
    400.0
    """
    return G * (math.sqrt(beta * math.sqrt(T) + D * k) + math.sqrt(D * k)) ** 2


def theorem_g(B, D, G, k, slack=2.0, error=2.0**-7):
    """Theorem 1 for `TopShare`: B + (c + c'/(c'-1)) D G k, with k = `topshare_budget` of the last round.

    For every set of inliers that leaves out at most k_t of the first t rounds, for all t. If rounds are
    corrupted independently with probability at most `share`, the good rounds are such a set with probability
    1 - delta, for all T at once. B is the learner's bound for sizes up to c G. The histogram reads sizes low
    by a factor of up to 1 + `error`, hence c' = c / (1 + error); with `exact=True` the error is 0
    (`docs/math.md`, 4 and 5).

    >>> round(theorem_g(B=0.0, D=1.0, G=1.0, k=1), 3)
    4.016
    """
    band = _above_one(slack / (1.0 + error))
    return B + (slack + band / (band - 1.0)) * D * G * k


def topshare_budget(share, T, delta):
    """k_T of `TopShare(share, delta)`: the smallest k with P(Bin(T, share) > k) <= 6 delta / (pi T)².

    >>> topshare_budget(share=0.01, T=10_000, delta=1e-3)
    174
    """
    return binomial_budget(share, T, 6.0 * _probability("delta", delta) / (math.pi * T) ** 2)


# -- Corollary 2: convex losses, Top-k before OGD with adaptive steps, Euclidean norm


def corollary_2(D, G, k, T):
    """sqrt(2) D G sqrt(T + 3k) + 4 D G k, with at most T/2 for the k under the root.

    A kept outlier takes the place of an inlier and has at most twice its size, hence T + 3k; and there are as
    many inliers as kept outliers, hence T/2 (`docs/math.md`, Lemma A3 and 3.1).

    >>> round(corollary_2(D=1.0, G=1.0, k=10, T=10_000))
    182
    """
    return theorem_1(ogd(D, G, T + 3.0 * min(k, T / 2.0)), D, G, k)


def corollary_2_paper(D, G, k, T):
    """2 D G (sqrt(T) + 2k + sqrt(k) + 2), eq. (6), second line.

    True, though its proof bounds a kept outlier by G where 2G is right.

    >>> round(corollary_2_paper(D=1.0, G=1.0, k=10, T=10_000))
    250
    """
    return corollary_2_squares_paper(D, G, k, G * G * T)


def corollary_2_squares(D, G, k, squares):
    """The smaller of sqrt(2) D sqrt(s) + D G (4k + 2 sqrt(2k)) and sqrt(10) D sqrt(s) + 4 D G k.

    `squares` is s = Σ ‖g‖² over the inliers. The squares of the kept outliers add up to at most 4 k G², and
    to at most 4 s.

    >>> round(corollary_2_squares(D=1.0, G=1.0, k=10, squares=100.0), 1)
    63.1
    """
    root = min(math.sqrt(2.0 * squares) + 2.0 * G * math.sqrt(2.0 * k), math.sqrt(10.0 * squares))
    return theorem_1(D * root, D, G, k)


def corollary_2_squares_paper(D, G, k, squares):
    """2 D sqrt(Σ ‖g‖²) + 2 D G (2k + sqrt(k) + 2), eq. (6), first line; the sum is over the inliers.

    >>> round(corollary_2_squares_paper(D=1.0, G=1.0, k=10, squares=100.0), 1)
    70.3
    """
    return 2.0 * D * math.sqrt(squares) + 2.0 * D * G * (2.0 * k + math.sqrt(k) + 2.0)


def corollary_2_sizes(D, sizes, k, slack=2.0):
    """sqrt(2) D sqrt(Σ ‖g‖² + c² (x_1² + ... + x_k²)) + (c + c/(c-1)) D (x_1 + ... + x_k).

    The sum is over the inliers, and x their `sizes` in descending order.

    >>> round(corollary_2_sizes(D=1.0, sizes=[0.1] * 99 + [1.0], k=1), 1)
    7.5
    """
    squares = float(np.sum(np.square(sizes)) + slack**2 * np.sum(_largest(sizes, k) ** 2))
    return theorem_1_sizes(ogd(D, math.sqrt(squares), 1), D, sizes, k, slack)


def corollary_2_hindsight(D, sizes, kept, inliers):
    """sqrt(2) D sqrt(Σ ‖g‖² over the kept) + D Σ (sizes of kept outliers and skipped inliers).

    Holds behind any filter; for `TopK` it is at most `corollary_2_sizes`.

    >>> round(corollary_2_hindsight(1.0, [1.0, 1.0, 9.0], [False, True, False], [True, True, False]), 3)
    2.414
    """
    sizes, kept, inliers = _columns(sizes, kept, inliers)
    return theorem_1_hindsight(ogd_hindsight(D, sizes[kept]), D, sizes, kept, inliers)


# -- Corollary 3: strongly convex losses, Top-k before OGD with steps 1 / (sigma n)


def corollary_3(G, b, sigma, k, T, slack=2.0):
    """[c² G² (1 + ln T) + k G² c²/(c²-1) + k b²] / (2 sigma).

    b is the largest ‖∇f_t(u)‖ of a round with ‖g_t‖ <= c G: the comparator's own gradients. All losses are
    sigma-strongly convex, those of kept outliers too, and n counts kept rounds. Every skipped inlier costs at
    most ‖g‖² / (2 sigma), the skipped squares add up to k G² c²/(c²-1) (Lemma A2, squared), and every kept
    outlier costs at most b² / (2 sigma).

    >>> round(corollary_3(G=1.0, b=1.0, sigma=1.0, k=10, T=10_000), 1)
    32.1
    """
    c2 = _above_one(slack) ** 2
    return ogd_strongly_convex(slack * G, sigma, T) + k * (G * G * c2 / (c2 - 1.0) + b * b) / (2.0 * sigma)


def corollary_3_paper(G, b, sigma, k, T):
    """2 G² (ln T + 1) / sigma + 5 (2G + b)² (k + 1) / (2 sigma).

    >>> round(corollary_3_paper(G=1.0, b=1.0, sigma=1.0, k=10, T=10_000), 1)
    267.9
    """
    return 2.0 * G * G * (math.log(T) + 1.0) / sigma + 2.5 * (2.0 * G + b) ** 2 * (k + 1) / sigma


def corollary_3_hindsight(sigma, sizes, kept, inliers, comparator_sizes):
    """[Σ ‖g_n‖²/n over the kept + Σ ‖g‖² over skipped inliers + Σ ‖∇f(u)‖² over kept outliers] / (2 sigma).

    `comparator_sizes` are the ‖∇f_t(u)‖. Holds behind any filter.

    >>> kept, inliers = [False, True, True], [True, True, False]
    >>> corollary_3_hindsight(0.5, [1.0, 1.0, 2.0], kept, inliers, comparator_sizes=[0.0, 0.0, 3.0])
    13.0
    """
    sizes, kept, inliers = _columns(sizes, kept, inliers)
    comparator_sizes = np.asarray(comparator_sizes, dtype=np.float64)
    lost = np.sum(sizes[inliers & ~kept] ** 2) + np.sum(comparator_sizes[kept & ~inliers] ** 2)
    return ogd_strongly_convex_hindsight(sigma, sizes[kept]) + float(lost) / (2.0 * sigma)


# -- Lemma 4 and Corollary 5: Huber contamination, and the risk of the mean of all w_t on clean data


def lemma_4_expectation(R, eps, T):
    """R / ((1 - eps) T), eq. (9): in expectation, for an expected robust regret R against any fixed u.

    >>> lemma_4_expectation(R=90.0, eps=0.1, T=1000)
    0.1
    """
    return R / ((1.0 - _probability("eps", eps, zero=True)) * T)


def lemma_4(R, B, eps, T, delta):
    """[R / T + B sqrt(2 ln(1/delta) / T)] / (1 - eps), with probability 1 - delta, for a robust regret R.

    B bounds |f(w) - f(u)| on inliers. An outlier's modified excess loss is 0, an inlier's spans 2B, and the
    inequality of Azuma and Hoeffding asks for half the span.

    >>> round(lemma_4(R=90.0, B=1.0, eps=0.1, T=1000, delta=0.05), 3)
    0.186
    """
    return lemma_4_expectation(R + B * math.sqrt(2.0 * T * -math.log(delta)), eps, T)


def lemma_4_paper(R, B, eps, T, delta):
    """[R / T + 2B sqrt(2 ln(1/delta) / T)] / (1 - eps), eq. (10).

    >>> round(lemma_4_paper(R=90.0, B=1.0, eps=0.1, T=1000, delta=0.05), 3)
    0.272
    """
    return lemma_4(R, 2.0 * B, eps, T, delta)


def corollary_5(D, G, eps, T, delta):
    """Lemma 4 with Corollary 2 and k = `huber_budget`: excess risk with probability 1 - delta.

    Inliers' gradients have size at most G everywhere, and `TopK(huber_budget(eps, T, delta))` stands before
    OGD. Tends to 4 eps D G / (1 - eps), for any eps < 1.

    >>> round(corollary_5(D=1.0, G=1.0, eps=0.01, T=3000, delta=0.05), 3)
    0.132
    """
    k = huber_budget(eps, T, delta)
    return lemma_4(corollary_2(D, G, k, T), D * G, eps, T, delta / 2.0)


def corollary_5_paper(D, G, eps, T, delta):
    """12 D G eps + 2 D G (5 sqrt(2L) + 2) / sqrt(T) + 2 D G (L + 10) / T with L = ln(2/delta), eq. (11).

    For eps <= 1/2.

    >>> round(corollary_5_paper(D=1.0, G=1.0, eps=0.01, T=3000, delta=0.05), 3)
    0.698
    """
    if not 0.0 <= eps <= 0.5:
        raise ValueError(f"the paper's corollary is for eps up to 1/2: got {eps}; corollary_5 is for any")
    L = math.log(2.0 / delta)
    return D * G * (12.0 * eps + 2.0 * (5.0 * math.sqrt(2.0 * L) + 2.0) / math.sqrt(T) + 2.0 * (L + 10.0) / T)


def huber_budget(eps, T, delta):
    """The smallest k with P(Bin(T, eps) > k) <= delta / 2.

    >>> huber_budget(eps=0.01, T=3000, delta=0.05)
    41
    """
    return binomial_budget(eps, T, _probability("delta", delta) / 2.0)


def huber_budget_paper(eps, T, delta):
    """ceil(eps T + sqrt(2 T eps (1-eps) L) + (1-eps) L / 3) with L = ln(2/delta), by Bernstein's inequality.

    >>> huber_budget_paper(eps=0.01, T=3000, delta=0.05)
    47
    """
    L = math.log(2.0 / delta)
    return math.ceil(eps * T + math.sqrt(2.0 * T * eps * (1.0 - eps) * L) + (1.0 - eps) * L / 3.0)


def huber_floor(D, G, eps):
    """D G eps / (2 (1 - eps)): excess risk that contamination by eps <= 1/2 makes unavoidable, at any T.

    The two distributions of the paper's remark have excess risks G eps/(1-eps) (D/2 - w) and the same with
    + w. The larger is smallest at w = 0, and below the D G eps that the remark claims whenever eps < 1/2.

    >>> round(huber_floor(D=1.0, G=1.0, eps=0.1), 4)
    0.0556
    """
    return D * G * eps / (2.0 * (1.0 - eps))


def binomial_budget(share, T, level):
    """The smallest k with P(Bin(T, share) > k) <= level: more outliers than that there hardly are.

    >>> binomial_budget(share=0.5, T=3, level=0.2)
    2
    """
    if _probability("share", share, zero=True) == 0.0:
        return 0
    log_factorial = np.array([math.lgamma(j + 1.0) for j in range(T + 1)])
    j = np.arange(T + 1)
    ways = log_factorial[-1] - log_factorial - log_factorial[::-1]
    mass = np.exp(ways + j * math.log(share) + (T - j) * math.log1p(-share))
    above = np.cumsum(mass[::-1])[::-1] - mass
    return int(np.argmax(above <= level * (1.0 - 1e-7)))  # rounding must not lower it


# -- Theorems 6 and 7: no learner can do better than this


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


# -- Theorem 8 and Proposition 9: sizes are i.i.d., and the outliers are those above their p-quantile


def theorem_8(B, D, G, p, T, delta=None):
    """B + D G [2 sqrt(2 p q T L) + (L/3 + p)(1 + ln T) + q delta T² / 2] with L = ln(1/delta), q = 1 - p.

    Expected regret against the best u in hindsight, behind `Quantile(p)` with Bernstein or binomial ranks at
    a constant `delta`. Without one it is T^-2, as with `horizon=T`, and the leading term 4 sqrt(p q T ln T).
    G is the p-quantile, exceeded with probability exactly q; B is the learner's bound, concave in T, for
    p T rounds (`docs/math.md`, 6.2).

    >>> round(theorem_8(B=0.0, D=1.0, G=1.0, p=0.5, T=10_000))
    675
    """
    q, L = 1.0 - _probability("p", p), 2.0 * math.log(T) if delta is None else -math.log(delta)
    failures = q / 2.0 if delta is None else q / 2.0 * delta * T**2
    overhead = 2.0 * math.sqrt(2.0 * p * q * T * L) + (L / 3.0 + p) * (1.0 + math.log(T)) + failures
    return B + D * G * overhead


def theorem_8_paper(B, D, G, p, T):
    """B + D G [4 sqrt(2 p (1-p) T ln T) + 13/3 (ln T)² + 3], for delta = T^-2.

    True, though not by the paper's proof, which would need 8 sqrt(p (1-p) T ln T).

    >>> round(theorem_8_paper(B=0.0, D=1.0, G=1.0, p=0.5, T=10_000))
    1229
    """
    _probability("p", p)
    overhead = 4.0 * math.sqrt(2.0 * p * (1.0 - p) * T * math.log(T)) + 13.0 / 3.0 * math.log(T) ** 2 + 3.0
    return B + D * G * overhead


def theorem_8_exact(B, D, G, ranks, p, ends=None, ties=False):
    """B + D G [Σ_n a_n + p Σ_n phi_n (end_n - n - 1)], for any ranks that do not depend on the sizes.

    In round n + 1 an inlier is skipped with probability a_n, and the first outlier of an epoch kept with
    probability phi_n; thereafter the learner is given up until the epoch's end (`docs/math.md`, 6.2). Without
    `ends` there is one epoch; with them B is the sum over the epochs. Sizes are continuous; with `ties`,
    those above the quantile may tie in the worst way. For filters with `exact=True`: a histogram also loses
    the inliers less than 0.8 % below the threshold.

    >>> from holdfast import Quantile
    >>> newsvendor = Quantile(0.5, horizon=10_000, ranks="newsvendor")
    >>> round(theorem_8_exact(B=0.0, D=1.0, G=1.0, ranks=ranks(newsvendor, 10_000), p=0.5))
    338
    """
    T = len(ranks)
    ends = np.minimum(T, np.full(T, T) if ends is None else ends)
    odds = rank_odds(ranks, p, ends, ties)
    ahead = ends - np.arange(T) - 1
    return B + D * G * float(odds.skipped.sum() + p * np.sum(odds.spoiled * ahead))


def theorem_8_uniform(B, D, G, p, T, delta=None, rho=2.0):
    """B + D G [2 gamma sqrt(2 p q T L) + (L/3 + p)(1 + ln T) + delta T], for the ranks of `uniform_ranks`.

    Here `delta`, T^-1/2 by default, is the probability that any of the T thresholds fails, L = ln(J / delta)
    with J = 1 + floor(log_rho T), gamma = (rho^(1/4) + rho^(-1/4)) / 2: a time-uniform Bernstein inequality.
    The leading term is (2 + o(1)) sqrt(p q T ln T). No filter here uses these ranks: newsvendor's are better.

    >>> round(theorem_8_uniform(B=0.0, D=1.0, G=1.0, p=0.5, T=10_000, delta=0.003))
    481
    """
    q, delta, L, gamma = _uniform(p, T, delta, rho)
    overhead = 2.0 * gamma * math.sqrt(2.0 * p * q * T * L) + (L / 3.0 + p) * (1.0 + math.log(T)) + delta * T
    return B + D * G * overhead


def uniform_ranks(p, T, delta=None, rho=2.0):
    """max(0, ceil(n p - gamma sqrt(2 p q L n) - L/3)) for n = 0, ..., T - 1, as `theorem_8_uniform` has it.

    >>> uniform_ranks(p=0.5, T=10_000)[[10, 100, 1000]].tolist()
    [0, 29, 437]
    """
    q, delta, L, gamma = _uniform(p, T, delta, rho)
    n = np.arange(T)
    return np.maximum(0, np.ceil(n * p - gamma * np.sqrt(2.0 * p * q * L * n) - L / 3.0 - 1e-9)).astype(int)


def _uniform(p, T, delta, rho):
    delta = T**-0.5 if delta is None else _probability("delta", delta)
    J = 1 + math.floor(math.log(T) / math.log(_above_one(rho)))
    return 1.0 - _probability("p", p), delta, math.log(J / delta), (rho**0.25 + rho**-0.25) / 2.0


def theorem_8_probable(B, D, G, ranks, p, delta):
    """B + D G [Σ (p - r_n/(n+1)) + sqrt(2 T p q L) + q L/3 + sqrt(2 V L) + L/3], not only in expectation.

    L = ln(2/delta) and V = Σ r_n/(n+1) (1 - r_n/(n+1)); for continuous sizes, with probability at least
    1 - delta - `failure_probability(ranks, p)`. B is the learner's bound for the rounds it kept. Unless an
    outlier is kept, the skipped inliers are all inliers less all kept rounds, both sums of independent
    indicators: Bernstein's inequality, twice.

    >>> from holdfast import Quantile
    >>> r = ranks(Quantile(0.9, horizon=2000), 2000)
    >>> round(theorem_8_probable(B=0.0, D=1.0, G=1.0, ranks=r, p=0.9, delta=0.01))
    252
    """
    T, q, L = len(ranks), 1.0 - _probability("p", p), math.log(2.0 / _probability("delta", delta))
    share = np.asarray(ranks) / np.arange(1, T + 1)
    V = float(np.sum(share * (1.0 - share)))
    deviation = math.sqrt(2.0 * T * p * q * L) + q * L / 3.0 + math.sqrt(2.0 * V * L) + L / 3.0
    return B + D * G * (float(np.sum(p - share)) + deviation)


def failure_probability(ranks, p, ties=False):
    """The probability that any outlier is kept in len(ranks) rounds.

    >>> from holdfast import Quantile
    >>> failure_probability(ranks(Quantile(0.9, horizon=2000), 2000), p=0.9) < 1e-4
    True
    """
    return float(rank_odds(ranks, p, ties=ties).spoiled.sum())


def epochs_factor(growth):
    """sqrt(1 + kappa²), kappa² = (sqrt(growth) + 1) / (sqrt(growth) - 1): what restarting costs B.

    The sum of beta G sqrt(length) over epochs that end at n_0, growth n_0, growth² n_0, ... is at most this
    times beta G sqrt(T), for all T (`docs/math.md`, 6.4).

    >>> round(epochs_factor(4.0), 9)
    2.0
    """
    root = math.sqrt(_above_one(growth))
    return math.sqrt(1.0 + (root + 1.0) / (root - 1.0))


def proposition_9(B, D, X, p, T, delta=None, L=1.0):
    """`theorem_8` for losses h_t(⟨w, x_t⟩) with |h_t'| <= L, X the p-quantile of the i.i.d. ‖x_t‖*.

    The h_t may be chosen by an adversary; the filter judges features (`Filtered(..., on=Features())`).

    >>> round(proposition_9(B=0.0, D=1.0, X=2.0, p=0.5, T=10_000, L=0.5))
    675
    """
    return theorem_8(B, D, L * X, p, T, delta)


def proposition_9_paper(B, D, X, p, T):
    """`theorem_8_paper` with X for G; "Lipschitz" must be read as |h_t'| <= 1.

    >>> round(proposition_9_paper(B=0.0, D=1.0, X=1.0, p=0.5, T=10_000))
    1229
    """
    return theorem_8_paper(B, D, X, p, T)


# -- what a schedule of ranks does: exact probabilities


class RankOdds(NamedTuple):
    """Probabilities for each of T rounds, as arrays; sums of them are expected numbers of rounds."""

    skipped: np.ndarray  # a_n: the round is an inlier and skipped
    kept: np.ndarray  # w_n: it is an outlier and kept (for continuous sizes)
    spoiled: np.ndarray  # phi_n: the same, for the first time in its epoch


def ranks(quantile, T):
    """The rank that a `Quantile` uses in each of T rounds: r_n with n past sizes, n = 0, ..., T - 1.

    >>> from holdfast import Quantile
    >>> ranks(Quantile(0.5, horizon=100), 100)[[0, 25, 50, 99]].tolist()
    [0, 4, 12, 31]
    """
    return np.array([order.rank for order, _ in _steps(quantile, T)], dtype=int)


def ends(quantile, T):
    """When the epoch of each round ends, for a `Quantile` that restarts the learner; T for one that does not.

    >>> from holdfast import Quantile
    >>> ends(Quantile(0.5), 10_000)[[0, 1023, 1024, 4095, 4096]].tolist()
    [1024, 1024, 4096, 4096, 10000]
    """
    found = np.full(T, T)
    starts = [n for n, (_, plan) in enumerate(_steps(quantile, T)) if plan.renews()]
    for start in reversed(starts):
        found[:start] = start
    return found


def _steps(quantile, T):
    _, order, plan = quantile.init(dim=1)
    for n in range(T):
        order = order.stepped(n, plan.delta, plan.ahead(n))
        yield order, plan
        plan = plan.after(n + 1)


def rank_odds(ranks, p, ends=None, ties=False):
    """What happens in each round if it is kept iff its size is at most the r_n-th smallest of n past sizes.

    Sizes are i.i.d., and inliers with probability p. With K ~ Bin(n + 1, p), a_n = E(K - r_n)₊ / (n + 1) and
    w_n = E(r_n - K)₊ / (n + 1), because the newest of n + 1 sizes is equally likely to be the smallest, the
    second smallest, ... (`docs/math.md`, 6.2). phi_n follows from the number j of inliers so far: of
    n - j + 1 places among the outliers, r_n - j are low enough for a new one to be kept; with `ties` all are.

    >>> odds = rank_odds([0, 1], p=0.5)
    >>> odds.skipped.tolist(), odds.kept.tolist()
    ([0.5, 0.125], [0.0, 0.125])
    """
    _probability("p", p)
    return _walk(ranks, lambda n, j: p, ends, ties)


def empirical_rank_odds(ranks, R, ties=False):
    """`rank_odds` if the inliers are the R smallest of T = len(ranks) sizes, which come in random order.

    Only exchangeability is needed; K is then hypergeometric.

    >>> odds = empirical_rank_odds([0, 1, 1], R=2)
    >>> [round(float(a), 3) for a in odds.skipped]
    [0.667, 0.167, 0.333]
    """
    T = len(ranks)
    return _walk(ranks, lambda n, j: np.clip((R - j) / (T - n), 0.0, 1.0), None, ties)


def empirical_overhead(ranks, R, ties=False):
    """Σ a_n + Σ phi_n (T - n - 1), in units of D G: the overhead if G is the R-th smallest of all T sizes.

    The paper's closing remark, without its inflated p; the learner's B is for R rounds. After a kept outlier
    the rounds to come are no longer independent of the past, so all of them count.

    >>> empirical_overhead([0, 0, 0], R=2)
    2.0
    """
    odds = empirical_rank_odds(ranks, R, ties)
    return float(odds.skipped.sum() + np.sum(odds.spoiled * np.arange(len(ranks) - 1, -1, -1)))


_NEGLIGIBLE = 1e-30


def _walk(ranks, inlier, ends, ties):
    """The distribution of the number of inliers, round after round, with and without an outlier kept."""
    T = len(ranks)
    odds = RankOdds(np.zeros(T), np.zeros(T), np.zeros(T))
    low, every, clean = 0, np.ones(1), np.ones(1)  # of low, low + 1, ... inliers so far
    for n, rank in enumerate(ranks):
        if ends is not None and n > 0 and ends[n] != ends[n - 1]:
            clean = every  # a new learner
        j = np.arange(low, low + len(every))
        p = inlier(n, j)
        kept = (j < rank) * 1.0 if ties else np.maximum(rank - j, 0) / (n - j + 1)
        odds.spoiled[n] = np.sum((1.0 - p) * clean * kept)
        every = np.append((1.0 - p) * every, 0.0) + np.append(0.0, p * every)
        clean = np.append((1.0 - p) * clean * (1.0 - kept), 0.0) + np.append(0.0, p * clean)
        K = np.arange(low, low + len(every))
        odds.skipped[n] = np.sum(every * np.maximum(K - rank, 0)) / (n + 1)
        odds.kept[n] = np.sum(every * np.maximum(rank - K, 0)) / (n + 1)
        first, last = np.flatnonzero(every > _NEGLIGIBLE)[[0, -1]]
        low, every, clean = low + first, every[first : last + 1], clean[first : last + 1]
    return odds


# -- the online-to-batch example: OGD behind a quantile filter learns from features without a variance


def heavy_tails(R, D, tail, T, L=1.0):
    """R / T + L D E[|X|; |X| > X_p]: excess risk of the mean of all w_t on *all* data, outliers included.

    In expectation, for L-Lipschitz h_t and an expected robust regret R against the minimiser of the risk.
    `tail` is E[|X|; |X| > X_p], such as `pareto_tail`: an outlier costs at most L D |X|.

    >>> round(heavy_tails(R=100.0, D=2.0, tail=0.05, T=1000), 3)
    0.2
    """
    return R / T + L * D * tail


def pareto_quantile(gamma, p):
    """X_p = (1-p)^(-1/(1+gamma)) for P(|X| > x) = x^-(1+gamma), x >= 1.

    >>> round(pareto_quantile(gamma=0.5, p=0.999), 9)
    100.0
    """
    return (1.0 - _probability("p", p)) ** (-1.0 / (1.0 + gamma))


def pareto_tail(gamma, p):
    """E[|X|; |X| > X_p] = (1 + 1/gamma)(1-p) X_p for the same X. The paper forgets the 1.

    >>> round(pareto_tail(gamma=0.5, p=0.999), 9)
    0.3
    """
    return (1.0 + 1.0 / gamma) * (1.0 - p) * pareto_quantile(gamma, p)


def heavy_tails_example(gamma, T):
    """`heavy_tails` for the paper's example: w in [-1, 1], logistic loss, Pareto features, p = 1 - T^-1/2.

    >>> [round(heavy_tails_example(gamma=0.9, T=10**n), 3) for n in (4, 6, 8)]
    [1.231, 0.314, 0.095]
    """
    D, p = 2.0, 1.0 - T**-0.5
    X = pareto_quantile(gamma, p)
    return heavy_tails(proposition_9(ogd(D, X, p * T), D, X, p, T), D, pareto_tail(gamma, p), T)


def heavy_tails_rate(gamma):
    """gamma / (2 (1 + gamma)): the example's risk falls like T to the minus this.

    >>> heavy_tails_rate(gamma=1.0)
    0.25
    """
    return gamma / (2.0 * (1.0 + gamma))


# -- small checks, so that a slip is met where it was made


def _probability(name, value, zero=False):
    if not (0.0 < value < 1.0 or (zero and value == 0.0)):
        raise ValueError(
            f"{name} is a probability: expected 0 {'<=' if zero else '<'} {name} < 1, got {value}"
        )
    return value


def _above_one(value):
    if not 1.0 < value < math.inf:
        raise ValueError(f"the bound needs a factor above 1 here, and is infinite at 1: got {value}")
    return value


def _largest(sizes, k):
    return np.sort(np.asarray(sizes, dtype=np.float64))[::-1][:k]


def _columns(sizes, kept, inliers):
    sizes = np.asarray(sizes, dtype=np.float64)
    return sizes, np.asarray(kept, dtype=bool), np.asarray(inliers, dtype=bool)
