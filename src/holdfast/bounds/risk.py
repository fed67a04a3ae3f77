"""From regret to risk: Lemma 4 and Corollary 5, Huber's contamination; and the example of heavy tails."""

import math

from holdfast.bounds.checks import probability
from holdfast.bounds.convex import corollary_2
from holdfast.bounds.learner import ogd
from holdfast.bounds.quantile import proposition_9
from holdfast.bounds.topk import binomial_budget


def lemma_4_expectation(R: float, eps: float, T: int) -> float:
    """R / ((1 - eps) T), eq. (9): in expectation, for an expected robust regret R against any fixed u.

    >>> lemma_4_expectation(R=90.0, eps=0.1, T=1000)
    0.1
    """
    return R / ((1.0 - probability("eps", eps, zero=True)) * T)


def lemma_4(R: float, B: float, eps: float, T: int, delta: float) -> float:
    """[R / T + B sqrt(2 ln(1/delta) / T)] / (1 - eps), with probability 1 - delta, for a robust regret R.

    B bounds |f(w) - f(u)| on inliers. An outlier's modified excess loss is 0, an inlier's spans 2B, and the
    inequality of Azuma and Hoeffding asks for half the span.

    >>> round(lemma_4(R=90.0, B=1.0, eps=0.1, T=1000, delta=0.05), 3)
    0.186
    """
    return lemma_4_expectation(R + B * math.sqrt(2.0 * T * -math.log(delta)), eps, T)


def lemma_4_paper(R: float, B: float, eps: float, T: int, delta: float) -> float:
    """[R / T + 2B sqrt(2 ln(1/delta) / T)] / (1 - eps), eq. (10).

    >>> round(lemma_4_paper(R=90.0, B=1.0, eps=0.1, T=1000, delta=0.05), 3)
    0.272
    """
    return lemma_4(R, 2.0 * B, eps, T, delta)


def corollary_5(D: float, G: float, eps: float, T: int, delta: float) -> float:
    """Lemma 4 with Corollary 2 and k = `huber_budget`: excess risk with probability 1 - delta.

    Inliers' gradients have size at most G everywhere, and `TopK(huber_budget(eps, T, delta))` stands before
    OGD. Tends to 4 eps D G / (1 - eps), for any eps < 1.

    >>> round(corollary_5(D=1.0, G=1.0, eps=0.01, T=3000, delta=0.05), 3)
    0.132
    """
    k = huber_budget(eps, T, delta)
    return lemma_4(corollary_2(D, G, k, T), D * G, eps, T, delta / 2.0)


def corollary_5_paper(D: float, G: float, eps: float, T: int, delta: float) -> float:
    """12 D G eps + 2 D G (5 sqrt(2L) + 2) / sqrt(T) + 2 D G (L + 10) / T with L = ln(2/delta), eq. (11).

    For eps <= 1/2.

    >>> round(corollary_5_paper(D=1.0, G=1.0, eps=0.01, T=3000, delta=0.05), 3)
    0.698
    """
    if not 0.0 <= eps <= 0.5:
        raise ValueError(f"the paper's corollary is for eps up to 1/2: got {eps}; corollary_5 is for any")
    L = math.log(2.0 / delta)
    return D * G * (12.0 * eps + 2.0 * (5.0 * math.sqrt(2.0 * L) + 2.0) / math.sqrt(T) + 2.0 * (L + 10.0) / T)


def huber_budget(eps: float, T: int, delta: float) -> int:
    """The smallest k with P(Bin(T, eps) > k) <= delta / 2.

    >>> huber_budget(eps=0.01, T=3000, delta=0.05)
    41
    """
    return binomial_budget(eps, T, probability("delta", delta) / 2.0)


def huber_budget_paper(eps: float, T: int, delta: float) -> int:
    """ceil(eps T + sqrt(2 T eps (1-eps) L) + (1-eps) L / 3) with L = ln(2/delta), by Bernstein's inequality.

    >>> huber_budget_paper(eps=0.01, T=3000, delta=0.05)
    47
    """
    L = math.log(2.0 / delta)
    return math.ceil(eps * T + math.sqrt(2.0 * T * eps * (1.0 - eps) * L) + (1.0 - eps) * L / 3.0)


def huber_floor(D: float, G: float, eps: float) -> float:
    """D G eps / (2 (1 - eps)): excess risk that contamination by eps <= 1/2 makes unavoidable, at any T.

    The two distributions of the paper's remark have excess risks G eps/(1-eps) (D/2 - w) and the same with
    + w. The larger is smallest at w = 0, and below the D G eps that the remark claims whenever eps < 1/2.

    >>> round(huber_floor(D=1.0, G=1.0, eps=0.1), 4)
    0.0556
    """
    return D * G * eps / (2.0 * (1.0 - eps))


def heavy_tails(R: float, D: float, tail: float, T: float, L: float = 1.0) -> float:
    """R / T + L D E[|X|; |X| > X_p]: excess risk of the mean of all w_t on *all* data, outliers included.

    In expectation, for L-Lipschitz h_t and an expected robust regret R against the minimiser of the risk.
    `tail` is E[|X|; |X| > X_p], such as `pareto_tail`: an outlier costs at most L D |X|.

    >>> round(heavy_tails(R=100.0, D=2.0, tail=0.05, T=1000), 3)
    0.2
    """
    return R / T + L * D * tail


def pareto_quantile(gamma: float, p: float) -> float:
    """X_p = (1-p)^(-1/(1+gamma)) for P(|X| > x) = x^-(1+gamma), x >= 1.

    >>> round(pareto_quantile(gamma=0.5, p=0.999), 9)
    100.0
    """
    return (1.0 - probability("p", p)) ** (-1.0 / (1.0 + gamma))


def pareto_tail(gamma: float, p: float) -> float:
    """E[|X|; |X| > X_p] = (1 + 1/gamma)(1-p) X_p for the same X. The paper omits the 1.

    >>> round(pareto_tail(gamma=0.5, p=0.999), 9)
    0.3
    """
    return (1.0 + 1.0 / gamma) * (1.0 - p) * pareto_quantile(gamma, p)


def heavy_tails_example(gamma: float, T: int) -> float:
    """`heavy_tails` for the paper's example: w in [-1, 1], logistic loss, Pareto features, p = 1 - T^-1/2.

    >>> [round(heavy_tails_example(gamma=0.9, T=10**n), 3) for n in (4, 6, 8)]
    [1.231, 0.314, 0.095]
    """
    D, p = 2.0, 1.0 - T**-0.5
    X = pareto_quantile(gamma, p)
    return heavy_tails(proposition_9(ogd(D, X, p * T), D, X, p, T), D, pareto_tail(gamma, p), T)


def heavy_tails_rate(gamma: float) -> float:
    """gamma / (2 (1 + gamma)): the example's risk falls like T to the minus this.

    >>> heavy_tails_rate(gamma=1.0)
    0.25
    """
    return gamma / (2.0 * (1.0 + gamma))
