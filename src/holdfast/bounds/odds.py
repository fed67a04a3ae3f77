"""What a schedule of ranks does: exact probabilities."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from holdfast.bounds.checks import probability
from holdfast.filters.quantile import Quantile


class RankOdds(NamedTuple):
    """Probabilities for each of T rounds, as arrays; sums of them are expected numbers of rounds."""

    skipped: np.ndarray  # a_n: the round is an inlier and skipped
    kept: np.ndarray  # w_n: it is an outlier and kept (for continuous sizes)
    spoiled: np.ndarray  # phi_n: the same, for the first time in its epoch


def ranks(quantile: Quantile, T: int) -> np.ndarray:
    """The rank that a `Quantile` uses in each of T rounds: r_n with n past sizes, n = 0, ..., T - 1.

    >>> from holdfast import Quantile
    >>> ranks(Quantile(0.5, horizon=100), 100)[[0, 25, 50, 99]].tolist()
    [0, 4, 12, 31]
    """
    return np.array([order.rank for order, _ in _steps(quantile, T)], dtype=int)


def ends(quantile: Quantile, T: int) -> np.ndarray:
    """When the epoch of each round ends, for a `Quantile` that restarts the learner; T for one that does not.

    >>> from holdfast import Quantile
    >>> ends(Quantile(0.5), 10_000)[[0, 1023, 1024, 4095, 4096]].tolist()
    [1024, 1024, 4096, 4096, 10000]
    """
    found = np.full(T, T)
    starts = [n for n, (_, plan) in enumerate(_steps(quantile, T)) if plan.starts_epoch()]
    for start in reversed(starts):
        found[:start] = start
    return found


def _steps(quantile: Quantile, T: int) -> Iterator[tuple[Any, Any]]:
    if quantile.window is not None:
        raise ValueError(
            f"there is no theorem for a Quantile with a window: use one without; got window={quantile.window}"
        )
    _, order, plan = quantile.init(dim=1)
    for n in range(T):
        order = order.next_round(n, plan.delta, plan.ahead(n))
        yield order, plan
        plan = plan.after(n + 1)


def rank_odds(
    ranks: Sequence[int] | np.ndarray,
    p: float,
    ends: Sequence[int] | np.ndarray | None = None,
    ties: bool = False,
) -> RankOdds:
    """What happens in each round if it is kept iff its size is at most the r_n-th smallest of n past sizes.

    Sizes are i.i.d., and inliers with probability p. With K ~ Bin(n + 1, p), a_n = E(K - r_n)₊ / (n + 1) and
    w_n = E(r_n - K)₊ / (n + 1), because the newest of n + 1 sizes is equally likely to be the smallest, the
    second smallest, ... (`docs/math.md`, 6.2). phi_n follows from the number j of inliers so far: of
    n - j + 1 places among the outliers, r_n - j are low enough for a new one to be kept; with `ties` all are.

    >>> odds = rank_odds([0, 1], p=0.5)
    >>> odds.skipped.tolist(), odds.kept.tolist()
    ([0.5, 0.125], [0.0, 0.125])
    """
    probability("p", p)
    return _walk(ranks, lambda n, j: p, ends, ties)


def empirical_rank_odds(ranks: Sequence[int] | np.ndarray, R: float, ties: bool = False) -> RankOdds:
    """`rank_odds` if the inliers are the R smallest of T = len(ranks) sizes, which come in random order.

    Only exchangeability is needed; K is then hypergeometric.

    >>> odds = empirical_rank_odds([0, 1, 1], R=2)
    >>> [round(float(a), 3) for a in odds.skipped]
    [0.667, 0.167, 0.333]
    """
    T = len(ranks)
    return _walk(ranks, lambda n, j: np.clip((R - j) / (T - n), 0.0, 1.0), None, ties)


def empirical_overhead(ranks: Sequence[int] | np.ndarray, R: float, ties: bool = False) -> float:
    """Σ a_n + Σ phi_n (T - n - 1), in units of D G: the overhead if G is the R-th smallest of all T sizes.

    The paper's closing remark, without its inflated p; the learner's B is for R rounds. After a kept outlier
    the rounds to come are no longer independent of the past, so all of them count.

    >>> empirical_overhead([0, 0, 0], R=2)
    2.0
    """
    odds = empirical_rank_odds(ranks, R, ties)
    return float(odds.skipped.sum() + np.sum(odds.spoiled * np.arange(len(ranks) - 1, -1, -1)))


_NEGLIGIBLE = 1e-30


def _walk(
    ranks: Sequence[int] | np.ndarray,
    inlier: Callable[[int, np.ndarray], Any],
    ends: Sequence[int] | np.ndarray | None,
    ties: bool,
) -> RankOdds:
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
