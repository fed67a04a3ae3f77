"""The report of a run: one HTML page without network access or scripts, for large and small screens."""

from collections.abc import Callable
from pathlib import Path

from holdfast import __version__
from holdfast.cli import report_tables as tables
from holdfast.cli.audit import meaning
from holdfast.cli.inspect import certificate
from holdfast.cli.learn_summary import asked
from holdfast.pages.render import render
from holdfast.runs import plots
from holdfast.runs.audit_summary import AuditSummary
from holdfast.runs.files import atomic_file
from holdfast.runs.run import Run

_ROWS = 100  # rows of a table


def write(found: Run, to: Path | None = None) -> Path:
    """Write the page of a run; return its path."""
    if to is None:
        found.folder.write_alone("report.html", page(found))
        return found.folder.path / "report.html"
    with atomic_file(to) as file:
        file.write(page(found).encode())
    return to


def writer(found: Run) -> Callable[[Run], None]:
    """A function that writes the page into the folder of a run that learns, after each checkpoint."""
    summary = AuditSummary(found, _ROWS)
    return lambda run: run.folder.write([("report.html", page(run, summary))])


def page(found: Run, summary: AuditSummary | None = None) -> str:
    """The page. The summary of the audit, if there is one, needs only the newest parts."""
    summary = summary or AuditSummary(found, _ROWS)
    metrics, skipped = found.metrics(), summary.update()
    return render(
        "run.html",
        source=tables.sources(found),
        target=found.target.name,
        version=__version__,
        command=tables.command(found),
        saved=found.times.saved,
        duration=tables.duration(found.times.seconds),
        metrics=metrics,
        cards=tables.cards(metrics),
        comparison=tables.comparison(found, metrics),
        asked=asked(found.settings.delay),
        errors=plots.errors(found, metrics),
        answers=plots.answers(found),
        confusion=tables.confusion(found),
        reasons=[
            (reason, count, meaning(reason))
            for reason, count in sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1])
        ],
        ledger=tables.ledger(found),
        several=len(found.games.labels) > 1,
        columns=[(one["column"], one["reason"], one["count"]) for one in skipped["columns"]],
        groups=tables.groups(skipped["groups"]),
        group_count=skipped["group_count"],
        worst=tables.worst(skipped["worst"]),
        sizes=list(plots.sizes(found, summary.samples)),
        weights=plots.weights(found),
        weight_table=tables.weights(found, _ROWS),
        layout=tables.columns(found.layout)[:_ROWS],
        notes=found.config.notes,
        left_out=found.settings.drop,
        keys=tables.keys(found, _ROWS),
        proof=certificate(found)["words"],
        settings=[(name, str(value)) for name, value in found.settings.to_json().items()],
    )
