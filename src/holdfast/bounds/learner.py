"""What learners promise, the default (Theorems X, P, D), and the trackers of intervals (Theorems I, II)."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from holdfast.bounds.checks import above_one, probability
from holdfast.learners.bettors import bettors_bound
from holdfast.learners.reserved import bettor_bound
from holdfast.norms import euclidean


def ogd(D: float, G: float, T: float, scale: float = 1.0) -> float:
    """sqrt(2) D G sqrt(T): regret of `OGD` with `Adaptive` steps on T rounds of size at most G.

    Convex losses, Euclidean norm (`docs/math.md`, 3.1). With `scale` s, sqrt(2) becomes (s + 1/s) / sqrt(2).

    >>> ogd(D=1.0, G=1.0, T=200)
    20.0
    """
    return (scale + 1.0 / scale) / math.sqrt(2.0) * D * G * math.sqrt(T)


def ogd_paper(D: float, G: float, T: float) -> float:
    """2 D G sqrt(T), the constant that the paper takes from the literature.

    >>> ogd_paper(D=1.0, G=1.0, T=100)
    20.0
    """
    return 2.0 * D * G * math.sqrt(T)


def ogd_hindsight(D: float, sizes: ArrayLike, scale: float = 1.0) -> float:
    """sqrt(2) D sqrt(Σ ‖g‖²), over the `sizes` of the rounds learned from.

    >>> ogd_hindsight(D=1.0, sizes=[10.0, 10.0])
    20.0
    """
    return ogd(D, euclidean(np.asarray(sizes, dtype=np.float64)), 1.0, scale)


def ogd_strongly_convex(G: float, sigma: float, T: float) -> float:
    """G² (1 + ln T) / (2 sigma): `OGD` with `StronglyConvex` steps on sigma-strongly convex losses.

    `docs/math.md`, 3.2; T counts the rounds learned from.

    >>> ogd_strongly_convex(G=2.0, sigma=1.0, T=1)
    2.0
    """
    return G * G * (1.0 + math.log(T)) / (2.0 * sigma)


def ogd_strongly_convex_hindsight(sigma: float, sizes: ArrayLike) -> float:
    """Σ ‖g_n‖² / (2 sigma n), over the `sizes` of the rounds learned from, in the order of time.

    >>> ogd_strongly_convex_hindsight(sigma=1.0, sizes=[2.0, 2.0])
    3.0
    """
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return float(np.sum(squares / (2.0 * sigma * np.arange(1, len(squares) + 1))))


def theorem_u(
    far: float, k: int, size: float, squares: float, radius: float = 1.0, tax: float = 1.0
) -> float:
    """(1+τ)ε + k h ‖u‖ + 2a‖u‖ [(ln(2a‖u‖/ε) + Q/2 - ¾)₊ + τ (ln(4a‖u‖/ε) - 1)₊]: the regret of `Reserved`.

    h is `size`, no smaller than the gradients of inliers, τ the `tax` (0 if k is 0), H = max(h, kh/τ), ε =
    `radius` H, a² = H² + `squares`, the sum of the squared gradients learned from, and Q = (1 + h²/H²)
    ln(a²/H²). `far` is ‖u‖. It holds for every set of inliers that leaves out at most k of the rounds learned
    from.

    10 outliers in 10,000 rounds, against nothing and against a u ten times as long as was guessed:

    >>> theorem_u(far=0.0, k=10, size=1.0, squares=1e4), round(theorem_u(10.0, 10, 1.0, 1e4))
    (20.0, 23999)
    """
    first = max(size, k * size / tax)
    return _bettor(far, first, squares, size, radius, tax if k > 0 else 0.0) + k * size * far


def theorem_u_epochs(
    far: float,
    k: int,
    largest: float,
    epochs: Sequence[tuple[float, float]],
    jumps: float = 0.0,
    radius: float = 1.0,
    tax: float = 1.0,
    slack: float = 2.0,
) -> float:
    """Theorem U′: the regret of `ReservedEpochs` against u with ‖u‖ = `far`, if no inlier exceeds `largest`.

    `epochs` are the sizes h of the epochs, each with the sum of the squared gradients learned from in it.
    `jumps` is the sum of ‖g‖‖w‖ over inliers that were too large for their epoch. It holds for every set of
    inliers that leaves out at most k rounds.

    >>> theorem_u_epochs(far=0.0, k=10, largest=1.0, epochs=[(4.0, 1e4)])
    240.0
    """
    total, c = jumps, slack / (slack - 1.0)
    for size, squares in epochs:
        first = max(size, (1.0 + c) * k * size / tax)
        total += _bettor(far, first, squares, size, radius, tax if k > 0 else 0.0)
    return total + far * largest * ((slack + c) * k + 2.0 * slack)


def _bettor(far: float, first: float, squares: float, size: float, radius: float, kept: float) -> float:
    """`bettor_bound` with the most that Q can be."""
    a = math.hypot(first, math.sqrt(squares))
    most = (1.0 + (size / first) ** 2) * 2.0 * math.log(a / first)
    return bettor_bound(far, a, most, radius * first, kept)


def mixability_gap(rate: float, width: float) -> float:
    """min(rate s² / 8, s): the mixability gap of a batch is at most this.

    s (`width`) is the range of the sums of the losses in the batch.

    >>> mixability_gap(rate=0.1, width=4.0), mixability_gap(rate=10.0, width=4.0)
    (0.2, 4.0)
    """
    return min(rate * width * width / 8.0, width)


def theorem_x(
    gaps: Iterable[float],
    batches: ArrayLike,
    rates: Sequence[float],
    forecasters: int,
    share: float,
    ranges: Iterable[float] = (),
    k: int = 0,
    changes: int = 0,
    first: float | None = None,
) -> float:
    """Σ gaps + Σ n ln(1/(1-α)) / η + ln(1/p) / η₁ + Σ_{j>1} ln(N/α) / η_j + the k largest `ranges`.

    What the mean of N forecasters by `Hedge` loses beyond each of them, for every set of inliers that leaves
    out at most k rounds. `rates` has η of each stretch, `batches` the number n of its batches, and `gaps` the
    gaps of all batches, measured or as in `mixability_gap`. `ranges` has that of the losses of each round.
    For sequences of forecasters, each of the `changes` adds ln(N/α) / (the smallest η). `first` is p, the
    smallest part at the start, 1 / N unless said.

    >>> round(theorem_x([0.2] * 10, [10], [0.1], forecasters=6, share=1e-4, ranges=[1.0, 3.0], k=1), 2)
    22.93
    """
    again, found = math.log(forecasters / share), -math.log(1.0 / forecasters if first is None else first)
    mixed = math.fsum(gaps) - math.log1p(-share) * math.fsum(np.divide(batches, rates))
    entries = found / rates[0] + again * math.fsum(1.0 / rate for rate in rates[1:])
    left_out = math.fsum(sorted(ranges, reverse=True)[:k])
    return mixed + entries + changes * again / min(rates) + left_out


def theorem_p(
    u: ArrayLike,
    around: ArrayLike,
    roots: ArrayLike,
    limits: ArrayLike,
    wealth: float = 0.5,
    left_out: float = 0.0,
) -> float:
    """Σ [wealth + 2 |u - around| a (ln(2 |u - around| a / wealth) + log₂(a / h) - 3/4)₊] + `left_out`.

    The sum over the weights of `Bettors` is its bound on all rounds of an epoch: `roots` has a, the root of
    the squared limit and the squared gradients, and `limits` has h, which is a without any gradient.
    `left_out` is L Σ |z - <u, x>| over the outliers that were learned from and the inliers that were not.

    >>> round(theorem_p(u=[1.0], around=[0.0], roots=[31**0.5], limits=[1.0]), 1)
    54.3
    """
    u, around, roots, limits = (np.asarray(each) for each in (u, around, roots, limits))
    return bettors_bound(u, around, roots, limits, wealth) + left_out


def default_bound(mixed: float, epochs: ArrayLike, units: ArrayLike = 1.0, clipped: float = 0.0) -> float:
    """Theorem D: `mixed` + Σ `units` times `epochs` + `clipped`, the default against a u for each epoch.

    `mixed` is a `theorem_x`, in the units of the losses. `epochs` has a `theorem_p` for each epoch, and
    `units` the unit of the target in each. `clipped` is what it has cost to bring forecasts into a range, and
    to give them a batch ahead, as measured: Σ κ + Σ λ (`docs/math.md`, 11).

    >>> default_bound(mixed=8.0, epochs=[20.0, 10.0], units=[0.5, 1.0], clipped=1.0)
    29.0
    """
    return mixed + float(np.sum(np.asarray(units) * np.asarray(epochs, np.float64))) + clipped


def theorem_i(
    coverage: float,
    step: float,
    rise: float,
    fall: float = 0.0,
    covered: int = 0,
    missed: int = 0,
    ignored: int = 0,
    held: float = 0.0,
) -> tuple[float, float]:
    """Between which numbers Σ (m - α) lies, over the inliers of a stretch of rounds, for `Tracker`.

    m is 1 if an inlier was missed, else 0, and α = 1 - coverage. `rise` is ln(V/q), at least 0: q is the
    width before the stretch, V the largest score of an inlier whose miss counted. `fall` is ln(q/v), v the
    smallest score of an inlier that was covered. `covered` and `missed` are the numbers of outliers that
    were covered, and whose miss counted; `ignored` is that of inliers whose miss did not count. `held` is
    how far the width was held up, in steps, as the tracker counts it.

    With k outliers in 1,000 rounds of about the same scores, the misses of the good ones are 100 up to:

    >>> [round(end, 1) for end in theorem_i(0.9, 0.05, rise=1.0, fall=1.0, covered=10, missed=10)]
    [-29.1, 21.9]
    """
    alpha = 1.0 - probability("coverage", coverage)
    most = max(rise, 0.0) / step + coverage + alpha * covered + coverage * ignored
    least = max(fall, 0.0) / step + alpha + coverage * missed + held
    return -least, most


def theorem_ii(coverage: float, step: float, largest: float, slack: float, first: float = 0.0) -> float:
    """max(first, slack · largest · exp(step · coverage)): no width of `Tracker` exceeds this.

    `largest` is the largest score of an inlier, `slack` that of the filter, and `first` the first width if it
    was not found from scores that the filter has kept. It holds for every set of inliers for which Lemma A1
    holds: with `TopK`, for all that leave out at most k rounds.

    >>> round(theorem_ii(coverage=0.9, step=0.05, largest=1.0, slack=8.0), 2)
    8.37
    """
    return max(first, above_one(slack) * largest * math.exp(step * probability("coverage", coverage)))
