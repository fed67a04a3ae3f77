"""The report of a run: one HTML page without network access or scripts, readable on a phone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast import __version__
from holdfast.cli.audit import REASONS, worst_rows
from holdfast.cli.inspect import certificate
from holdfast.pages.palette import BLUE, GREEN, GREY, RED, SERIES
from holdfast.pages.render import figure, render
from holdfast.pages.svg import Plot
from holdfast.runs.files import atomic_file

_MARKED = 2_000  # skipped rounds in a plot, at most
_ROWS = 100  # rows of a table


def write(found, to=None):
    """Write the page of a run; return its path."""
    if to is None:
        found.folder.write_alone("report.html", page(found))
        return found.folder.path / "report.html"
    with atomic_file(to) as file:
        file.write(page(found).encode())
    return to


def page(found):
    metrics = found.metrics()
    return render(
        "run.html",
        source=Path(found.source_name).name,
        target=found.target.name,
        version=__version__,
        metrics=metrics,
        cards=_cards(metrics),
        errors=_errors(found, metrics),
        sizes=list(_sizes(found)),
        weights=_weights(found),
        keys=_keys(found),
        proof=certificate(found)["words"],
        reasons=[
            (reason, count, REASONS[reason])
            for reason, count in sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1])
        ],
        worst=_worst(found),
        settings=[(name, str(value)) for name, value in found.settings.to_json().items()],
    )


def _cards(metrics):
    """The main figures, each with its meaning."""
    rounds, skipped = metrics["rounds"], metrics["skipped"]
    yield figure(rounds), "rounds"
    yield f"{100 * skipped / max(rounds, 1):.2g} %", f"skipped: {skipped:,}"
    if metrics["error"] is not None:
        yield figure(metrics["error"]), f"{metrics['error_is']} on the rounds learned from"
        yield figure(metrics["error_of_all_rounds"]), "on all rounds"


def _errors(found, metrics):
    """A plot of the error so far and of the recent error; None if there is nothing to plot."""
    table = found.trace.points.table
    if len(table) < 2:
        return None
    rounds = table[:, 0]
    with np.errstate(all="ignore"):
        so_far = table[:, 3] / table[:, 4]
        recent = _recent(table, 3, 4)
    shown = rounds > 0.01 * rounds[-1]
    top = np.nanmax(np.concatenate([so_far[shown], recent[shown]]), initial=0.0)
    if not top > 0.0:
        return None
    plot = Plot("Error over the rounds", metrics["rounds"], 0.0, float(top))
    plot.line(rounds[shown], recent[shown], GREY, 1.2, "recent")
    plot.line(rounds[shown], so_far[shown], BLUE, 2.5, "so far")
    return plot.svg()


def _recent(table, total, count):
    window = max(len(table) // 20, 1)
    before = np.concatenate([np.zeros((window, table.shape[1])), table])[: len(table)]
    return (table[:, total] - before[:, total]) / (table[:, count] - before[:, count])


def _sizes(found):
    """A plot for each filter that has seen sizes above 0, with the name of what it measures."""
    samples = found.trace.samples.table
    second = "target" if found.regression and found.settings.scale else "gradient"
    for place, measure in ((1, "features"), (3 if second == "target" else 5, second)):
        rounds, sizes, thresholds = samples[:, 0], samples[:, place], samples[:, place + 1]
        fine = np.isfinite(sizes) & (sizes > 0)
        if not fine.any():
            continue
        marked = _marked(found, measure)
        low = max(float(np.quantile(sizes[fine], 0.01)) / 2.0, 1e-300)
        high = max(2 * low, *(_largest(values) for values in (sizes, marked[1], thresholds)))
        plot = Plot(f"Sizes of the {measure}", found.trace.rounds, low, high, log=True)
        plot.dots(rounds, sizes, GREY)
        plot.line(rounds, np.where(thresholds > 0, thresholds, np.nan), GREEN, 2.5, "threshold")
        plot.crosses(*marked, RED)
        yield measure, plot.svg()


def _largest(values):
    return float(values[np.isfinite(values)].max(initial=0.0))


def _marked(found, measure):
    """Rounds that this filter skipped, and their sizes; an even sample if there are many."""
    columns, marked, stride, seen = ["round", "reason", f"{measure}_size"], np.zeros((0, 3)), 1, 0
    for table in found.read("audit", columns):
        mine = table.filter(pc.is_in(table.column("reason"), pa.array([measure, "not finite"])))
        places = seen + np.arange(mine.num_rows)
        seen += mine.num_rows
        new = np.column_stack([places, mine.column("round"), mine.column(f"{measure}_size")])
        marked = np.concatenate([marked, new[places % stride == 0]])
        while len(marked) > _MARKED:
            stride *= 2
            marked = marked[marked[:, 0] % stride == 0]
    return marked[:, 1], marked[:, 2]


def _weights(found):
    """A plot of the largest weights; None if there is nothing to plot."""
    table, names = found.trace.weights, found.layout.features()
    if len(table) < 2 or not found.trace.wide:
        return None
    factors = found.games.parameters()["factors"][0]
    with np.errstate(all="ignore"):
        units = np.where(factors > 0, 1.0 / factors, 0.0)  # a standard deviation of each feature
    values = table[:, 1:] * units
    largest = np.argsort(-np.abs(values[-1]), kind="stable")[: len(SERIES)]
    shown = values[:, largest]
    if not np.isfinite(shown).all() or not np.abs(shown).max() > 0:
        return None
    plot = Plot("Weights over the rounds", found.trace.rounds, float(shown.min()), float(shown.max()))
    lines = [(color, names[column]) for color, column in zip(SERIES, largest, strict=False)]
    for (color, name), column in zip(lines, largest, strict=True):
        plot.line(table[:, 0], values[:, column], color, 2.0, name)
    return {"label": found.games.labels[0], "lines": lines, "plot": plot.svg()}


def _keys(found):
    """The keys with the largest share of skipped rounds; None in a run without keys."""
    if found.settings.key is None:
        return None
    table = found.keys.table(list(found.games.keys))
    rounds, kept = (table.column(name).to_numpy() for name in ("rounds", "kept"))
    order = np.argsort(kept / np.maximum(rounds, 1), kind="stable")[:_ROWS]
    rows = [
        (row["key"] or "(none)", row["rounds"], row["rounds"] - row["kept"], row["error"])
        for row in table.take(order).to_pylist()
    ]
    return {"count": table.num_rows, "rows": rows}


def _worst(found):
    """The skipped rows that exceed their threshold by the largest factor."""
    return [
        (
            row["row"],
            " ".join(filter(None, (row["reason"], row.get("key"), row.get("label")))),
            row["measure"],
            row["size"],
            row["threshold"],
            row["times"] or None,
            row["detail"],
        )
        for row in worst_rows(found, _ROWS)
    ]
