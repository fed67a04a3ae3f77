"""What the page for people shows: skipped rows, the ledger, errors over time, figures and events."""

import datetime
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from holdfast.audit import WARM_UP
from holdfast.pages.render import figure
from holdfast.pages.svg import Plot
from holdfast.runs import plots
from holdfast.runs.ledger import read_ledger
from holdfast.runs.run import Run
from holdfast.terminal import shown

ROWS = 20  # of a table
_STEP = 1_000  # entries of the audit
_REFUSED = ("features", "target", "gradient")  # by a filter, so the row can be read
LABELS = {
    "accepted": "learned from, or in the queue",
    "repeated": "sent again with the same target, and counted once",
    "contradicting": "sent again with another target: the first one counts",
    "unknown": "for an id that was never given, or forgotten",
    "late": "came after the row had waited too long",
}


class SkippedRow(NamedTuple):
    """A row of the table of skipped rows."""

    row: int
    reason: str
    cell: str
    size: float
    threshold: float
    released: bool
    can_be_released: bool


class RunPart(NamedTuple):
    """What the page shows of the run, as of a checkpoint."""

    skipped: list[SkippedRow]
    ledger: list[tuple[int, str, str, str]]
    sizes: list[tuple[str, str, str]]


def run_part(run: Run) -> RunPart:
    """What the page shows of a run."""
    entries = read_ledger(run)
    undone = entries.undone()
    ledger = [
        (one.number, one.when, one.words() + ("; undone" if one.number in undone else ""), one.why)
        for one in entries.entries[: -ROWS - 1 : -1]
    ]
    return RunPart(newest_skipped(run, ROWS), ledger, list(plots.sizes(run)))


def last_entries(run: Run) -> Iterator[dict[str, Any]]:
    """The entries of the audit, the newest first; what is not asked for is not read."""
    for number in reversed(range(run.parts)):
        for part in run.folder.read_parts("audit", number + 1, run.log.schema("audit"), since=number):
            for stop in range(part.num_rows, 0, -_STEP):
                start = max(stop - _STEP, 0)
                yield from reversed(part.slice(start, stop - start).to_pylist())


def newest_skipped(run: Run, most: int) -> list[SkippedRow]:
    """The rows that were skipped last, the newest first, each once."""
    released = {row for part in run.read("released", ["row"]) for row in part.column("row").to_pylist()}
    found: dict[int, SkippedRow] = {}
    for entry in last_entries(run):
        if len(found) == most:
            break
        if entry["reason"] != WARM_UP and entry["row"] not in found:
            found[entry["row"]] = _skipped(entry, entry["row"] in released)
    return list(found.values())


def _skipped(entry: dict[str, Any], released: bool) -> SkippedRow:
    """A row of the table, from an entry of the audit."""
    value = entry["value"]
    known = value is not None and not math.isnan(value)
    cell = f"{entry['column']} = {shown(value)}" if entry["column"] and known else entry["column"]
    can_be_released = not released and entry["reason"] in _REFUSED
    figures = entry["size"], entry["threshold"]
    return SkippedRow(
        entry["row"], entry["reason"], cell or entry["detail"], *figures, released, can_be_released
    )


def error_plot(errors: list[dict[str, Any]], model: dict[str, Any]) -> str | None:
    """The error of judged forecasts over time; None if there is nothing to plot."""
    if len(errors) < 2:
        return None
    numbers = model["task"] == "regression"
    at, error = (
        np.array([part[name] for part in errors], float) for name in ("at", "median" if numbers else "error")
    )
    usual = 4.0 * float(np.quantile(error, 0.9, method="higher"))  # a peak is cut
    top = float(error.max()) if error.max() <= usual or not usual > 0.0 else usual
    top = top if numbers else max(top, model["baseline"] or 0.0)
    if not 0.0 < top < math.inf:
        return None
    plot = Plot("Error over time", 0, 0.0, top, times=(float(at[0]), float(at[-1])))
    if not numbers and model["baseline"] is not None:
        plot.line(at[[0, -1]], np.full(2, model["baseline"]), "pink", 1.6, "baseline", dashed=True)
    plot.line(at, error, "blue", 2.0, "error")
    return plot.svg()


def cards(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The main figures, each with its meaning."""
    yield figure(found["rounds"]), "rounds"
    yield f"{100 * found['skipped'] / max(found['rounds'], 1):.2g} %", f"skipped: {found['skipped']:,}"
    if found["error"] is not None:
        yield figure(found["error"]), f"{found['error_is']} on the rounds learned from"
    if found["baseline"] is not None:
        yield figure(found["baseline"]), f"{found['error_is']} of the baseline"
    yield figure(found["waiting"]), "predictions wait for a label"
    yield figure(found["queued"]), "rows wait to be learned from"


def waiting(found: dict[str, Any]) -> str:
    """What waits, and for how long."""
    limits = found["limits"]
    return (
        f"{found['waiting']:,} predictions wait for a label. A prediction waits for {limits['hours']:g} "
        f"hours, and at most {limits['waiting']:,} wait; then the oldest are dropped."
    )


def event_line(event: dict[str, Any]) -> tuple[str, str, str]:
    """When, what, and about which rows."""
    match event["event"]:
        case "skips":
            what = (
                "skipped",
                f"{event['count']:,} rows" + (f" since {event['since']}" if "since" in event else ""),
            )
        case "release":
            what = "released", f"{event['released']:,} rows{_why(event)}"
        case "retraction":
            what = "taken back", f"{event['rows']:,} rows{_why(event)}"
        case other:
            what = other, event.get("text", "")
    return event["at"], *what


def _why(event: dict[str, Any]) -> str:
    return f": {event['why']}" if event["why"] else ""


def time_words(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
