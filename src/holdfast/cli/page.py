"""The report of a run: one HTML page without network access or scripts, for large and small screens."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from holdfast import __version__
from holdfast.cli.audit import REASONS, cell, cell_of, dates
from holdfast.cli.learn_summary import asked
from holdfast.io.columns import Category, Column, Hashed, Layout, Number, SparseColumns, Time
from holdfast.pages.render import figure, render
from holdfast.runs import plots
from holdfast.runs.audit_summary import AuditSummary
from holdfast.runs.files import atomic_file
from holdfast.runs.ledger import read_ledger
from holdfast.runs.predicting import feature_names
from holdfast.runs.run import Run
from holdfast.runs.source_records import names_of

_ROWS = 100  # rows of a table
_SHOWN = 0.9  # the coverage of the intervals that the page shows
_MOST_LABELS = 12  # in a table


def write(found: Run, to: Path | None = None) -> Path:
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
        source=sources(found),
        target=found.target.name,
        version=__version__,
        command=command(found),
        saved=found.times.saved,
        duration=duration(found.times.seconds),
        metrics=metrics,
        cards=cards(metrics),
        comparison=comparison(found, metrics),
        asked=asked(found.settings.delay),
        errors=plots.errors(found, metrics),
        answers=plots.answers(found),
        confusion=confusion(found),
        reasons=[
            (reason, count, REASONS.get(reason, ""))
            for reason, count in sorted(metrics["skipped_by_reason"].items(), key=lambda item: -item[1])
        ],
        ledger=read_ledger(found).table(),
        several=len(found.games.labels) > 1,
        columns=[(one["column"], one["reason"], one["count"]) for one in skipped["columns"]],
        groups=groups(skipped["groups"]),
        group_count=skipped["group_count"],
        worst=worst(skipped["worst"]),
        sizes=list(plots.sizes(found, summary.samples)),
        weights=plots.weights(found),
        weight_table=weights(found, _ROWS),
        layout=columns(found.layout)[:_ROWS],
        notes=found.config.notes,
        left_out=found.settings.drop,
        keys=keys(found, _ROWS),
        proof=found.certificate()["words"],
        settings=[(name, str(value)) for name, value in found.settings.to_json().items()],
    )


# -- its figures and tables


def command(found: Run) -> str:
    names = names_of(found.sources) or [found.config.source]
    words = ["holdfast", "learn", *("-" if name == "standard input" else name for name in names)]
    for name, value in found.settings.changed().items():
        if name == "schema":
            words += ["--schema", "FILE"]
        elif isinstance(value, bool):
            words.append(f"--no-{name}")
        else:
            words += [f"--{name}", ",".join(value) if isinstance(value, tuple | list) else str(value)]
    return shlex.join([*words, "--to", str(found.folder.path)])


def sources(found: Run) -> str:
    more = len(names_of(found.sources)) - 1
    return Path(found.config.source).name + (f" and {more:,} more" if more > 0 else "")


def duration(seconds: float) -> str:
    """A time in words; empty if it is not known."""
    if seconds < 1.0:
        return "less than a second" if seconds > 0.0 else ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def cards(metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    rounds, skipped = metrics["rounds"], metrics["skipped"]
    yield figure(rounds), "rounds"
    little, warm = metrics["learned_little"], metrics["warm_up"]
    words = f"skipped: {skipped:,}" + (f", of which {little:,} have taught a little" if little else "")
    yield f"{100 * skipped / max(rounds, 1):.2g} %", words
    if warm:
        yield figure(warm), "rounds of the warm-up, not learned from"
    if metrics["error"] is not None:
        yield figure(metrics["error"]), f"{metrics['error_is']} on the rounds learned from"
    if metrics["baseline"] is not None:
        yield figure(metrics["baseline"]), f"{metrics['error_is']} of the baseline"
    for each in metrics["intervals"]:
        if each["coverage"] == _SHOWN and each["rows"]:
            missed = 100 * each["misses"] / each["rows"]
            words = f"of the targets were outside of the {_SHOWN:.0%} intervals"
            if metrics["task"] != "regression":
                words = f"of the labels were missing from the sets for {_SHOWN:.0%}"
            yield f"{missed:.3g} %", words


def comparison(found: Run, metrics: dict[str, Any]) -> list[str]:
    error, baseline, of_all = (metrics[name] for name in ("error", "baseline", "error_of_all_rounds"))
    if error is None or baseline is None:
        return []
    simple = "the mean of the targets learned from" if found.regression else "the most frequent label"
    simple += " so far" + (", over all keys" if found.settings.key is not None else "")
    share = f", {100 * error / baseline:.3g} % of the baseline's {figure(baseline)}" if baseline > 0 else ""
    sentences = [f"The error is {figure(error)}{share}. The baseline predicts {simple}."]
    if error >= baseline:
        sentences.append("So the model predicts no better than the baseline.")
    if metrics["skipped"] and of_all is not None:
        sentences.append(
            f"On all rounds, with the skipped ones, the error is {figure(of_all)}. If they are outliers, "
            "that says how wild they are, not how good the model is."
        )
    return sentences


def confusion(found: Run) -> dict[str, Any] | None:
    """How often each label was predicted for each label, on kept rounds; None if that was not counted."""
    counts, labels = found.answers.confusion, found.target.labels
    if not counts.sum() > 0:
        return None
    shown = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:_MOST_LABELS])
    totals = np.maximum(counts.sum(axis=1), 1.0)
    rows = [
        (labels[i], [(int(counts[i, j]), round(100 * counts[i, j] / totals[i]), i == j) for j in shown])
        for i in shown
    ]
    return {"labels": [labels[j] for j in shown], "rows": rows, "others": len(labels) - len(shown)}


def groups(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (
            f"{group['first']:,} to {group['last']:,}" + (f" ({period})" if (period := dates(group)) else ""),
            group["rows"],
            group["reason"],
            cell(group["column"], group["low"], group["high"]) if group["column"] else "",
        )
        for group in found
        if group["rows"] > 1
    ]


def worst(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (
            row["row"],
            " ".join(filter(None, (row["reason"], row.get("key"), row.get("label"), _little(row)))),
            "; ".join(filter(None, (row["column"] and cell_of(row), row["detail"]))),
            row["size"],
            row["threshold"],
            row["times"],
        )
        for row in rows
    ]


def _little(row: dict[str, Any]) -> str:
    return "(learned a little)" if row["learned"] == "little" else ""


def weights(found: Run, most: int) -> dict[str, Any] | None:
    """The features with the largest weights, as a head and rows; None if there are none or many models."""
    if found.settings.key is not None or not found.trace.rounds:
        return None
    p = found.games.parameters()
    effects = p.effects()[:_MOST_LABELS]
    order = np.argsort(-np.abs(effects).max(axis=0), kind="stable")[:most]
    labels = [label or "effect" for label in found.games.labels][:_MOST_LABELS]
    with np.errstate(all="ignore"):
        spread = np.where(p.factors[0] > 0, 1.0 / p.factors[0], np.nan)
    rows = []
    for i, name in zip(order, feature_names(found.layout, order), strict=True):
        row = (name, *map(float, effects[:, i]))
        rows.append((*row, float(p.center[0, i]), float(spread[i])) if found.games.scaled else row)
    head = ("feature", *labels, *(("center", "spread") if found.games.scaled else ()))
    return {"head": head, "rows": rows, "scaled": found.games.scaled}


def columns(layout: Layout) -> list[tuple[str, str]]:
    return [(column.name, _use(column)) for column in layout.columns]


def _use(column: Column) -> str:
    match column:
        case Number(middle=None, truth=truth):
            return "true or false" if truth else "a number"
        case Number(middle=middle):
            return f"a number; where it is missing, {figure(middle)} and a feature that says so"
        case Time():
            return "a time: hour of the day and day of the week"
        case Category(values=values):
            return f"{len(values)} values, a feature for each"
        case Hashed(groups=count):
            return f"many values, hashed into {count} features"
        case SparseColumns(width=width):
            return f"{width:,} sparse columns"


def keys(found: Run, most: int) -> dict[str, Any] | None:
    """The keys with the largest share of skipped rounds; None in a run without keys."""
    if found.settings.key is None:
        return None
    table = found.keys.table(list(found.games.keys))
    rounds, kept, warm = (table.column(name).to_numpy() for name in ("rounds", "kept", "warm_up"))
    order = np.argsort((kept + warm) / np.maximum(rounds, 1), kind="stable")[:most]
    rows = [
        (row["key"] or "(none)", row["rounds"], row["rounds"] - row["kept"] - row["warm_up"], row["error"])
        for row in table.take(order).to_pylist()
    ]
    return {"count": table.num_rows, "rows": rows}
