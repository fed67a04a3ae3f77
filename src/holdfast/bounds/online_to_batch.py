"""The online-to-batch example: OGD behind a quantile filter learns from features without a variance."""

from holdfast.bounds.checks import probability
from holdfast.bounds.learner import ogd
from holdfast.bounds.quantile import proposition_9


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
