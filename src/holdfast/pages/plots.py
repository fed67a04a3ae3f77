"""Plots of records and certificates with matplotlib, which only they need."""

from typing import Any

import numpy as np

from holdfast.pages.palette import BLUE, GREEN, GREY, RED

_MOST = 5_000  # points of one kind; of more, some are left out


def draw_rounds(
    sizes: np.ndarray, thresholds: np.ndarray, kept: np.ndarray, first: int = 1, ax: Any = None
) -> Any:
    """Sizes and thresholds by round; crosses for skipped rounds, triangles for those that are not finite."""
    ax = ax or _new_axes()
    rounds, finite = first + np.arange(len(sizes)), np.isfinite(sizes)
    high = float(np.max(sizes[finite], initial=0.0)) or 1.0
    for which, mark, color, label in (
        (finite & kept, ".", GREY, "kept"),
        (finite & ~kept, "x", RED, "skipped"),
    ):
        at = _some(which)
        ax.plot(rounds[at], sizes[at], mark, color=color, markersize=4, label=f"{label}: {which.sum():,}")
    if not finite.all():
        at = _some(~finite)
        label = f"not finite: {(~finite).sum():,}"
        ax.plot(rounds[at], np.full(len(at), 2.0 * high), "v", color=RED, markersize=6, label=label)
    at = _some(np.isfinite(thresholds))
    ax.plot(rounds[at], thresholds[at], color=GREEN, linewidth=1.5, label="threshold")
    ax.set(xlabel="round", ylabel="size")
    ax.set_yscale("log", nonpositive="mask")
    usual = sizes[finite & kept & (sizes > 0.0)]
    if len(usual):
        ax.set_ylim(bottom=0.5 * np.quantile(usual, 0.01))
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False)
    return ax


def draw_bounds(sizes: np.ndarray, bounds: np.ndarray, rounds: int, ax: Any = None) -> Any:
    """The bound on the regret a round, by the largest size of a good round, as `Certificate.at` has it."""
    ax = ax or _new_axes()
    fine = np.isfinite(bounds) & (sizes > 0.0)
    ax.step(sizes[fine][::-1], bounds[fine][::-1] / max(rounds, 1), where="pre", color=BLUE, marker=".")
    ax.set(xlabel="largest size of a good round", ylabel="regret a round, at most")
    ax.set_xscale("log", nonpositive="mask")
    if (bounds[fine] > 0.0).all():
        ax.set_yscale("log")
    return ax


def _some(which: np.ndarray) -> np.ndarray:
    """About _MOST of the places where `which` is true, evenly spaced."""
    found = np.flatnonzero(which)
    return found[:: -(-max(len(found), 1) // _MOST)]


def _new_axes() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("a plot needs matplotlib: pip install 'holdfast[plot]'") from None
    return plt.subplots(figsize=(8.0, 3.6), layout="constrained")[1]
