"""holdfast learn: learn from a file or a pipe; write a model, an audit and a report."""

import argparse
import contextlib
import math
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from holdfast.cli.arguments import (
    LEARN_EXITS,
    Group,
    add_config,
    add_receivers,
    add_sources,
    column_names,
    describe,
    share,
)
from holdfast.cli.exits import Failure, StopSignals, handled_by
from holdfast.cli.learn_summary import skipped_status, summary
from holdfast.cli.outputs import check_output, receivers
from holdfast.cli.progress import progress_for
from holdfast.runs.beginning import Guess, begin, can_resume, default_folder, resume
from holdfast.runs.config import Settings
from holdfast.runs.inputs import Inputs, expand
from holdfast.runs.learning import learn
from holdfast.terminal import (
    DONE,
    OutputLost,
    Refusal,
    listed,
    print_error,
    print_json,
    print_note,
    quoted,
    tell,
)


def add(parser: ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Learn a linear model from rows, one after the other, and skip outliers. SOURCE is CSV or TSV,\n"
        "JSON lines or svmlight (also .gz, .bz2, .xz, .zst), Parquet or Arrow, of any length, or - for\n"
        "standard input. Several are learned from one after the other, each content once.\n"
        "Task, loss and encoding are guessed from the first rows, and printed. The run folder contains\n"
        "the model, an audit of every skipped row, metrics, configuration and report.",
        [
            "holdfast learn sensors.csv --target benzene               # into the folder sensors.run",
            "holdfast learn clicks.jsonl --target bought --outliers 1% --report",
            "zcat log.csv.gz | holdfast learn - --target ms --drop id,url --to log.run",
            "holdfast learn sensors.csv --target benzene --resume      # after Ctrl-C, kill -9 or new rows",
            "holdfast learn 'old/*.csv.gz' jan.csv feb.csv --target benzene --to year.run",
            "holdfast learn mar.csv --into year.run                    # the next file, with the same model",
            "holdfast learn sensors.csv --target benzene --dry-run     # the types of the columns",
            "holdfast learn fleet.parquet --target load --key machine  # a model for each machine",
            "holdfast learn data.csv --target y --no-scale --outliers 50    # with a certificate",
        ],
        LEARN_EXITS,
    )
    add_sources(parser)
    _add_model(parser.add_argument_group("the model (most need none but --target)"))
    _add_columns(parser.add_argument_group("columns and keys"))
    _add_run(parser.add_argument_group("the run"))
    add_config(parser)


def run(options: Namespace) -> int:
    if options.report:
        from holdfast.cli import page as report

    _check(options)
    paths = expand(options.sources)
    if options.dry_run or options.print_schema:
        return _dry_run(options, paths)
    start, to = time.monotonic(), options.into or options.to or default_folder(paths[0])
    inputs = (*paths, options.config, options.schema_file)
    check_output(options.metrics, "--metrics", inputs, to)
    check_output(options.alarms, "--alarms", inputs, to)
    signals = StopSignals()
    with handled_by(signals.store), contextlib.ExitStack() as closing:
        found, inputs, items = _open(options, paths, to)
        closing.callback(inputs.close)
        closing.enter_context(contextlib.closing(found.folder))
        bar, before = progress_for(options.quiet, options.json), found.trace.rounds
        skipped_before = found.trace.skipped
        if options.metrics:
            found.write_metrics_to(options.metrics)
        on_event = closing.enter_context(receivers(options.alarms, options.webhook))
        if on_event is not None:
            found.tell_events_to(on_event)
        signals.wait = True
        try:
            write = report.writer(found) if options.report else lambda run: None
            learn(found, inputs, items, options.checkpoint, bar, signals.arrived, write)
        except OutputLost as lost:
            why = lost.words or "nothing reads standard output any more"
            print_error(f"{why}: stopped, and saved; the same command with --resume goes on")
            raise Failure(lost.status) from None
    bar.end()
    seconds = time.monotonic() - start
    page = report.write(found) if options.report else None
    new, skipped = found.trace.rounds - before, found.trace.skipped - skipped_before
    if options.json:
        written = {"run": str(to), "report": str(page) if page else None, "new_rounds": new}
        print_json({"event": "end"} | found.metrics() | written | {"seconds": round(seconds, 3)})
    elif not options.quiet:
        tell(*summary(found, to, page, seconds, signals.status()))
    return signals.status() or skipped_status(options.fail_if_skipped, new, skipped)


def _check(options: Namespace) -> None:
    """Raise if options do not go together."""
    if options.target is None and options.into is None:
        raise Refusal("--target COLUMN is missing: name the column to predict")
    if (options.dry_run or options.print_schema) and (options.follow or options.into):
        raise Refusal("--dry-run reads the first rows of a file: leave out --follow and --into")


def _open(options: Namespace, paths: list[Any], to: Path) -> tuple[Any, Any, Any]:
    """Begin a run or resume it: the run, its sources, and what to learn from."""
    say = (lambda text: None) if options.quiet or options.json else print_note
    if len(paths) > 1:
        say(f"{len(paths):,} sources, in this order: {listed(paths, 20)}")
    settings = settings_of(options)
    begun = can_resume(to, settings, options.follow)
    if options.into is not None and not begun:
        raise Refusal(f"{to} holds no run: begin one with --target COLUMN and --to {to}")
    if begun and (options.resume or options.into):
        return resume(paths, settings, to, say, options.follow, strict=options.into is None)
    return begin(paths, settings, to, say, options.follow)


def _dry_run(options: Namespace, paths: list[Any]) -> int:
    settings = settings_of(options)
    settings.check()
    inputs = Inputs(paths, settings.reading())
    with contextlib.closing(inputs):
        guess = Guess(inputs, settings, lambda text: None)
        if options.print_schema:
            tell(f"# {listed(paths, 20)}", *guess.schema_lines())
        else:
            tell(*guess.table_lines(), "", guess.summary)
    return DONE


def settings_of(options: Namespace) -> Settings:
    names = Settings.__dataclass_fields__
    return Settings(**{name: getattr(options, name) for name in names} | {"target": options.target or ""})


# -- the options


def _add_model(group: Group) -> None:
    group.add_argument("--target", metavar="COLUMN", help="the column to predict (svmlight: label)")
    tasks = ("auto", "regression", "classification")
    _text(group, "--task", None, "numbers or labels (default: what the first rows look like)", choices=tasks)
    loss = (
        "absolute_error, squared_error, huber[:KNEE], pinball[:TAU], epsilon_insensitive[:EPSILON] for "
        "numbers; hinge, squared_hinge, log_loss for labels (default: absolute_error, log_loss)"
    )
    _text(group, "--loss", "NAME", loss)
    outliers = (
        "a share such as 1%%, a count such as 50, quantile:0.99, none, or auto: 15%% of the rows, 15%% of "
        "the targets if they are numbers, some 5%% of the labels (default: %(default)s)"
    )
    _text(group, "--outliers", "HOW MANY", outliers)
    learner = (
        "first_order or second_order for numbers, adagrad[:RATE], ogd[:RADIUS], or any other of "
        "docs/benchmarks.md for linear models, such as adaftrl, soloftrl, freegrad, diagonalmetagrad, "
        "scaleinvariant (default: for numbers second_order, with more than 300 columns first_order; for "
        "labels and log loss logits; for other losses and sparse columns adagrad)"
    )
    _text(group, "--learner", "NAME", learner)
    memory = (
        "after so many rows a row counts about a third in the model, at most (default: several memories, the "
        "longest for ever)"
    )
    _text(group, "--memory", "ROWS", memory)
    patience = (
        "so many bad rows in a row are withstood, and about as many good ones are lost after a change of "
        "units (default: 1000)"
    )
    _text(group, "--patience", "ROWS", patience)
    delay = (
        "predict so many rows before learning from them, and judge the model by these predictions: as many "
        "as come in while you wait for targets; with --key, rows of the key (default: %(default)s)"
    )
    _text(group, "--delay", "ROWS", delay, type=int, default=1)
    _off(group, "scale", "do not scale the features: needed for a certificate")


def _add_columns(group: Group) -> None:
    names: dict[str, Any] = {"type": column_names, "default": ()}
    columns = group.add_mutually_exclusive_group()
    _text(columns, "--features", "A,B,...", "predict from these columns", **names)
    others = "predict from all columns but these; a name with a comma in quotes, as in CSV: '\"a,b\",c'"
    _text(columns, "--drop", "A,B,...", others, **names)
    codes = "codes such as 501 and 804: a feature for each value, not a number"
    _text(group, "--category", "A,B,...", codes, **names)
    dates = ("auto", "dmy", "mdy", "ymd")
    order = "the order of day, month and year in dates such as 3/12/2016 (default: found from the file)"
    _text(group, "--dates", None, order, choices=dates)
    _text(group, "--labels", "A,B,...", "all labels, if the first rows do not have them", **names)
    missing = (
        "skip rows with a missing cell, or impute it: the median of the first rows, and a mark in an extra "
        "feature (default: impute if more than 10%% of the first rows would be skipped)"
    )
    _text(group, "--missing", None, missing, choices=("auto", "skip", "impute"))
    group.add_argument("--key", metavar="COLUMN", help="a separate model for each value of this column")
    _off(group, "prior", "a new key starts from nothing, not from what was learned of other keys")
    evict = "forget a key that has had no row for so many rows (default: never)"
    group.add_argument("--evict", type=int, metavar="ROWS", help=evict)


def _add_run(group: Group) -> None:
    where = group.add_mutually_exclusive_group()
    where.add_argument("--to", type=Path, metavar="RUN", help="the run folder (default: SOURCE.run, here)")
    into = "go on with the model of this run, with its settings; what it has learned before is left out"
    where.add_argument("--into", type=Path, metavar="RUN", help=into)
    _on(group, "--resume", "go on with the run in that folder, if there is one")
    _on(group, "--follow", "wait for more lines at the end of the last SOURCE, also if it is rotated")
    _on(group, "--dry-run", "print what each column is read as, and notices; write nothing")
    _on(group, "--print-schema", "print the types of the columns as a schema file; write nothing")
    every = "rounds, such as 100000, or seconds, such as 30s (default: %(default)s)"
    group.add_argument("--checkpoint", type=_every, default="30s", metavar="EVERY", help=every)
    what = "record no sizes, and with keys no forecasts: saves about 20 bytes a round, with keys 50"
    _off(group, "sizes", what)
    _on(group, "--report", "write report.html when done")
    metrics = "write the figures of each checkpoint to this file, for Prometheus"
    group.add_argument("--metrics", type=Path, metavar="FILE", help=metrics)
    add_receivers(group, ": a glitch or a change of skipped rows, or a frozen column")
    most = "exit with status 3 if more of the new rows were skipped, such as 20%%"
    group.add_argument("--fail-if-skipped", type=share, metavar="SHARE", help=most)
    _on(group, "--json", "only JSON lines on standard output: the progress, then the results")
    _on(group, "--quiet", "print nothing but errors")


def _text(group: Group, name: str, metavar: str | None, words: str, **settings: Any) -> None:
    """An option with a value, by default "auto"."""
    group.add_argument(name, metavar=metavar, help=words, **{"default": "auto"} | settings)


def _on(group: Group, name: str, words: str) -> None:
    group.add_argument(name, action="store_true", help=words)


def _off(group: Group, name: str, words: str) -> None:
    group.add_argument(f"--no-{name}", dest=name, action="store_false", help=words)


def _every(text: str) -> tuple[float, float]:
    """The number of rounds and of seconds between checkpoints."""
    try:
        rounds, seconds = (math.inf, float(text[:-1])) if text.endswith("s") else (int(text), math.inf)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"rounds such as 100000, or seconds such as 30s: got {quoted(text)}"
        ) from None
    if not (rounds > 0 and seconds > 0.0):
        raise argparse.ArgumentTypeError(f"must be above 0: got {quoted(text)}")
    return rounds, seconds
