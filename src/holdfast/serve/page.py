"""The page for people: how the model does, what it skipped, what waits, and buttons to change that.

It is one HTML page, made here; a short script fetches it again when something happens. It is made at most
once a second, and what it shows of the run once for each checkpoint, however many look at it.
"""

import base64
import contextlib
import datetime
import hashlib
import math
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from holdfast import __version__
from holdfast.audit import WARM_UP
from holdfast.pages.render import environment, figure, render
from holdfast.pages.svg import Plot
from holdfast.runs import plots
from holdfast.runs.checkpoint import CHECKPOINT
from holdfast.runs.ledger import read_ledger
from holdfast.runs.run import Run, open_run
from holdfast.terminal import Refusal, shown

if TYPE_CHECKING:
    from holdfast.serve.service import Service

_FRESH = 1.0  # seconds
_NOW = "1970-01-01 00:00:00 UTC"  # replaced by the time
_MEDIANS = (
    "Each label was compared with the forecast that was given for its id, however long ago. The line is the "
    "median of these errors at that time, which a few wrong rows do not move."
)
_MISTAKES = (
    "Each label was compared with the forecast that was given for its id, however long ago. The line is the "
    "share of mistakes at that time; dashed is that of the baseline, the most frequent label."
)
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


class Page:
    """The page of a server. `html` may be called in several threads."""

    def __init__(self, service: "Service", has_token: bool) -> None:
        self._service, self._has_token = service, has_token
        self._making = threading.Lock()
        self._made, self._html = -math.inf, ("", "")
        self._checkpoint: Any = None
        self._of_run = RunPart([], [], [])
        self._script = environment().get_template("serve.js").render()
        digest = base64.b64encode(hashlib.sha256(self._script.encode()).digest()).decode()
        # Content-Security-Policy: nothing but the script of the page, and calls of this server
        self.policy = (
            f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    def html(self) -> tuple[str, str]:
        """The page, made now or less than a second ago, and a tag that is another one if the page is."""
        with self._making:
            if time.monotonic() - self._made > _FRESH:
                view = self._view()
                page = render("serve.html", view=view, script=Markup(self._script), version=__version__)
                tag = f'"{hashlib.sha256(page.encode()).hexdigest()[:32]}"'
                self._html = page.replace(_NOW, time_words(self._service.clock())), tag
                self._made = time.monotonic()
            return self._html

    def _view(self) -> dict[str, Any]:
        found, errors = self._service.model(), self._service.errors()
        labels, events = found["labels_by_status"], list(self._service.events.past)
        problem = [f"it does not learn: {found['problem']}"] if found["problem"] else []
        view = {
            "name": found["run"],
            "target": found["target"],
            "now": _NOW,
            "cards": list(cards(found)),
            "warnings": [*problem, *found["warnings"]],
            "errors": error_plot(errors, found),
            "errors_are": _MEDIANS if found["task"] == "regression" else _MISTAKES,
            "alarms": [event_line(event) for event in events[: -ROWS - 1 : -1]],
            "waiting": waiting(found),
            "labels": [(name, labels[name], words) for name, words in LABELS.items()],
            "has_token": self._has_token,
        }
        return view | self._run_part()._asdict()

    def _run_part(self) -> "RunPart":
        """What the page shows of the run; made again if there is a new checkpoint."""
        with contextlib.suppress(OSError, Refusal):  # it is being written: next time
            stat = (self._service.path / CHECKPOINT).stat()
            checkpoint = stat.st_ino, stat.st_mtime_ns
            if checkpoint != self._checkpoint:
                self._of_run = run_part(open_run(self._service.path))
                self._checkpoint = checkpoint
        return self._of_run


# -- what it shows


class SkippedRow(NamedTuple):
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
    ledger = read_ledger(run).table()[: -ROWS - 1 : -1]
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
    yield figure(found["rounds"]), "rounds"
    yield f"{100 * found['skipped'] / max(found['rounds'], 1):.2g} %", f"skipped: {found['skipped']:,}"
    if found["error"] is not None:
        yield figure(found["error"]), f"{found['error_is']} on the rounds learned from"
    if found["baseline"] is not None:
        yield figure(found["baseline"]), f"{found['error_is']} of the baseline"
    yield figure(found["waiting"]), "predictions wait for a label"
    yield figure(found["queued"]), "rows wait to be learned from"


def waiting(found: dict[str, Any]) -> str:
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
