"""The plots of a run, for its report and for the page of a server."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from holdfast.pages.palette import NAMES
from holdfast.pages.render import figure
from holdfast.pages.svg import Plot
from holdfast.runs.predicting import feature_names
from holdfast.runs.run import Run
from holdfast.runs.trace import SAMPLES

_SERIES = NAMES[:8]  # colours of lines


def errors(found: Run, metrics: dict[str, Any]) -> str | None:
    """The error so far, the recent error and the error of the baseline; None if there is nothing to plot."""
    table = found.trace.points.table
    if len(table) < 2:
        return None
    rounds = table[:, 0]
    with np.errstate(all="ignore"):
        so_far = table[:, 3] / table[:, 4]
        recent = _recent(table, 3, 4)
    shown = rounds > 0.01 * rounds[-1]
    baseline = metrics["baseline"] or 0.0
    top = np.nanmax(np.concatenate([so_far[shown], recent[shown], [baseline]]), initial=0.0)
    if not 0.0 < top < np.inf:
        return None
    plot = Plot("Error over the rounds", metrics["rounds"], 0.0, float(top))
    if metrics["baseline"] is not None:
        ends = np.array([rounds[0], rounds[-1]])
        plot.line(ends, np.full(2, baseline), "pink", 1.6, "baseline", dashed=True)
    plot.line(rounds[shown], recent[shown], "grey", 1.2, "recent")
    plot.line(rounds[shown], so_far[shown], "blue", 2.5, "so far")
    return plot.svg()


def _recent(table: np.ndarray, total: int, count: int) -> np.ndarray:
    window = max(len(table) // 20, 1)
    before = np.concatenate([np.zeros((window, table.shape[1])), table])[: len(table)]
    return (table[:, total] - before[:, total]) / (table[:, count] - before[:, count])


def answers(found: Run) -> dict[str, Any] | None:
    """Predicted against actual numbers of a sample of the kept rounds; None if there is nothing to plot."""
    samples = found.trace.samples.table
    predicted, actual, kept = (samples[:, SAMPLES.index(name)] for name in ("predicted", "actual", "kept"))
    shown = (kept > 0.0) & np.isfinite(predicted) & np.isfinite(actual)
    shown &= samples[:, 0] > 0.01 * found.trace.rounds
    if not found.regression or shown.sum() < 2:
        return None
    values = np.concatenate([predicted[shown], actual[shown]])
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low) or low == high:
        return None
    plot = Plot("Predicted against actual", 0, low, high, across="predicted")
    plot.line(np.array([low, high]), np.array([low, high]), "quiet", 1.2, "predicted exactly", dashed=True)
    plot.dots(predicted[shown], actual[shown], "blue", radius=1.8, opacity=0.55)
    return {"plot": plot.svg(), "count": int(shown.sum())}


def sizes(found: Run, samples_of_skipped: dict[str, Any] | None = None) -> Iterator[tuple[str, str, str]]:
    """A plot for each filter that has seen sizes above 0: what it measures, the plot, and its thresholds.

    `samples_of_skipped` has rounds that it has skipped, by measure; without, they are those of the sample of
    all rounds.
    """
    samples = found.trace.samples.table
    second = "target" if found.regression and found.settings.scale else "gradient"
    for measure in ("features", second):
        place = SAMPLES.index(f"{measure}_size")
        rounds, found_sizes, thresholds = samples[:, 0], samples[:, place], samples[:, place + 1]
        fine = np.isfinite(found_sizes) & (found_sizes > 0)
        if not fine.any():
            continue
        if samples_of_skipped is None:
            over = (samples[:, SAMPLES.index("kept")] == 0.0) & ~(found_sizes <= thresholds)
            marked = rounds[over], found_sizes[over]
        else:
            marked = samples_of_skipped[measure].table[:, 1:].T
        low = max(float(np.quantile(found_sizes[fine], 0.01)) / 2.0, 1e-300)
        high = max(2 * low, *(_largest(values) for values in (found_sizes, marked[1], thresholds)))
        plot = Plot(f"Sizes of the {measure}", found.trace.rounds, low, high, log=True)
        plot.dots(rounds, found_sizes, "grey")
        plot.line(rounds, np.where(thresholds > 0, thresholds, np.nan), "green", 2.5, "threshold")
        plot.crosses(marked[0], marked[1], "red")
        yield measure, plot.svg(), _drift(rounds, thresholds)


def _drift(rounds: np.ndarray, thresholds: np.ndarray) -> str:
    """The threshold after a tenth and half of the rounds, and at the end; empty if there is none."""
    known = np.flatnonzero(np.isfinite(thresholds) & (thresholds > 0.0))
    if not len(known):
        return ""
    places = np.searchsorted(rounds[known], [0.1 * rounds[-1], 0.5 * rounds[-1], rounds[-1]])
    at = known[np.minimum(places, len(known) - 1)]
    early, half, last = (figure(float(threshold)) for threshold in thresholds[at])
    return f"The threshold was {early} after a tenth of the rounds, {half} after half, and is {last} now."


def _largest(values: np.ndarray) -> float:
    return float(values[np.isfinite(values)].max(initial=0.0))


def weights(found: Run) -> dict[str, Any] | None:
    """A plot of the largest weights; None if there is nothing to plot."""
    table = found.trace.weights
    if len(table) < 2 or not found.trace.wide:
        return None
    factors = found.games.parameters().factors[0]
    with np.errstate(all="ignore"):
        units = np.where(factors > 0, 1.0 / factors, 0.0)  # a unit of the scale of each feature
    values = table[:, 1:] * units
    largest = np.argsort(-np.abs(values[-1]), kind="stable")[: len(_SERIES)]
    shown = values[:, largest]
    if not np.isfinite(shown).all() or not np.abs(shown).max() > 0:
        return None
    plot = Plot("Weights over the rounds", found.trace.rounds, float(shown.min()), float(shown.max()))
    lines = list(zip(_SERIES, feature_names(found.layout, largest), strict=False))
    for (color, name), column in zip(lines, largest, strict=True):
        plot.line(table[:, 0], values[:, column], color, 2.0, name)
    return {"label": found.games.labels[0], "lines": lines, "plot": plot.svg()}
