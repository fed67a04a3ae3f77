"""Theorems U and U′: learners without a domain, for every set of inliers."""

import math
from collections.abc import Sequence


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
    """(1+τ)ε + 2a‖u‖ [(ln(2a‖u‖/ε) + Q/2 - ¾)₊ + τ (ln(4a‖u‖/ε) - 1)₊]."""
    wealth, a = radius * first, math.hypot(first, math.sqrt(squares))
    safe, reach = (1.0 + kept) * wealth, 2.0 * a * far
    if not reach > 0.0:
        return safe
    most = (1.0 + (size / first) ** 2) * 2.0 * math.log(a / first)
    grown = max(math.log(reach / wealth) + 0.5 * most - 0.75, 0.0)
    return safe + reach * (grown + kept * max(math.log(2.0 * reach / wealth) - 1.0, 0.0))
