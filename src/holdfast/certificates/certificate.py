"""Bounds on the regret of a run, for any learner, without knowing which rounds were outliers."""

__all__ = ["Certificate"]

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.adversaries.gradients import Gradients
from holdfast.certificates.certified import Certified, CertifiedState, allowance, require_bounded
from holdfast.filters.binomial import smallest
from holdfast.vectors import sum_abs

_EPS, _LEAST = 2.0**-53, 2.0**-1074  # the largest relative rounding error, and the smallest float above 0


@dataclass(frozen=True)
class Certificate:
    """Bounds on the robust regret of a run that hold for every set of at most k outliers at once.

    For each gamma in `sizes` and its entry in `bounds`: R_T(u, 𝒮) <= bound for every u in the domain and
    every set 𝒮 without sizes above gamma that leaves out at most k of the measured rounds. Nothing is assumed
    about the learner or the filter. (`docs/math.md`, 8)

    The bounds hold for the exact regret Σ <w - u, g> of the weights and gradients of the run, because they
    include an allowance for all rounding (`docs/math.md`, 8.1). A bound that overflows is inf.
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

    def at(self, size: float) -> float:
        """The bound for every 𝒮 whose largest size is at most `size`."""
        is_enough = self.sizes >= size
        if not is_enough.any() or not self.sizes[-1] <= size:
            raise ValueError(
                f"with k = {self.k} outliers the largest inlier is between {self.sizes[-1]:g} and "
                f"{self.sizes[0]:g}: got {size:g}"
            )
        return float(self.bounds[is_enough][-1])

    def plot(self, ax: Any = None) -> Any:
        """Draw the bounds over the largest size of a good round with matplotlib; returns the axes."""
        from holdfast.pages.plots import draw_bounds

        return draw_bounds(self.sizes, self.bounds, self.rounds, ax)

    def _repr_html_(self) -> str:
        rows: dict[str, float] = {"rounds": self.rounds, "kept": self.kept, "outliers, at most": self.k}
        rows |= {"regret, at most": self.bound, "the same, a round": self.bound / max(self.rounds, 1)}
        from holdfast.pages.notebook import facts

        return facts("Certificate", rows, str(self))

    def __str__(self) -> str:
        sentences = [
            f"In {self.rounds:,} rounds ({self.kept:,} kept), for every set of at most {self.k:,} outliers: "
            f"the other rounds cost at most {self.bound:.4g} more than any fixed weights of the domain "
            f"({self.bound / max(self.rounds, 1):.3g} a round), if their sizes are at most "
            f"{self.sizes[-1]:.4g}; at most {self.bounds[0]:.4g}, if they are at most {self.sizes[0]:.4g}.",
            f"This assumes convex losses on those rounds and at most {self.k:,} outliers with a finite size; "
            "nothing else.",
            *(f"Doubtful: {doubt}." for doubt in self.doubts),
        ]
        return " ".join(sentences)


def certificate(record: Any, k: int, comparators: Any = None) -> Certificate:
    """The certificate of a run, for all sets of at most k outliers.

    Parameters:
        record: If it has no products and gradients, the game is played again with a `Certified` player.
        k: The largest number of outliers, not counting rounds without a finite size.
        comparators: A bounded domain: the bound is for every u in it, instead of the domain of the learner,
            which may then have none.

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
    if comparators is not None:
        require_bounded(comparators)
        return _of_rounds(record, k, comparators)
    require_bounded(record.domain)
    if isinstance(record.player, Certified):
        return certificate_of_state(record.state[0], record.player, k, record.unmeasured_count)
    if record.again is not None and record.products is None and not isinstance(record.adversary, Gradients):
        return certificate(record.again(Certified(record.player, k), keep=()), k)
    return _of_rounds(record, k)


def _of_rounds(record: Any, k: int, comparators: Any = None) -> Certificate:
    """The certificate from the gradients of all rounds."""
    sizes, kept, below, above, regret = _parts(record, comparators)
    rows = np.stack([sizes, kept.astype(float), above], axis=1)
    return _certificate(k, rows, below[kept], regret, len(sizes), int(kept.sum()), record.unmeasured_count)


def certificate_of_state(state: CertifiedState, rule: Certified, k: int, unmeasured: int) -> Certificate:
    """The certificate from the state of a `Certified` player, for any k up to its own."""
    if not 0 <= k <= rule.k:
        raise ValueError(f"the player tracks certificates for at most {rule.k} outliers: got k = {k}")
    domain, products, lost = rule.core().learner.domain, state.products, state.lost
    regret = _regret(domain, [*products], state.gradients + state.rest, state.magnitudes, state.rounds)
    others = [*lost, lost.value * _sums(state.rounds)]
    return _certificate(k, state.rows, state.pulls, regret + others, state.rounds, state.kept, unmeasured)


def _regret(
    domain: Any, products: list[float], gradients: np.ndarray, magnitudes: float, rounds: int
) -> list[float]:
    """Terms whose exact sum is at least the regret on the kept rounds. (`docs/math.md`, 8.1)

    They include an allowance for all rounding so far, and for products that underflow.
    """
    dim = len(gradients)
    with np.errstate(all="ignore"):
        most = domain.reaches(-gradients)[0]
        widest = domain.reaches(np.ones(dim))[2]
    relative = (allowance(dim) + _sums(rounds)) * (1.0 + 4.0 * rounds * _EPS)
    underflow = (rounds + 1.0) * (8.0 * dim + 40.0) * _LEAST
    return [*products, most, relative * magnitudes, underflow, underflow * widest]


def _sums(rounds: int) -> float:
    """The largest error of a compensated sum of this many terms, relative to the sum of their magnitudes."""
    return 4.0 * (rounds * _EPS) * (rounds * _EPS)


def _certificate(
    k: int, rows: np.ndarray, pulls: np.ndarray, regret: list[float], rounds: int, kept: int, unmeasured: int
) -> Certificate:
    """Theorem B from rows (size, kept, push) of at least the k+2 largest rounds, and the k largest pulls.

    The terms in `regret` sum to the regret on the kept rounds plus the pushes of all skipped rounds that are
    not in `rows`.
    """
    largest = np.zeros(k + 2)
    some = np.sort(rows[:, 0])[::-1][: k + 2]
    largest[: len(some)] = some
    best = np.concatenate([[0.0], np.cumsum(np.sort(pulls)[::-1][:k])]) * (1.0 + 2.0 * (k + 2) * _EPS)
    skipped = rows[rows[:, 1] == 0.0]
    bounds = []
    for level in largest[: k + 1]:
        small = skipped[:, 0] <= level
        left = k - int((~small).sum())  # larger skipped rounds are outliers; this many kept rounds can be too
        bounds.append(_above([*regret, best[min(left, len(best) - 1)], _total(skipped[small, 2])]))
    doubts = _doubts(k, largest, rounds, kept, unmeasured)
    return Certificate(k, largest[: k + 1], np.array(bounds), rounds, kept, doubts)


def _total(terms: np.ndarray) -> float:
    """At least the sum of these numbers, which are not negative; each is in at most 85 additions."""
    return sum_abs(terms) * (1.0 + 128.0 * _EPS)


def _above(terms: list[float]) -> float:
    """A float above the exact sum of the terms; inf if the sum overflows or a term is not finite."""
    try:
        return math.nextafter(math.fsum(terms), math.inf) if np.isfinite(terms).all() else math.inf
    except OverflowError:
        return math.inf


def quantile_certificate(record: Any, p: float, confidence: float = 0.95) -> tuple[float, float]:
    """A bound on the regret on the rounds with sizes up to their p-quantile, with this confidence.

    Assumes that the sizes are i.i.d.; ties are allowed. The quantile need not be known: two order statistics
    enclose it with the stated confidence.

    Returns:
        bound, quantile (floats): The bound for every u in the domain, and a size that the p-quantile does not
            exceed.
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
    outliers, inliers = below[kept & (sizes > lower)], above[~kept & (sizes <= upper)]
    return _above([*regret, _total(outliers), _total(inliers)]), float(upper)


def _rank(n: int, p: float, level: float) -> int:
    """The largest r with P(Bin(n, p) < r) <= level."""
    return n - smallest(n, 1.0 - p, p, level)


def _parts(
    record: Any, comparators: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[float]]:
    """Size, kept, max_u <u - w, g> and max_u <w - u, g> of measured rounds; the regret on the kept rounds.

    u is in the domain, or among the comparators; then w may be anywhere.
    """
    domain = record.domain if comparators is None else comparators
    measured = np.isfinite(record.size)
    products, gradients = (column[measured] for column in record.linear())
    sizes, kept = record.size[measured], record.column("kept")[measured]
    with np.errstate(all="ignore"):
        reached = np.array([domain.reaches(g) for g in gradients]).reshape(-1, 3)
        if comparators is not None:
            reached[:, 2] = np.maximum(reached[:, 2], _magnitudes(record, gradients, measured))
        error = allowance(gradients.shape[1]) * reached[:, 2]
        below, above = reached[:, 0] - products + error, reached[:, 1] + products + error
    summed = np.array([_nearest(column) for column in gradients[kept].T])
    magnitudes = sum_abs(reached[kept, 2])
    regret = _regret(domain, [_nearest(products[kept])], summed, magnitudes, len(sizes))
    return sizes, kept, np.maximum(below, 0.0), np.maximum(above, 0.0), regret


def _magnitudes(record: Any, gradients: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """At least Σ |w_i g_i| of each round: the errors of <w, g> are relative to it."""
    iterates = record.iterates
    if iterates is None:
        if record.again is None:
            raise ValueError("the record has no iterates: play(..., keep=['iterates', ...])")
        iterates = record.again(record.player, keep=("iterates",)).iterates
    return np.abs(iterates[measured] * gradients).sum(axis=1) * (1.0 + 2.0 * gradients.shape[1] * _EPS)


def _nearest(terms: np.ndarray) -> float:
    """The float nearest to the exact sum of the terms; NaN if the sum overflows or is not defined."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def _doubts(k: int, largest: np.ndarray, rounds: int, kept: int, unmeasured: int) -> tuple[str, ...]:
    """Signs in the run that the assumption of at most k outliers is wrong."""
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
