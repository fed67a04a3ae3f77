"""holdfast learn: learn from a file or a pipe; write a model, an audit and a report."""

import argparse
import contextlib
import math
import time
from pathlib import Path

from holdfast.cli.config import add_config
from holdfast.cli.exits import Failure, report_errors
from holdfast.cli.options import add_sources, describe
from holdfast.cli.progress import progress_for
from holdfast.cli.signals import StopSignals, handled_by
from holdfast.cli.skipped_limit import share, skipped_status
from holdfast.terminal import (
    DONE,
    OutputLost,
    percent,
    print_error,
    print_json,
    print_note,
    quoted,
    tell,
    visible,
)


def add(parser):
    describe(
        parser,
        run,
        (
            "Learn a linear model from rows, one after the other, and skip outliers. SOURCE is CSV or TSV,\n"
            "JSON lines or svmlight (also .gz, .bz2, .xz, .zst), Parquet or Arrow, of any length, or - for\n"
            "standard input. Several are learned from one after the other, each content once.\n"
            "Task, loss and encoding are guessed from the first rows, and printed. The run folder contains\n"
            "the model, an audit of every skipped row, metrics, configuration and report."
        ),
        [
            "holdfast learn sensors.csv --target benzene               # into the folder sensors.run",
            "holdfast learn clicks.jsonl --target bought --outliers 1% --to clicks.run --report",
            "zcat log.csv.gz | holdfast learn - --target ms --drop id,url --to log.run",
            "holdfast learn sensors.csv --target benzene --resume      # after Ctrl-C, kill -9 or new rows",
            "holdfast learn 'old/*.csv.gz' jan.csv feb.csv --target benzene --to year.run",
            "holdfast learn mar.csv --into year.run                    # the next file, with the same model",
            "holdfast learn sensors.csv --target benzene --dry-run     # the types of the columns",
            "holdfast learn fleet.parquet --target load --key machine  # a model for each machine",
            "holdfast learn data.csv --target y --no-scale --outliers 50    # with a certificate",
        ],
    )
    add_sources(parser)
    parser.add_argument("--target", metavar="COLUMN", help="the column to predict (svmlight: label)")
    parser.add_argument(
        "--task",
        choices=("auto", "regression", "classification"),
        default="auto",
        help="numbers or labels (default: what the first rows look like)",
    )
    parser.add_argument(
        "--loss",
        default="auto",
        help="absolute, squared, huber[:KNEE], pinball[:TAU], epsilon_insensitive[:EPSILON] for numbers; "
        "hinge, squared_hinge, logistic for labels (default: absolute, logistic)",
    )
    parser.add_argument(
        "--outliers",
        default="auto",
        metavar="HOW MANY",
        help="a share such as 1%%, a count such as 50, quantile:0.99, none, or auto: 15%% of the rows and of "
        "the targets for numbers; 10%% of the rows and some 5%% of the labels (default: %(default)s)",
    )
    parser.add_argument(
        "--learner",
        default="auto",
        metavar="NAME",
        help="first_order or second_order for numbers, adagrad[:RATE], ogd[:RADIUS], or any other of "
        "docs/learners.md for linear models, such as adaftrl, soloftrl, freegrad, diagonalmetagrad, "
        "scaleinvariant (default, up to 100 columns: second_order for numbers, onlinelogistic for labels; "
        "beyond: first_order, adagrad; with --key: adagrad)",
    )
    parser.add_argument(
        "--memory",
        default="auto",
        metavar="ROWS",
        help="after so many rows a row counts about a third: for numbers in the scales, for labels in the "
        "weights, and a quarter as many in the scales (default: 300, 2500)",
    )
    parser.add_argument(
        "--patience",
        default="auto",
        metavar="ROWS",
        help="so many bad rows in a row are withstood, and about as many good ones are lost "
        "after a change of units (default: 1000)",
    )
    parser.add_argument(
        "--no-scale",
        dest="scale",
        action="store_false",
        help="do not scale the features: needed for a certificate",
    )
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument(
        "--features", type=_names, default=(), metavar="A,B,...", help="predict from these columns"
    )
    columns.add_argument(
        "--drop", type=_names, default=(), metavar="A,B,...", help="predict from all columns but these"
    )
    parser.add_argument(
        "--labels",
        type=_names,
        default=(),
        metavar="A,B,...",
        help="all labels, if the first rows do not have them",
    )
    parser.add_argument(
        "--missing",
        choices=("auto", "skip", "fill"),
        default="auto",
        help="skip rows with a missing cell, or fill it with the median of the first rows and mark it in an "
        "extra feature (default: fill if more than 10%% of the first rows would be skipped)",
    )
    parser.add_argument("--key", metavar="COLUMN", help="a separate model for each value of this column")
    parser.add_argument(
        "--no-prior",
        dest="prior",
        action="store_false",
        help="a new key starts from nothing, not from what was learned from the first rows of other keys",
    )
    parser.add_argument(
        "--evict",
        type=int,
        metavar="ROWS",
        help="forget a key that has had no row for so many rows (default: never)",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--to", type=Path, metavar="RUN", help="the run folder (default: SOURCE.run, here)")
    where.add_argument(
        "--into",
        type=Path,
        metavar="RUN",
        help="go on with the model of this run, with its settings; what it has learned before is left out",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the run in that folder, if there is one"
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="wait for more lines at the end of the last SOURCE, also after it was rotated, until Ctrl-C",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the columns and their types, as a schema file, and what was guessed; write nothing",
    )
    parser.add_argument(
        "--checkpoint",
        type=_every,
        default="30s",
        metavar="EVERY",
        help="rounds, such as 100000, or seconds, such as 30s (default: %(default)s)",
    )
    parser.add_argument(
        "--no-sizes",
        dest="sizes",
        action="store_false",
        help="do not record the sizes of all rounds, about 20 bytes each, which audit --replay needs",
    )
    parser.add_argument("--report", action="store_true", help="write report.html when done")
    parser.add_argument(
        "--metrics",
        type=Path,
        metavar="FILE",
        help="write the figures of each checkpoint to this file, for Prometheus",
    )
    parser.add_argument(
        "--fail-if-skipped",
        type=share,
        metavar="SHARE",
        help="exit with status 3 if more of the new rows were skipped, such as 20%%",
    )
    add_config(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="only JSON lines on standard output: the progress every two seconds, then the results",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options):
    with report_errors():
        from holdfast.runs.inputs import expand
        from holdfast.runs.learning import default_folder, learn

        _check(options)
        paths = expand(options.sources)
        if options.dry_run:
            return _dry_run(options, paths)
        start, to = time.monotonic(), options.into or options.to or default_folder(paths[0])
        signals = StopSignals()
        with handled_by(signals.store), contextlib.ExitStack() as closing:
            found, inputs, items = _open(options, paths, to)
            closing.callback(inputs.close)
            closing.enter_context(contextlib.closing(found.folder))
            bar, before = progress_for(options.quiet, options.json), found.trace.rounds
            skipped_before = int(found.trace.sums[4])
            if options.metrics:
                found.write_metrics_to(options.metrics)
            signals.wait = True
            try:
                written = _write_report if options.report else lambda run: None
                learn(found, inputs, items, options.checkpoint, bar, signals.arrived, written)
            except OutputLost as lost:
                why = lost.words or "nothing reads standard output any more"
                print_error(f"{why}: stopped, and saved; the same command with --resume goes on")
                raise Failure(lost.status) from None
        bar.end()
        seconds = time.monotonic() - start
        page = None
        if options.report:
            from holdfast.cli.page import write

            page = write(found)
        if options.json:
            paths = {"run": str(to), "report": str(page) if page else None}
            print_json(
                {"event": "end"}
                | found.metrics()
                | paths
                | {"new_rounds": found.trace.rounds - before, "seconds": round(seconds, 3)}
            )
        elif not options.quiet:
            tell(*summary(found, to, page, seconds, signals.status()))
        skipped = int(found.trace.sums[4]) - skipped_before
        new = found.trace.rounds - before
        return signals.status() or skipped_status(options.fail_if_skipped, new, skipped)


def _check(options):
    """Raise if options do not go together."""
    from holdfast.runs.files import RunError

    if options.target is None and options.into is None:
        raise RunError("--target COLUMN is missing: name the column to predict")
    if options.dry_run and (options.follow or options.into):
        raise RunError("--dry-run reads the first rows of a file: leave out --follow and --into")


def _open(options, paths, to):
    """Begin a run or resume it: the run, its sources, and what to learn from."""
    from holdfast.runs.files import RunError
    from holdfast.runs.learning import begin, can_resume, resume

    say = (lambda text: None) if options.quiet or options.json else print_note
    if len(paths) > 1:
        say(f"{len(paths):,} sources, in this order: {_listed(paths)}")
    settings = settings_of(options)
    begun = can_resume(to, settings, options.follow)
    if options.into is not None and not begun:
        raise RunError(f"{to} holds no run: begin one with --target COLUMN and --to {to}")
    if begun and (options.resume or options.into):
        return resume(paths, settings, to, say, options.follow, strict=options.into is None)
    return begin(paths, settings, to, say, options.follow)


def _dry_run(options, paths):
    """Print what would be learned."""
    from holdfast.runs.guess import Guess
    from holdfast.runs.inputs import Inputs

    settings = settings_of(options)
    settings.check()
    inputs = Inputs(paths, settings.reading())
    with contextlib.closing(inputs):
        guess = Guess(inputs, settings, lambda text: print_note(text) if not options.quiet else None)
        tell(f"# {_listed(paths)}", *guess.schema_lines())
    return DONE


def _write_report(run):
    from holdfast.cli.page import page

    run.folder.write([("report.html", page(run))])


def _listed(paths):
    shown = ", ".join(visible(path, 80) for path in paths[:20])
    return f"{shown} and {len(paths) - 20:,} more" if len(paths) > 20 else shown


def settings_of(options):
    """The settings of the run, from the options of the command line."""
    from holdfast.runs.settings import Settings

    names = Settings.__dataclass_fields__
    return Settings(**{name: getattr(options, name) for name in names} | {"target": options.target or ""})


def summary(found, to, page, seconds, status=DONE):
    """The result of the run, in a few lines."""
    metrics = found.metrics()
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in metrics["skipped_by_reason"].items())
    share = metrics["skipped"] / max(metrics["rounds"], 1)
    lines = [
        f"{metrics['rounds']:,} rounds in {seconds:.1f} s: {metrics['kept']:,} learned from, "
        f"{metrics['skipped']:,} skipped ({percent(share)})" + (f": {reasons}" if reasons else "")
    ]
    if metrics["error"] is not None:
        lines.append(
            f"{metrics['error_is']}, each round predicted before it was learned from: {metrics['error']:.4g} "
            f"on the rounds learned from, {metrics['error_of_all_rounds']:.4g} on all"
        )
    if found.settings.key is not None:
        lines += _key_lines(metrics["keys"])
    if status != DONE:
        lines.append("Stopped, and saved: the same command with --resume goes on.")
    lines.append(f"The run: {to}")
    lines += [f"The report: {page}"] if page else []
    return lines


def _key_lines(keys):
    """The summary over keys, and the keys with the largest share of skipped rounds."""
    lines = [
        f"{keys['count']:,} keys, {keys['rounds']['least']:,.0f} to {keys['rounds']['most']:,.0f} rounds each"
    ]
    if keys["error"]:
        spread = keys["error"]
        lines[0] += (
            f"; error from {spread['least']:.4g} to {spread['most']:.4g}, for half of them from "
            f"{spread['lower_quartile']:.4g} to {spread['upper_quartile']:.4g}"
        )
    if keys["evicted"]:
        lines[0] += f"; {keys['evicted']:,} evicted"
    if keys["nothing_learned"]:
        lines.append(
            f"{keys['nothing_learned']:,} of them have learned nothing: the first rows of each key are "
            "skipped, until its filters have sizes to compare with. Use a column with fewer values, or "
            "--outliers none."
        )
    lines.append("largest share of skipped rounds:")
    for one in keys["most_skipped"]:
        error = f"error {one['error']:.4g}" if one["error"] is not None else "nothing learned"
        skipped = one["rounds"] - one["kept"]
        key = visible(one["key"] or "(none)", 80)
        lines.append(f"  {key:20} {one['rounds']:>9,} rounds, {skipped:,} skipped, {error}")
    return lines


def _names(text):
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _every(text):
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
