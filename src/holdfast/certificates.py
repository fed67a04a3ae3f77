"""What a run proves about itself, for any learner, without knowing who the outliers were."""

import math
from dataclasses import dataclass

import numpy as np

from holdfast.adversaries.gradients import Gradients
from holdfast.certified import Certified, demand_bounds
from holdfast.filters.binomial_quantile import smallest


@dataclass(frozen=True)
class Certificate:
    """Bounds on the robust regret of a run that hold for every set of at most k outliers at once.

    For each `gamma` in `sizes`: whatever 𝒮 leaves out at most k of the measured rounds and has no size above
    gamma, and whatever u in the domain, R_T(u, 𝒮) <= the entry of `bounds` beside it. Nothing is assumed
    about the learner or the filter. (`docs/math.md`, 8)
    """

    k: int
    sizes: np.ndarray
    bounds: np.ndarray
    rounds: int
    kept: int
    doubts: tuple[str, ...]

    @property
    def bound(self) -> float:
        """The bound if the k largest sizes are the outliers."""
        return float(self.bounds[-1])

    def at(self, size):
        """The bound for every 𝒮 whose largest size is at most `size`."""
        fits = self.sizes >= size
        if not fits.any() or not self.sizes[-1] <= size:
            raise ValueError(
                f"with k = {self.k} outliers the largest inlier is between {self.sizes[-1]:g} and "
                f"{self.sizes[0]:g}: got {size:g}"
            )
        return float(self.bounds[fits][-1])

    def __str__(self):
        words = [
            f"In {self.rounds:,} rounds, {self.kept:,} of them learned from, and whichever {self.k:,} rounds "
            f"or fewer were outliers: the others cost at most {self.bound:.4g} more than any fixed weights "
            f"of the domain would have ({self.bound / max(self.rounds, 1):.3g} a round), if their sizes were "
            f"at most {self.sizes[-1]:.4g}; {self.bounds[0]:.4g} if they were up to {self.sizes[0]:.4g}.",
            f"This assumes convex losses on those rounds, and no more than {self.k:,} outliers with a finite "
            "size; nothing else.",
            *(f"Doubtful: {doubt}." for doubt in self.doubts),
        ]
        return " ".join(words)


def certificate(record, k):
    """The k+1 pairs of a size and a bound that this run proves, for all sets of at most k outliers.

    Parameters
    ----------
    record : Record
        If it does not hold its products and gradients, the game is played again, with books kept.
    k : int
        The most rounds with a finite size that may have been outliers.

    Examples
    --------
    >>> import holdfast as hf
    >>> G = np.ones((1000, 1)) * np.where(np.arange(1000) % 2, 1.0, -1.0)[:, None]
    >>> G[500] = 1e9
    >>> record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(G))
    >>> proof = record.certificate(k=1)
    >>> proof.sizes.tolist(), round(proof.bound)
    ([1000000000.0, 1.0], 46)
    """
    if k < 0:
        raise ValueError(f"k counts outliers, so it cannot be negative: got {k}")
    demand_bounds(record.domain)
    if isinstance(record.player, Certified):
        return ledger_certificate(record.state[0], record.player, k, record.unmeasured_count)
    if record.again is not None and record.products is None and not isinstance(record.adversary, Gradients):
        return certificate(record.again(Certified(record.player, k), keep=()), k)
    sizes, kept, below, above, regret = _parts(record)
    rows = np.stack([sizes, kept.astype(float), above], axis=1)
    return _certificate(
        k, rows, below[kept], regret, 0.0, len(sizes), int(kept.sum()), record.unmeasured_count
    )


def ledger_certificate(ledger, rule, k, unmeasured):
    """The same from the books of a `Certified` player, for any k up to its own."""
    if not 0 <= k <= rule.k:
        raise ValueError(f"the books were kept for at most {rule.k} outliers: got k = {k}")
    support = rule.core().learner.domain.support
    regret = ledger.products + support(-ledger.gradients)
    books = ledger.rows, ledger.pulls, regret, ledger.lost, ledger.rounds, ledger.kept
    return _certificate(k, *books, unmeasured)


def _certificate(k, rows, pulls, regret, lost, rounds, kept, unmeasured):
    """Theorem B from at least the k+2 largest rounds (size, kept, push) and the k largest pulls.

    `lost` is the sum of the pushes of all other skipped rounds.
    """
    largest = np.zeros(k + 2)
    some = np.sort(rows[:, 0])[::-1][: k + 2]
    largest[: len(some)] = some
    best = np.concatenate([[0.0], np.cumsum(np.sort(pulls)[::-1][:k])])
    skipped = rows[rows[:, 1] == 0.0]
    bounds = []
    for level in largest[: k + 1]:
        small = skipped[:, 0] <= level
        left = k - int(
            (~small).sum()
        )  # the skipped rounds above must be outliers, so this many kept ones are
        bounds.append(regret + best[min(left, len(best) - 1)] + lost + skipped[small, 2].sum())
    doubts = _doubts(k, largest, rounds, kept, unmeasured)
    return Certificate(k, largest[: k + 1], np.array(bounds), rounds, kept, doubts)


def quantile_certificate(record, p, confidence=0.95):
    """A bound on the regret on the rounds with sizes up to their p-quantile, with this confidence.

    Assumes that the sizes are i.i.d.; ties are allowed. The quantile itself is nowhere needed: two order
    statistics enclose it with the stated confidence, at this number of rounds.

    Returns
    -------
    bound, quantile : floats
        The bound for every u in the domain, and a size that the p-quantile does not exceed.
    """
    if not 0.0 < p < 1.0:
        raise ValueError(f"p is the share of inliers: expected 0 < p < 1, got {p}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is a probability: expected 0 < confidence < 1, got {confidence}")
    sizes, kept, below, above, regret = _parts(record)
    order, T, level = np.sort(sizes), len(sizes), (1.0 - confidence) / 2.0
    a, b = _rank(T, p, level), T + 1 - _rank(T, 1.0 - p, level)
    lower = order[a - 1] if a > 0 else -math.inf
    upper = order[b - 1] if b <= T else math.inf
    bound = regret + below[kept & (sizes > lower)].sum() + above[~kept & (sizes <= upper)].sum()
    return float(bound), float(upper)


def _rank(n, p, level):
    """The largest r with P(Bin(n, p) < r) <= level."""
    return n - smallest(n, 1.0 - p, p, level)


def _parts(record):
    """Of measured rounds: size, kept, max_u <u - w, g>, max_u <w - u, g>; and the regret on the kept ones."""
    measured = np.isfinite(record.column("sizes"))
    products, gradients = (column[measured] for column in record.linear())
    sizes, kept = record.sizes[measured], record.column("kept")[measured]
    support = record.domain.support
    below = np.array([support(g) for g in gradients]) - products
    above = np.array([support(-g) for g in gradients]) + products
    regret = products[kept].sum() + support(-gradients[kept].sum(axis=0))
    return sizes, kept, np.maximum(below, 0.0), np.maximum(above, 0.0), float(regret)


def _doubts(k, largest, rounds, kept, unmeasured):
    """Why the assumption of at most k outliers may be wrong, as the run itself shows it."""
    doubts = []
    if unmeasured:
        doubts.append(f"{unmeasured:,} more rounds had no finite size and are left out")
    allowed, following = float(largest[k]), float(largest[k + 1])
    if following > 0 and allowed > 10.0 * following:
        doubts.append(
            f"the largest size that k allows for an inlier, {allowed:.3g}, is {allowed / following:.3g} "
            "times the next one, so there may be more outliers"
        )
    if rounds - kept > k * (2.0 + math.log2(max(rounds, 2))):
        doubts.append(f"{rounds - kept:,} rounds were skipped, many more than {k:,} outliers would explain")
    return tuple(doubts)
